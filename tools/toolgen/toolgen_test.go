package main

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/tools/internal/contractcopy"
	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

func TestCatalogHasARowForEachThing(t *testing.T) {
	t.Parallel()
	s, err := sources.Load(contractcopy.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	if err := catalogFiles(t.Context(), s, files); err != nil {
		t.Fatal(err)
	}
	src := string(files["gen/catalog/catalog.gen.go"])
	for _, want := range []string{
		`RequestTimeout ErrorCode = "request_timeout"`, `ScopeSessionMutations Scope = "sessionMutations"`, `EventSessionMutated EventKind = "session_mutated"`,
		`{"POST", "/v1/tools/call", "callTool", true, true, nil}`, `{"GET", "/health", "getHealth", false, true, nil}`, `"CTXD_MAX_BODY_BYTES"`,
	} {
		if !strings.Contains(src, want) {
			t.Errorf("gen/catalog has no %s", want)
		}
	}
}

// The manifest binds each capability to its tool, and to its action where there are several.
func TestManifestBindsCapabilities(t *testing.T) {
	t.Parallel()
	s, err := sources.Load(contractcopy.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	bound := map[string]string{}
	for _, c := range manifest(s).List("capabilities") {
		c := object(t, c)
		b := object(t, c.List("bindings")[0])
		bound[c.String("id")] = b.String("name") + " " + b.String("action")
	}
	if bound["cap:ctxd:session:finding"] != "ctx_session finding" || bound["cap:ctxd:file:read"] != "ctx_read " {
		t.Errorf("got %v", bound)
	}
}

func object(t *testing.T, v any) *doc.Object {
	t.Helper()
	o, ok := v.(*doc.Object)
	if !ok {
		t.Fatalf("%v is no object", v)
	}
	return o
}

func TestBrokenContractIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, old, new, want string }{
		"undescribed key":        {"schemas/config.schema.json", `"description": "Port to bind; 0 takes a free one."`, `"x": 1`, "the configuration key port has no description"},
		"unnamed operation":      {"api/openapi.yaml", "operationId: getReady", "x-id: getReady", "get /ready: nothing but operations with an operationId"},
		"parameters of a path":   {"api/openapi.yaml", "  /ready:\n", "  /ready:\n    parameters: []\n", "parameters /ready: nothing but operations"},
		"scope of no catalogue":  {"schemas/manifest/ctx_read.json", `["search"]`, `["find"]`, `no scope "find"`},
		"capability id repeated": {"schemas/manifest/ctx_read.json", `cap:ctxd:file:read"`, `cap:ctxd:folder:list"`, "cap:ctxd:folder:list is taken by ctx_read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := contractcopy.Make(t)
			contractcopy.Edit(t, root, c.file, c.old, c.new)
			if err := run(t.Context(), root); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestRawLiteral(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"plain": "`\"plain\"`", "a `tick`": `"\"a ` + "`tick`" + `\""`} {
		if got := rawLiteral(in); got != want {
			t.Errorf("%q became %s, want %s", in, got, want)
		}
	}
}
