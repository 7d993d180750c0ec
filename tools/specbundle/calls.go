package main

import (
	"fmt"

	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

// toolSchemas gives each tool its types (http.md R3): CtxReadInput, CtxReadOutput and CtxReadCall are components, and the
// request is one of the calls, or the generic call of a tool that this document does not know.
func (b *bundler) toolSchemas() error {
	generic, ok := b.schemas.Get("CallRequest").(*doc.Object)
	if !ok {
		return nil // no operation calls tools
	}
	var calls, names, outputs []any
	seen := map[string]bool{}
	for _, t := range b.s.Tools {
		if err := b.toolInput(t); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		b.schemas.Set(t.GoName+"Call", call(generic, t))
		calls = append(calls, ref(t.GoName+"Call"))
		names = append(names, t.Name)
		for _, c := range t.Capabilities {
			name, err := b.toolOutput(c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.ID, err)
			}
			if !seen[name] {
				seen[name] = true
				outputs = append(outputs, ref(name))
			}
		}
	}
	// The exclusion stands at the object: linters and generators do not look for it inside of a member.
	generic.Set("not", doc.NewObject(
		"required", []any{"name"},
		"properties", doc.NewObject("name", doc.NewObject("enum", names)),
	))
	generic.Set("description", "A call of a tool that this document does not know.")
	b.schemas.Set("OtherCall", generic)
	b.schemas.Set("CallRequest", doc.NewObject(
		"description", "A call of one tool.",
		"oneOf", append(calls, ref("OtherCall")),
	))
	if sc := b.schemas.Object("StructuredContent"); sc != nil {
		sc.Delete("x-tool-outputs", "type", "additionalProperties")
		sc.Set("anyOf", append(outputs, doc.NewObject("type", "object", "additionalProperties", true)))
	}
	return nil
}

func ref(name string) *doc.Object { return doc.NewObject("$ref", "#/components/schemas/"+name) }

// call is the generic call with the name and the arguments of one tool.
func call(generic *doc.Object, t *sources.Tool) *doc.Object {
	c := doc.Clone(generic).(*doc.Object)
	c.Set("description", "A call of "+t.Name+". "+t.Description)
	props := c.Object("properties")
	props.Set("name", doc.NewObject("type", "string", "enum", []any{t.Name}))
	props.Set("arguments", ref(t.GoName+"Input"))
	for _, cp := range t.Capabilities {
		if len(cp.Input.Strings("required")) == 0 {
			return c // a call without arguments is legal
		}
	}
	c.Set("required", []any{"name", "arguments"})
	return c
}

// toolInput adds the inputs of a tool: one schema, or one for each action.
func (b *bundler) toolInput(t *sources.Tool) error {
	var variants []any
	for _, c := range t.Capabilities {
		lowered, err := b.lower(c.Input, "")
		if err != nil {
			return err
		}
		b.schemas.Set(c.GoName+"Input", lowered)
		variants = append(variants, ref(c.GoName+"Input"))
	}
	if len(variants) > 1 {
		b.schemas.Set(t.GoName+"Input", doc.NewObject("description", "Arguments of "+t.Name+", by action.", "oneOf", variants))
	}
	return nil
}

// toolOutput adds the output of a capability under the name that its Go type has.
func (b *bundler) toolOutput(c *sources.Capability) (string, error) {
	name := c.OutputRef
	if name == "" {
		name = c.GoName + "Output"
	}
	if b.schemas.Has(name) {
		return name, nil
	}
	lowered, err := b.lower(c.Output, "")
	if err != nil {
		return "", err
	}
	b.schemas.Set(name, lowered)
	return name, nil
}
