// Package contract compiles the JSON Schemas of the contract once and judges documents by them, with messages that say how
// to mend what is wrong.
//
// It decides nothing about documents beyond their schema. Everything above the generated code may import it.
package contract

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
	"github.com/ctxd/ctxd/schemas"
)

// Schema is a compiled JSON Schema, draft 2020-12. It may be used by several goroutines.
type Schema struct {
	compiled *jsonschema.Schema
	defaults map[string]any // by name of a property of the root
}

// Compile compiles a schema that stands alone: any reference out of it is an error.
func Compile(raw []byte) (*Schema, error) {
	v, err := jsondoc.Decode(raw)
	if err != nil {
		return nil, err
	}
	c := compiler()
	const here = "https://schema.invalid/self/this"
	if err := c.AddResource(here, v); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(here)
	if err != nil {
		return nil, err
	}
	return &Schema{compiled: compiled, defaults: defaults(v)}, nil
}

func compiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	return c
}

// noLoader makes every reference to something that was not given an error.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema refers to %s, which is not part of it", url)
}

func defaults(v any) map[string]any {
	root, _ := v.(map[string]any)
	props, _ := root["properties"].(map[string]any)
	out := map[string]any{}
	for name, p := range props {
		if p, ok := p.(map[string]any); ok {
			if d, ok := p["default"]; ok {
				out[name] = d
			}
		}
	}
	return out
}

// Judge gives one detail for each thing that is wrong with a decoded document, or nil. Pointers are into the document.
func (s *Schema) Judge(v any) []fault.Detail {
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	return details(err)
}

// Complete adds the defaults of absent properties of the root to a document, in place.
func (s *Schema) Complete(o map[string]any) {
	for name, d := range s.defaults {
		if _, there := o[name]; !there {
			o[name] = d
		}
	}
}

// Named gives one of the schemas below schemas/: "event" for event.schema.json, "event#/$defs/ScopeId" for a part of it.
func Named(name string) (*Schema, error) {
	all, err := embedded()
	if err != nil {
		return nil, err
	}
	file, part, _ := strings.Cut(name, "#")
	url := "https://ctxd.dev/schemas/" + file + ".schema.json"
	all.mu.Lock()
	defer all.mu.Unlock()
	if s, ok := all.compiled[name]; ok {
		return s, nil
	}
	doc, ok := all.docs[url]
	if !ok {
		return nil, fmt.Errorf("contract: no schema is called %q", file)
	}
	target := url
	if part != "" {
		target += "#" + part
	}
	c, err := all.compiler.Compile(target)
	if err != nil {
		return nil, fmt.Errorf("contract: %s: %w", name, err)
	}
	s := &Schema{compiled: c}
	if part == "" {
		s.defaults = defaults(doc)
	}
	all.compiled[name] = s
	return s, nil
}

// Names are the names of the embedded schemas, sorted.
func Names() ([]string, error) {
	all, err := embedded()
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all.docs))
	for i, url := range names {
		names[i] = strings.TrimSuffix(url[strings.LastIndex(url, "/")+1:], ".schema.json")
	}
	return names, nil
}

type collection struct {
	docs map[string]any // by $id

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*Schema
}

var embedded = sync.OnceValues(func() (*collection, error) {
	all := &collection{docs: map[string]any{}, compiler: compiler(), compiled: map[string]*Schema{}}
	entries, err := schemas.FS.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		raw, err := schemas.FS.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		v, err := jsondoc.Decode(bytes.TrimSpace(raw))
		if err != nil {
			return nil, fmt.Errorf("schemas/%s: %w", e.Name(), err)
		}
		url := "https://ctxd.dev/schemas/" + e.Name()
		all.docs[url] = v
		if err := all.compiler.AddResource(url, v); err != nil {
			return nil, err
		}
	}
	return all, nil
})
