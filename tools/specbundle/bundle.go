package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

// contractID marks the operations that the public contract names.
const contractID = "http-mcp-v1"

// Bundle gives the whole document and that of the contract's routes. Both stand alone: every reference is into their own
// components, and every component is used.
func Bundle(s *sources.Sources) (whole, contract *doc.Object, err error) {
	b := &bundler{s: s, in: doc.Clone(s.OpenAPI).(*doc.Object), schemas: doc.NewObject()}
	whole, err = b.run()
	if err != nil {
		return nil, nil, err
	}
	contract = doc.Clone(whole).(*doc.Object)
	keepContract(contract)
	return whole, contract, nil
}

type bundler struct {
	s       *sources.Sources
	in      *doc.Object
	schemas *doc.Object // components.schemas, filled as references are met
}

func (b *bundler) run() (*doc.Object, error) {
	own := b.in.Object("components").Object("schemas")
	b.in.Object("components").Set("schemas", b.schemas)
	for _, name := range own.Keys() {
		v, err := b.lower(own.Get(name), "")
		if err != nil {
			return nil, fmt.Errorf("components.schemas.%s: %w", name, err)
		}
		b.schemas.Set(name, v)
	}
	if err := b.operations(); err != nil {
		return nil, err
	}
	if err := b.references(b.in); err != nil {
		return nil, err
	}
	if err := b.toolSchemas(); err != nil {
		return nil, err
	}
	b.in.Delete("x-common-errors")
	prune(b.in)
	return b.in, nil
}

// references replaces the references to schema files, wherever a schema may stand outside of components.schemas.
func (b *bundler) references(v any) error {
	return doc.Walk(v, func(o *doc.Object) error {
		if o == b.schemas || !o.Has("schema") {
			return nil
		}
		lowered, err := b.lower(o.Get("schema"), "")
		if err != nil {
			return err
		}
		o.Set("schema", lowered)
		return nil
	})
}

// operations adds the error responses to each operation.
func (b *bundler) operations() error {
	common := b.in.Object("x-common-errors")
	paths := b.in.Object("paths")
	for _, p := range paths.Keys() {
		for _, m := range paths.Object(p).Keys() {
			op := paths.Object(p).Object(m)
			codes := append([]string{}, common.Strings("all")...)
			if sec, ok := op.Get("security").([]any); !ok || len(sec) > 0 {
				codes = append(codes, common.Strings("bearer")...)
			}
			codes = append(codes, op.Strings("x-errors")...)
			op.Delete("x-errors")
			if err := b.errorResponses(op, codes); err != nil {
				return fmt.Errorf("%s %s: %w", strings.ToUpper(m), p, err)
			}
		}
	}
	return nil
}

func (b *bundler) errorResponses(op *doc.Object, codes []string) error {
	known := map[string]bool{}
	for _, e := range b.s.Errors {
		known[e.Code] = true
	}
	wanted := map[string]bool{}
	for _, c := range codes {
		if !known[c] {
			return fmt.Errorf("no error %q in api/catalog/errors.yaml", c)
		}
		wanted[c] = true
	}
	responses := op.Object("responses")
	said := map[string][]string{}
	for _, e := range b.s.Errors {
		if wanted[e.Code] {
			status := strconv.Itoa(e.Status)
			said[status] = append(said[status], fmt.Sprintf("`%s`: %s", e.Code, e.When))
		}
	}
	for _, e := range b.s.Errors {
		status := strconv.Itoa(e.Status)
		if len(said[status]) == 0 || responses.Has(status) {
			continue
		}
		schema := doc.NewObject("$ref", "../schemas/error.schema.json")
		responses.Set(status, doc.NewObject(
			"description", strings.Join(said[status], " "),
			"content", doc.NewObject("application/json", doc.NewObject("schema", schema)),
		))
	}
	return nil
}

// component copies the schema that a reference between files names into the components, and gives its name.
func (b *bundler) component(file, pointer string) (string, error) {
	sch := b.s.Schema(file)
	if sch == nil {
		return "", fmt.Errorf("no schema file %q", file)
	}
	name, def := sch.Title(), any(sch.Doc)
	if pointer != "" {
		var err error
		if def, err = doc.At(sch.Doc, pointer); err != nil {
			return "", fmt.Errorf("%s#%s: %w", file, pointer, err)
		}
		name = pointer[strings.LastIndex(pointer, "/")+1:]
	}
	if b.schemas.Has(name) {
		return name, nil
	}
	b.schemas.Set(name, nil) // so that a schema may refer to itself
	lowered, err := b.lower(def, file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	b.schemas.Set(name, lowered)
	return name, nil
}

// prune drops components that nothing refers to, and sorts the schemas by name.
func prune(d *doc.Object) {
	components := d.Object("components")
	for {
		used := map[string]bool{}
		_ = doc.Walk(d, func(o *doc.Object) error {
			used[o.String("$ref")] = true
			return nil
		})
		dropped := false
		for _, section := range []string{"schemas", "parameters", "headers"} {
			list := components.Object(section)
			for _, name := range list.Keys() {
				if !used["#/components/"+section+"/"+name] {
					list.Delete(name)
					dropped = true
				}
			}
		}
		if !dropped {
			break
		}
	}
	components.Object("schemas").Sort()
}

// keepContract drops every operation that the contract does not name, and points to the whole document.
func keepContract(d *doc.Object) {
	paths := d.Object("paths")
	tags := map[string]bool{}
	for _, p := range paths.Keys() {
		item := paths.Object(p)
		for _, m := range item.Keys() {
			if item.Object(m).String("x-contract") != contractID {
				item.Delete(m)
				continue
			}
			for _, t := range item.Object(m).Strings("tags") {
				tags[t] = true
			}
		}
		if item.Len() == 0 {
			paths.Delete(p)
		}
	}
	var kept []any
	for _, t := range d.List("tags") {
		if tags[t.(*doc.Object).String("name")] {
			kept = append(kept, t)
		}
	}
	d.Set("tags", kept)
	d.Set("externalDocs", doc.NewObject("url", "/openapi.json", "description", "The whole API of this server."))
	d.Object("info").Set("title", "ctxd: routes of http-mcp-contract-v1")
	prune(d)
}
