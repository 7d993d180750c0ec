package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/tools/internal/contractcopy"
	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

func load(t *testing.T, root string) *sources.Sources {
	t.Helper()
	s, err := sources.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Both documents stand alone: each reference is into their own components, and each component is used.
func TestBundlesStandAlone(t *testing.T) {
	t.Parallel()
	whole, contract, err := Bundle(load(t, contractcopy.Root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*doc.Object{whole, contract} {
		used := map[string]bool{}
		err := doc.Walk(d, func(o *doc.Object) error {
			if ref := o.String("$ref"); ref != "" {
				used[ref] = true
				_, err := doc.At(d, strings.TrimPrefix(ref, "#"))
				return err
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for _, name := range d.Object("components").Object("schemas").Keys() {
			if !used["#/components/schemas/"+name] {
				t.Errorf("nothing uses %s", name)
			}
		}
		if d.Has("x-common-errors") || strings.Contains(string(doc.Compact(d)), "x-errors") {
			t.Error("x-errors is published")
		}
	}
	if n := contract.Object("paths").Len(); n != 11 {
		t.Errorf("the contract has %d paths", n)
	}
}

// Errors of an operation arrive as responses by status, told by code.
func TestErrorsBecomeResponses(t *testing.T) {
	t.Parallel()
	whole, _, err := Bundle(load(t, contractcopy.Root(t)))
	if err != nil {
		t.Fatal(err)
	}
	responses := whole.Object("paths").Object("/v1/tools/call").Object("post").Object("responses")
	if said := responses.Object("403").String("description"); !strings.Contains(said, "`scope_denied`") || !strings.Contains(said, "`origin_denied`") {
		t.Errorf("403 says %s", said)
	}
	if health := whole.Object("paths").Object("/health").Object("get").Object("responses"); health.Has("401") {
		t.Error("/health asks for a token")
	}
}

func TestBrokenContractIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, old, new, want string }{
		"unknown error":        {"api/openapi.yaml", "x-errors: [not_ready]", "x-errors: [not_raedy]", `GET /ready: no error "not_raedy" in api/catalog/errors.yaml`},
		"unknown common error": {"api/openapi.yaml", "all: [origin_denied,", "all: [origin,", `GET /health: no error "origin" in`},
		"unknown catalogue":    {"schemas/error.schema.json", `"x-catalog": "errors"`, `"x-catalog": "faults"`, "x-catalog names no catalogue: faults"},
		"unknown schema file":  {"api/openapi.yaml", "../schemas/ready.schema.json", "../schemas/steady.schema.json", `no schema file "steady.schema.json"`},
		"unknown definition":   {"api/openapi.yaml", "call.schema.json#/$defs/CallResponse", "call.schema.json#/$defs/Answer", `call.schema.json#/$defs/Answer: no member "Answer"`},
		"type of three":        {"schemas/ready.schema.json", `"status": { "type": "string"`, `"status": { "type": ["string", "integer", "number"]`, "OpenAPI 3.0 has no type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := contractcopy.Make(t)
			contractcopy.Edit(t, root, c.file, c.old, c.new)
			if err := run(root); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestLower(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"const": "a", "title": "T", "uniqueItems": true, "x-frozen": true}`: `{"enum":["a"]}`,
		`{"type": ["string", "null"]}`:                                        `{"nullable":true,"type":"string"}`,
		`{"type": ["object", "boolean"]}`:                                     `{}`,
		`{"oneOf": [{"type": "null"}, {"type": "integer"}]}`:                  `{"nullable":true,"allOf":[{"type":"integer"}]}`,
		`{"additionalProperties": false, "not": {"const": 1}}`:                `{"additionalProperties":false,"not":{"enum":[1]}}`,
		`{"$ref": "#/components/schemas/A", "description": "d"}`:              `{"allOf":[{"$ref":"#/components/schemas/A"}],"description":"d"}`,
	} {
		v, err := doc.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		b := &bundler{s: &sources.Sources{}, schemas: doc.NewObject()}
		got, err := b.lower(v, "")
		if err != nil || string(doc.Compact(got)) != want {
			t.Errorf("%s became %s, %v, want %s", in, doc.Compact(got), err, want)
		}
	}
}

func TestRunWritesBothDocuments(t *testing.T) {
	t.Parallel()
	root := contractcopy.Make(t)
	for _, name := range []string{"openapi.json", "http-mcp-v1.openapi.json"} {
		if err := os.Remove(filepath.Join(root, "api", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(root); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root, "api", "*.json"))
	if err != nil || !slices.Equal(names, []string{filepath.Join(root, "api", "http-mcp-v1.openapi.json"), filepath.Join(root, "api", "openapi.json")}) {
		t.Errorf("got %v, %v", names, err)
	}
}
