package repotest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/testkit"
)

// contractEvents are the event kinds that http-mcp-contract-v1 lists: they stay, though a build may not emit all of them.
var contractEvents = []string{"tool_call_recorded", "session_mutated", "knowledge_remembered", "artifact_stored", "graph_built", "proof_added"}

// awaited are rows that nothing uses yet, with the reason why they are there all the same. One that is used has to leave.
var awaited = map[string]string{
	"scope approve": "tokens may be given it now; decisions on approval requests need it once there are any",
	"scope admin":   "tokens may be given it now; admission of foreign manifests needs it once it is a route",
}

// unbound are codes that no declared operation answers with, with the reason why they exist.
var unbound = map[string]string{}

// rows are the names of the catalogues as a test can plant them: by list and name, with the name of the Go constant.
type row struct {
	list, name, constant string
	given                bool // by the public contract
}

func catalogRows() []row {
	var out []row
	for _, r := range catalog.Errors {
		out = append(out, row{"error", string(r.Code), constant(string(r.Code)), false})
	}
	for _, r := range catalog.Scopes {
		out = append(out, row{"scope", string(r.Scope), "Scope" + constant(string(r.Scope)), r.Contract})
	}
	for _, r := range catalog.Events {
		out = append(out, row{"event", string(r.Kind), "Event" + constant(string(r.Kind)), slices.Contains(contractEvents, string(r.Kind))})
	}
	for _, r := range catalog.Metrics {
		out = append(out, row{"metric", r.Name, "Metric" + constant(r.Name), false})
	}
	return out
}

