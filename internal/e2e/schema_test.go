package e2e

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

var toolName = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// T2, cases 22 and 23: every schema that is published, by REST and by MCP, is one that the strictest client takes.
func TestT2PublishedSchemas(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"preset": "full"})
	type entry struct {
		Name   string         `json:"name"`
		Input  map[string]any `json:"input_schema"`
		MCP    map[string]any `json:"inputSchema"`
		Output map[string]any `json:"outputSchema"`
	}
	var byREST struct{ Tools []entry }
	s.Get("/v1/tools").Decode(t, &byREST)
	var byMCP struct{ Result struct{ Tools []entry } }
	s.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Decode(t, &byMCP)
	if len(byREST.Tools) == 0 || len(byREST.Tools) != len(byMCP.Result.Tools) {
		t.Fatalf("%d tools by REST, %d by MCP", len(byREST.Tools), len(byMCP.Result.Tools))
	}
	for i, e := range byREST.Tools {
		m := byMCP.Result.Tools[i]
		a, b := mustJSON(t, e.Input), mustJSON(t, m.MCP)
		if e.Name != m.Name || a != b {
			t.Errorf("%s by REST: %s\n%s by MCP: %s", e.Name, a, m.Name, b)
		}
		if !toolName.MatchString(e.Name) {
			t.Errorf("the name %s", e.Name)
		}
		strict(t, e.Name, e.Input, true)
		if m.Output != nil {
			strict(t, e.Name+" output", m.Output, true)
		}
	}
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// strict judges a schema by the subset that every client understands.
func strict(t *testing.T, at string, schema map[string]any, root bool) {
	t.Helper()
	if root && schema["type"] != "object" {
		t.Errorf("%s: the root is %v", at, schema["type"])
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf", "not", "if", "enum", "const"} {
		if root && schema[word] != nil {
			t.Errorf("%s: %s at the root", at, word)
		}
	}
	for _, word := range []string{"$ref", "$dynamicRef", "$id", "patternProperties", "unevaluatedProperties", "$defs", "dependentSchemas"} {
		if schema[word] != nil {
			t.Errorf("%s: %s", at, word)
		}
	}
	if _, ok := schema["type"].(string); !ok && schema["anyOf"] == nil {
		t.Errorf("%s: the type is %v", at, schema["type"])
	}
	props, _ := schema["properties"].(map[string]any)
	for name, p := range props {
		if !toolName.MatchString(name) {
			t.Errorf("%s: the name %q", at, name)
		}
		strict(t, at+"."+name, p.(map[string]any), false)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if props[name.(string)] == nil {
			t.Errorf("%s: %s is required and not described", at, name)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		strict(t, at+"[]", items, false)
	} else if schema["type"] == "array" {
		t.Errorf("%s: an array of what?", at)
	}
}
