package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/testkit"
)

// parameter is what the schema of a capability says of one argument.
type parameter struct {
	Type      string     `json:"type"`
	Items     *parameter `json:"items"`
	Enum      []string   `json:"enum"`
	Minimum   *int       `json:"minimum"`
	Maximum   *int       `json:"maximum"`
	MinLength int        `json:"minLength"`
	MaxLength int        `json:"maxLength"`
	MaxItems  int        `json:"maxItems"`
	MinItems  int        `json:"minItems"`
}

// wrong are values that break the schema, one for each way to break it.
func (p parameter) wrong() []string {
	byType := map[string]string{
		"null": "null", "boolean": "true", "integer": "7", "number": "7.5", "string": `"text"`, "array": "[]", "object": "{}",
	}
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		if kind != p.Type && !(kind == "integer" && p.Type == "number") {
			out = append(out, byType[kind])
		}
	}
	if p.Enum != nil {
		out = append(out, `"none of these"`)
	}
	if p.Minimum != nil {
		out = append(out, fmt.Sprint(*p.Minimum-1), "-1e30")
	}
	if p.Maximum != nil {
		out = append(out, fmt.Sprint(*p.Maximum+1), "1e30")
	}
	if p.MinLength > 0 {
		out = append(out, `""`)
	}
	if p.MaxLength > 0 && p.MaxLength < 10_000 {
		out = append(out, quoted(strings.Repeat("x", p.MaxLength+1)))
	}
	if p.Items != nil {
		for _, v := range p.Items.wrong()[:2] {
			out = append(out, "["+v+"]")
		}
	}
	if p.MaxItems > 0 {
		out = append(out, "["+strings.Repeat(`"x",`, p.MaxItems)+`"x"]`)
	}
	return out
}

// wrongCalls has a call for every wrong value of every parameter of every capability.
func wrongCalls(t *testing.T) (calls []request, pointers []string) {
	t.Helper()
	for _, spec := range tool.Specs {
		for _, c := range spec.Capabilities {
			var in struct {
				Properties map[string]parameter `json:"properties"`
			}
			if err := json.Unmarshal(c.Input, &in); err != nil {
				t.Fatal(err)
			}
			for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
				if name == "action" {
					continue // it chooses the capability; the suite of all doors has its wrong values
				}
				for _, v := range in.Properties[name].wrong() {
					args := fmt.Sprintf(`{%q:%s}`, name, v)
					if c.Action != "" {
						args = fmt.Sprintf(`{"action":%q,%q:%s}`, c.Action, name, v)
					}
					calls, pointers = append(calls, request{tool: spec.Name, args: args}), append(pointers, "/"+name)
				}
			}
		}
	}
	if len(calls) < 200 {
		t.Fatalf("only %d calls: the schemas were not understood", len(calls))
	}
	return calls, pointers
}

// Every wrong value of every parameter is told at its place, at every door.
func TestEveryWrongArgument(t *testing.T) {
	t.Parallel()
	calls, pointers := wrongCalls(t)
	eachDoor(t, testkit.Settings{"project_root": repository(t)}, func(t *testing.T, d door) {
		for i, r := range calls {
			if d.Name() == "cli" && i%10 != 0 {
				continue // each starts an engine
			}
			got := d.Call(t, r)
			at := slices.ContainsFunc(got.details, func(d detail) bool {
				return d.Pointer == pointers[i] || strings.HasPrefix(d.Pointer, pointers[i]+"/")
			})
			if got.code != "invalid_arguments" || !at {
				t.Errorf("%s %.200s: %.400s", r.tool, r.args, got)
			}
		}
	})
}

// A number that is whole is an integer, however it is written; a number that fits no machine word is not.
func TestNumbers(t *testing.T) {
	t.Parallel()
	eachDoor(t, testkit.Settings{"project_root": repository(t)}, func(t *testing.T, d door) {
		for args, code := range map[string]string{
			`{"path":"a.txt","start_line":2.0}`:                  "",
			`{"path":"a.txt","start_line":2e0}`:                  "",
			`{"path":"a.txt","start_line":20e-1}`:                "",
			`{"path":"a.txt","start_line":99999999999999999999}`: "invalid_arguments",
			`{"path":"a.txt","start_line":1e308}`:                "invalid_arguments",
		} {
			if got := d.Call(t, request{tool: "ctx_read", args: args}); got.code != code {
				t.Errorf("%s: %v", args, got)
			}
		}
	})
}

// Arguments that are no object, and documents in which something stands twice, are refused before anything is made of them.
func TestArgumentsOfAnotherShape(t *testing.T) {
	t.Parallel()
	set := testkit.Settings{"project_root": repository(t)}
	s := testkit.Start(t, set)
	for _, c := range []struct{ args, rest, rpc string }{
		{`[]`, "invalid_arguments", "invalid_arguments"},
		{`"path"`, "invalid_arguments", "invalid_arguments"},
		{`7`, "invalid_arguments", "invalid_arguments"},
		{`true`, "invalid_arguments", "invalid_arguments"},
		{`null`, "tool_error", "tool_error"}, // as if they were absent
		{`{"path":"a.txt","path":"b.txt"}`, "invalid_request", "invalid_request"},
		{`{"path":"a.txt","p\u0061th":"b.txt"}`, "invalid_request", "invalid_request"},
		{`{"path":"\ud800"}`, "invalid_request", "invalid_request"},
		{`{"path":"a.txt","start_line":1e1000000}`, "invalid_request", "invalid_request"}, // exact arithmetic would take 100 ms
		{`{"path":"a.txt",}`, "invalid_request", "invalid_request"},
		{"{\"path\":\"a\xff\"}", "invalid_request", "invalid_request"},
		{strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), "invalid_request", "invalid_request"},
	} {
		if a := s.Call(`{"name":"ctx_read","arguments":` + c.args + `}`); a.Code() != c.rest {
			t.Errorf("rest: %.200s: %d %s", c.args, a.Status, a.Body)
		}
		a := s.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_read","arguments":`+c.args+`}}`)
		code := a.Code()
		if a.Status == http.StatusOK {
			code = rpcOutcome(t, a.Body).code
		}
		if code != c.rpc {
			t.Errorf("mcp: %.200s: %d %s", c.args, a.Status, a.Body)
		}
	}
	for _, body := range []string{
		`{"name":"ctx_read","name":"ctx_tree"}`, `{"name":"ctx_read","arguments":{},"arguments":{"path":"a.txt"}}`,
		`{}`, `[]`, `null`, `7`, `"x"`, ``, ` `, `{"name":7}`, `{"name":""}`, `{"name":null}`, `{"name":"ctx_tree","mode":"async"}`,
		`{"name":"ctx_tree","workspaceId":null}`, `{"name":"ctx_tree","parentEventId":0}`, `{"name":"ctx_tree","parentEventId":1e30}`,
		`{"name":"ctx_tree"} {}`, "\xef\xbb\xbf" + `{"name":"ctx_tree"}`, `{"name":"ctx_tree","conversationId":"a/b"}`,
	} {
		if a := s.Call(body); a.Status != http.StatusBadRequest || a.Code() != "invalid_request" {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	if code, _, stderr := run(t, "call", "--config", cliAt(t, set).(cliDoor).file, "ctx_read", "path=a.txt", "path=b.txt"); code != 2 {
		t.Errorf("cli: %d %s", code, stderr)
	}
}
