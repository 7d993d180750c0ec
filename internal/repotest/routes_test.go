package repotest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/testkit"
)

// contractRoutes are the routes that http-mcp-contract-v1 lists. They change with that contract only.
var contractRoutes = []string{
	"GET /health",
	"GET /v1/capabilities",
	"GET /v1/context/summary",
	"GET /v1/events",
	"GET /v1/events/lineage",
	"GET /v1/events/search",
	"GET /v1/manifest",
	"GET /v1/metrics",
	"GET /v1/openapi.json",
	"GET /v1/tools",
	"POST /v1/tools/call",
}

var httpMethods = []string{"delete", "get", "head", "options", "patch", "post", "put", "trace"}

// operations are the routes of an OpenAPI document, sorted. Whatever else stands below a path is a problem: clients iterate
// over it.
func operations(name string, document []byte) (routes []string, found []problem) {
	var d struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, []problem{{name, "is no OpenAPI document: " + err.Error(), "run go generate ./..."}}
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, member := range slices.Sorted(maps.Keys(d.Paths[path])) {
			if !slices.Contains(httpMethods, member) {
				found = append(found, problem{name, path + " has the member " + member, "write it into each operation: nothing but methods stands below a path"})
				continue
			}
			routes = append(routes, strings.ToUpper(member)+" "+path)
		}
	}
	slices.Sort(routes)
	return routes, found
}

// checkSame holds two lists of routes against each other, both ways.
func checkSame(have, want []string, lacks, surplus problem) []problem {
	var out []problem
	for _, r := range want {
		if !slices.Contains(have, r) {
			out = append(out, problem{r, lacks.wrong, lacks.mend})
		}
	}
	for _, r := range have {
		if !slices.Contains(want, r) {
			out = append(out, problem{r, surplus.wrong, surplus.mend})
		}
	}
	return out
}

// checkRoutes holds what a server serves against the table of routes, and that against the published document.
func checkRoutes(served []string, table []catalog.Route, document []byte) []problem {
	var declared []string
	for _, r := range table {
		declared = append(declared, r.Method+" "+r.Path)
	}
	published, out := operations("api/openapi.json", document)
	out = append(out, checkSame(served, declared,
		problem{wrong: "is declared, but not served", mend: "implement it in internal/rest, or take it out of api/openapi.yaml"},
		problem{wrong: "is served, but not declared", mend: "add it to api/openapi.yaml and run go generate ./..."})...)
	return append(out, checkSame(published, declared,
		problem{wrong: "is in gen/catalog, but not in api/openapi.json", mend: "run go generate ./..."},
		problem{wrong: "is in api/openapi.json, but not in gen/catalog", mend: "run go generate ./..."})...)
}

// checkContractDocument holds the document of the contract's routes to those that the contract lists.
func checkContractDocument(document []byte) []problem {
	routes, out := operations("api/http-mcp-v1.openapi.json", document)
	return append(out, checkSame(routes, contractRoutes,
		problem{wrong: "is a route of the contract, but not in its document", mend: "mark it x-contract: http-mcp-v1 in api/openapi.yaml"},
		problem{wrong: "is in the document of the contract, which does not name it", mend: "take x-contract from it in api/openapi.yaml"})...)
}

// checkServed compares a document as it is served with the one on disk.
func checkServed(name string, status int, served, disk []byte) []problem {
	if status != http.StatusOK || !bytes.Equal(served, disk) {
		return []problem{{name, "is served as other bytes", "run go generate ./... and build again; nothing but api.go embeds it"}}
	}
	return nil
}

// R1, R2: what a server serves is what the contract declares, and its documents are the files on disk.
func TestServedRoutesAreDeclared(t *testing.T) {
	t.Parallel()
	files := repository(t)
	s := testkit.Start(t, nil)
	passes(t, checkRoutes(s.Routes(), catalog.Routes, files["api/openapi.json"]))
	passes(t, checkContractDocument(files["api/http-mcp-v1.openapi.json"]))
	for path, name := range map[string]string{"/openapi.json": "api/openapi.json", "/v1/openapi.json": "api/http-mcp-v1.openapi.json"} {
		a := s.Get(path)
		passes(t, checkServed(name, a.Status, a.Body, files[name]))
		if tag := a.Header.Get("ETag"); tag == "" || s.Get(path, "If-None-Match", tag).Status != http.StatusNotModified {
			t.Errorf("%s: the ETag %q names nothing; let internal/rest send it", path, tag)
		}
	}
}

func TestRouteDriftIsCaught(t *testing.T) {
	t.Parallel()
	table := []catalog.Route{{Method: "GET", Path: "/a"}, {Method: "GET", Path: "/b"}, {Method: "GET", Path: "/c"}}
	document := []byte(`{"paths": {"/a": {"get": {}, "parameters": []}, "/b": {"get": {}}, "/d": {"post": {}}}}`)
	catches(t, checkRoutes([]string{"GET /a", "GET /c", "PUT /undeclared"}, table, document),
		"api/openapi.json: /a has the member parameters",
		"GET /b: is declared, but not served",
		"PUT /undeclared: is served, but not declared",
		"GET /c: is in gen/catalog, but not in api/openapi.json",
		"POST /d: is in api/openapi.json, but not in gen/catalog",
	)
}

func TestContractDocumentDriftIsCaught(t *testing.T) {
	t.Parallel()
	files := repository(t).
		edited(t, "api/http-mcp-v1.openapi.json", `"/v1/metrics": {`, `"/v1/counters": {`).
		edited(t, "api/http-mcp-v1.openapi.json", `"/health": {`, `"/health": { "x-note": true,`)
	catches(t, checkContractDocument(files["api/http-mcp-v1.openapi.json"]),
		"GET /v1/metrics: is a route of the contract, but not in its document",
		"GET /v1/counters: is in the document of the contract, which does not name it",
		"api/http-mcp-v1.openapi.json: /health has the member x-note",
	)
	catches(t, checkServed("api/openapi.json", http.StatusOK, []byte("{}\n"), []byte("{}")), "api/openapi.json: is served as other bytes")
}
