package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/tools/internal/doc"
)

// lower rewrites a JSON Schema 2020-12 into what OpenAPI 3.0.3 can say. file is where it stands, "" for openapi.yaml. What
// OpenAPI cannot say (conditions, unique items) is dropped here and still judged by the schema itself.
func (b *bundler) lower(v any, file string) (any, error) {
	s, ok := v.(*doc.Object)
	if !ok {
		return doc.NewObject(), nil // true and {} allow anything
	}
	if ref := s.String("$ref"); ref != "" {
		return b.lowerRef(ref, s, file)
	}
	out := doc.NewObject()
	for _, k := range s.Keys() {
		if err := b.lowerMember(out, k, s.Get(k), file); err != nil {
			return nil, err
		}
	}
	sayOpen(out)
	return out, nil
}

// sayOpen spells out that an object without named members holds any: generators of clients take silence for an empty object.
func sayOpen(s *doc.Object) {
	if s.String("type") != "object" {
		return
	}
	for _, k := range []string{"properties", "patternProperties", "additionalProperties", "oneOf", "anyOf", "allOf"} {
		if s.Has(k) {
			return
		}
	}
	s.Set("additionalProperties", true)
}

func (b *bundler) lowerRef(ref string, s *doc.Object, file string) (any, error) {
	out := doc.NewObject("$ref", ref)
	if !strings.HasPrefix(ref, "#/components/") {
		target, pointer, _ := strings.Cut(ref, "#")
		if target = strings.TrimPrefix(target, "../schemas/"); target == "" {
			target = file
		}
		name, err := b.component(target, pointer)
		if err != nil {
			return nil, err
		}
		out = doc.NewObject("$ref", "#/components/schemas/"+name)
	}
	if s.Len() == 1 {
		return out, nil
	}
	// OpenAPI 3.0 ignores whatever stands beside a reference.
	wrapped := doc.NewObject("allOf", []any{out})
	for _, k := range s.Keys() {
		if k != "$ref" {
			wrapped.Set(k, s.Get(k))
		}
	}
	return wrapped, nil
}

func (b *bundler) lowerMember(out *doc.Object, k string, v any, file string) error {
	switch k {
	case "$schema", "$id", "$defs", "title", "if", "then", "else", "examples", "uniqueItems", "x-frozen":
		return nil
	case "const":
		out.Set("enum", []any{v})
		return nil
	case "type":
		return lowerType(out, v)
	case "x-catalog":
		values, err := b.catalog(v.(string))
		out.Set("x-extensible-enum", values)
		return err
	case "properties", "patternProperties":
		return b.lowerMap(out, k, v.(*doc.Object), file)
	case "items", "additionalProperties", "not":
		if _, isBool := v.(bool); isBool {
			out.Set(k, v)
			return nil
		}
		lowered, err := b.lower(v, file)
		out.Set(k, lowered)
		return err
	case "oneOf", "anyOf", "allOf":
		return b.lowerList(out, k, v.([]any), file)
	default:
		out.Set(k, v)
		return nil
	}
}

func lowerType(out *doc.Object, v any) error {
	list, ok := v.([]any)
	if !ok {
		out.Set("type", v)
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(t any) bool { return t == "null" })
	if len(rest) < len(list) {
		out.Set("nullable", true)
	}
	switch len(rest) {
	case 1:
		out.Set("type", rest[0])
		return nil
	case 2: // object or boolean: no type at all
		out.Delete("nullable")
		return nil
	}
	return fmt.Errorf("OpenAPI 3.0 has no type %v", list)
}

func (b *bundler) lowerMap(out *doc.Object, k string, m *doc.Object, file string) error {
	lowered := doc.NewObject()
	for _, name := range m.Keys() {
		l, err := b.lower(m.Get(name), file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lowered.Set(name, l)
	}
	out.Set(k, lowered)
	return nil
}

func (b *bundler) lowerList(out *doc.Object, k string, list []any, file string) error {
	var lowered []any
	for _, v := range list {
		if o, ok := v.(*doc.Object); ok && o.String("type") == "null" {
			out.Set("nullable", true)
			continue
		}
		l, err := b.lower(v, file)
		if err != nil {
			return err
		}
		lowered = append(lowered, l)
	}
	if len(lowered) == 1 {
		k = "allOf"
	}
	out.Set(k, lowered)
	return nil
}

// catalog lists the values of a catalogue, for x-extensible-enum.
func (b *bundler) catalog(name string) ([]any, error) {
	var values []any
	switch name {
	case "errors":
		for _, e := range b.s.Errors {
			values = append(values, e.Code)
		}
	case "scopes":
		for _, s := range b.s.Scopes {
			values = append(values, s.Scope)
		}
	case "events":
		for _, e := range b.s.Events {
			values = append(values, e.Kind)
		}
	default:
		return nil, fmt.Errorf("x-catalog names no catalogue: %s", name)
	}
	return values, nil
}
