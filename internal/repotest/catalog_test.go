package repotest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/tool"
)

// contractEvents are the event kinds that http-mcp-contract-v1 lists: they stay, though a build may not emit all of them.
var contractEvents = []string{"tool_call_recorded", "session_mutated", "knowledge_remembered", "artifact_stored", "graph_built", "proof_added"}

// awaited are rows that nothing uses yet, with the reason why they are there all the same. One that is used has to leave.
var awaited = map[string]string{
	"scope approve": "tokens may be given it now; decisions on approval requests need it once there are any",
	"scope admin":   "tokens may be given it now; admission of foreign manifests needs it once it is a route",
}

// row is a row of a catalogue, as a test can plant it.
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