// constant is the tail of a Go constant, as the generators make it.
func constant(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// usage is what the code and the contract take from the catalogues.
type usage struct {
	constants map[string]bool // in Go code that is neither a test nor generated
	scopes    map[string]bool // needed by a capability or route
	members   map[string]bool // of the document of metrics
}

var codePattern = regexp.MustCompile(`^[a-z_.]+$`)

// checkRows wants every row of a catalogue used, spelled as its list wants it, and there once.
func checkRows(rows []row, used usage, excused map[string]string) []problem {
	var out []problem
	seen := map[string]bool{}
	for _, r := range rows {
		key := r.list + " " + r.name
		in := used.constants[r.constant] || r.list == "scope" && used.scopes[r.name] || r.list == "metric" && used.members[r.name]
		switch {
		case seen[key]:
			out = append(out, problem{key, "stands twice", "keep one row in api/catalog"})
		case r.list == "error" && !codePattern.MatchString(r.name):
			out = append(out, problem{key, "does not match " + codePattern.String(), "rename it before it is released"})
		case !in && !r.given && excused[key] == "":
			out = append(out, problem{key, "is used nowhere", "use catalog." + r.constant + ", or drop the row from api/catalog"})
		case in && excused[key] != "":
			out = append(out, problem{key, "is used by now", "take it out of awaited in this test"})
		}
		seen[key] = true
	}
	for key := range excused {
		if !seen[key] {
			out = append(out, problem{key, "is excused, but no row", "take it out of awaited in this test"})
		}
	}
	return out
}

func catalogUsage(files []goFile, metricsSchema []byte) (usage, error) {
	u := usage{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, f := range files {
		if f.test || f.generated() {
			continue
		}
		for _, name := range f.selected(module + "/gen/catalog") {
			u.constants[name] = true
		}
	}
	for _, r := range catalog.Routes {
		for _, s := range r.Scopes {
			u.scopes[string(s)] = true
		}
	}
	for _, t := range tool.Specs {
		for _, c := range t.Capabilities {
			for _, s := range c.Scopes {
				u.scopes[string(s)] = true
			}
		}
	}
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(metricsSchema, &schema); err != nil {
		return u, err
	}
	for name := range schema.Properties {
		u.members[name] = true
	}
	return u, nil
}

func TestCatalogRowsAreUsed(t *testing.T) {
	t.Parallel()
	files := repository(t)
	used, err := catalogUsage(parseGo(t, files), files["schemas/metrics.schema.json"])
	if err != nil {
		t.Fatal(err)
	}
	passes(t, checkRows(catalogRows(), used, awaited))
	for member := range used.members {
		if !slices.ContainsFunc(catalog.Metrics, func(m catalog.MetricRow) bool { return m.Name == member }) && member != "slo" {
			t.Errorf("schemas/metrics.schema.json: %s is no row of api/catalog/metrics.yaml; add it", member)
		}
	}
}

func TestOrphanRowsAreCaught(t *testing.T) {
	t.Parallel()
	files := parseGo(t, tree{
		"internal/a/a.go":      []byte("package a\n\nimport c \"github.com/ctxd/ctxd/gen/catalog\"\n\nvar _ = c.Internal\nvar _ = catalog.NotFound\n"),
		"internal/a/a_test.go": []byte("package a\n\nimport \"github.com/ctxd/ctxd/gen/catalog\"\n\nvar _ = catalog.NotReady\n"),
		"gen/x/x.go":           []byte("package x\n\nimport \"github.com/ctxd/ctxd/gen/catalog\"\n\nvar _ = catalog.Overloaded\n"),
	})
	used, err := catalogUsage(files, []byte(`{"properties": {"eventsAppended": {}}}`))
	if err != nil {
		t.Fatal(err)
	}
	catches(t, checkRows([]row{
		{"error", "internal", "Internal", false}, {"error", "internal", "Internal", false}, {"error", "Bad-Code", "Internal", false},
		{"error", "not_found", "NotFound", false}, {"error", "not_ready", "NotReady", false}, {"error", "overloaded", "Overloaded", false},
		{"event", "proof_added", "EventProofAdded", true}, {"scope", "search", "ScopeSearch", false}, {"scope", "root", "ScopeRoot", false},
		{"metric", "eventsAppended", "MetricEventsAppended", false}, {"metric", "eventsLost", "MetricEventsLost", false},
	}, used, map[string]string{"scope search": "not yet", "scope gone": "not yet"}),
		"error internal: stands twice", "error Bad-Code: does not match", "error not_found: is used nowhere", "error not_ready: is used nowhere",
		"error overloaded: is used nowhere", "scope root: is used nowhere", "metric eventsLost: is used nowhere", "scope search: is used by now",
		"scope gone: is excused, but no row",
	)
}

// checkReachable wants every error code among those that some operation of api/openapi.yaml may answer with.
func checkReachable(openapi []byte, codes []string, excused map[string]string) []problem {
	var doc struct {
		Common map[string][]string                  `yaml:"x-common-errors"`
		Paths  map[string]map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(openapi, &doc); err != nil {
		return []problem{{"api/openapi.yaml", err.Error(), "write an OpenAPI document"}}
	}
	reached := map[string]bool{}
	for _, list := range doc.Common {
		for _, code := range list {
			reached[code] = true
		}
	}
	for _, item := range doc.Paths {
		for _, op := range item {
			list, _ := op["x-errors"].([]any)
			for _, code := range list {
				reached[fmt.Sprint(code)] = true
			}
		}
	}
	var out []problem
	for _, code := range codes {
		switch {
		case !reached[code] && excused[code] == "":
			out = append(out, problem{"error " + code, "is in the x-errors of no operation", "add it where it occurs in api/openapi.yaml, or say in unbound why there is no such place"})
		case reached[code] && excused[code] != "":
			out = append(out, problem{"error " + code, "is the error of an operation by now", "take it out of unbound in this test"})
		}
	}
	return out
}

func TestErrorCodesBelongToOperations(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, r := range catalog.Errors {
		codes = append(codes, string(r.Code))
	}
	passes(t, checkReachable(repository(t)["api/openapi.yaml"], codes, unbound))
}

func TestUnreachableErrorCodeIsCaught(t *testing.T) {
	t.Parallel()
	const doc = "x-common-errors: {all: [internal]}\npaths: {/a: {get: {x-errors: [not_ready]}}}\n"
	catches(t, checkReachable([]byte(doc), []string{"internal", "not_ready", "teapot", "gone"}, map[string]string{"gone": "never sent", "not_ready": "not yet"}),
		"error teapot: is in the x-errors of no operation", "error not_ready: is the error of an operation by now")
}

// checkModes asks for a mode as written in the catalogue, and for what is no mode of this build.
func checkModes(modes, others []string, accepts func(mode string) bool) []problem {
	var out []problem
	for _, m := range modes {
		if !accepts(strings.Replace(m, "N-M", "1-2", 1)) {
			out = append(out, problem{"read mode " + m, "is in the catalogue, but refused", "implement it in internal/tool, or drop the row"})
		}
	}
	for _, m := range others {
		if !slices.Contains(modes, m) && accepts(m) {
			out = append(out, problem{"read mode " + m, "is accepted, but not in the catalogue", "add a row to api/catalog/read_modes.yaml"})
		}
	}
	return out
}

// Modes that other builds, or older descriptions of ctx_read, have.
var otherModes = []string{
	"aggressive", "context", "density", "diff", "entropy", "graph", "handle", "lines", "lines:", "lines:a-b", "map", "outline", "raw",
	"signatures", "summary", "symbols", "task", "FULL", " full", "",
}

func TestReadModesAreThoseOfTheCatalogue(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	var modes []string
	for _, m := range catalog.ReadModes {
		modes = append(modes, m.Mode)
	}
	passes(t, checkModes(modes, otherModes, func(mode string) bool {
		a := s.Call(fmt.Sprintf(`{"name": "ctx_read", "arguments": {"path": "README.md", "mode": %q}}`, mode))
		return a.Status == 200
	}))
}

func TestWrongReadModesAreCaught(t *testing.T) {
	t.Parallel()
	accepts := func(mode string) bool { return mode == "full" || mode == "raw" || mode == "lines:1-2" }
	catches(t, checkModes([]string{"full", "lines:N-M", "map"}, []string{"raw", "diff"}, accepts),
		"read mode map: is in the catalogue, but refused", "read mode raw: is accepted, but not in the catalogue")
}
