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

// rawDoor sends arguments as they are: no client library mends them on the way.
type rawDoor struct {
	name string
	call func(t *testing.T, tool, args string) outcome
}

// rawDoors are REST, the newest MCP, an old era in a session, and stdio.
func rawDoors(t *testing.T, set testkit.Settings) []rawDoor {
	t.Helper()
	s := testkit.Start(t, set)
	old := testkit.Start(t, with(set, testkit.Settings{"stateful_mode": true}))
	session := begin(t, old)
	in, out := serveStdio(t, onData(t, set))
	w := wireTo(t, in, out)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`
	answered := func(t *testing.T, a testkit.Answer) testkit.Answer {
		t.Helper()
		if a.Status >= http.StatusInternalServerError {
			t.Errorf("%d %.300s", a.Status, a.Body)
		}
		return a
	}
	overRPC := func(t *testing.T, a testkit.Answer) outcome {
		t.Helper()
		if answered(t, a).Status == http.StatusBadRequest && !strings.Contains(string(a.Body), `"jsonrpc"`) {
			return restOutcome(t, a) // a body that cannot be read is no message, and gets the envelope
		}
		return rpcOutcome(t, a.Body)
	}
	return []rawDoor{
		{"rest", func(t *testing.T, tool, args string) outcome {
			return restOutcome(t, answered(t, s.Call(fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))))
		}},
		{"mcp-newest", func(t *testing.T, tool, args string) outcome {
			_, headers := rpcCall(newest, "tools/call", `{"name":`+quoted(tool)+`}`)
			meta := `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + newest + `","io.modelcontextprotocol/clientCapabilities":{}}`
			return overRPC(t, s.Do(http.MethodPost, "/mcp", fmt.Sprintf(call, tool, args, meta), headers...))
		}},
		{"mcp-session", func(t *testing.T, tool, args string) outcome {
			return overRPC(t, old.Do(http.MethodPost, "/mcp", fmt.Sprintf(call, tool, args, ""), "Mcp-Session-Id", session))
		}},
		{"mcp-stdio", func(t *testing.T, tool, args string) outcome {
			w.t = t
			w.say(fmt.Sprintf(call, tool, args, ""))
			return rpcOutcome(t, []byte(w.hear()))
		}},
	}
}

// hostileValues break every schema or the parser; deep ones lie ten thousand levels deep.
func hostileValues() map[string]string {
	const deep = 10_000
	return map[string]string{
		"null": "null", "true": "true", "fraction": "7.5", "negative": "-1", "huge": "1e308", "many digits": strings.Repeat("123456789", 40), "huger": "1e400", "beyond exponents": "1e99999", "not a number": "NaN",
		"text": `"\u0000 none of these"`, "array": "[]", "object": "{}", "mixed": `[null,7,{},"x",[]]`, "deep arrays": strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"deep objects": strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep), "megabyte": `"` + strings.Repeat("x", 1<<20) + `"`, "half a pair": `"\ud800"`, "not UTF-8": "\"\xff\"",
	}
}

// fits says whether a hostile value is a legal one of a parameter, as far as its schema goes.
func (p parameter) fits(value string) bool {
	switch p.Type {
	case "boolean":
		return value == "true"
	case "integer":
		return value == "1e308" && p.Maximum == nil // a whole number, which no machine word holds
	case "array":
		return value == "[]" && p.MinItems == 0
	case "string":
		return p.Enum == nil && value == `"\u0000 none of these"` || strings.HasPrefix(value, `"xx`) && p.MaxLength == 0
	}
	return false
}

// field is a parameter of a tool, with the action that takes it.
type field struct {
	tool, action, name string
	parameter
}

// fields are the parameters of all tools, from their schemas.
func fields(t *testing.T) (out []field) {
	t.Helper()
	for _, spec := range tool.Specs {
		for i, c := range spec.Capabilities {
			var in struct {
				Properties map[string]parameter `json:"properties"`
			}
			must(t, json.Unmarshal(c.Input, &in))
			for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
				if shared := name == "max_tokens" || name == "cursor"; name != "action" && !(shared && i > 0) {
					out = append(out, field{spec.Name, c.Action, name, in.Properties[name]})
				}
			}
		}
		out = append(out, field{spec.Name, "", "workspaceId", parameter{}}, field{spec.Name, "", "channelId", parameter{}}, field{spec.Name, "", "agentId", parameter{}})
	}
	if len(out) < 40 {
		t.Fatalf("only %d parameters: the schemas were not understood", len(out))
	}
	return out
}

// with is an object of arguments in which the field has a value.
func (f field) with(value string) string {
	if f.action != "" {
		return fmt.Sprintf(`{"action":%q,%q:%s}`, f.action, f.name, value)
	}
	return fmt.Sprintf(`{%q:%s}`, f.name, value)
}

// tells says whether a failure names a field.
func (o outcome) tells(name string) bool {
	return strings.Contains(o.message, name) || slices.ContainsFunc(o.details, func(d detail) bool { return d.Pointer == "/"+name || strings.HasPrefix(d.Pointer, "/"+name+"/") })
}

// A client that sends values of every wrong type, twice, under unknown names or nested without end gets an error of the catalogue
// that names the field, the same at every door; never a fault of ours.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	doors := rawDoors(t, testkit.Settings{"project_root": repository(t)})
	values := hostileValues()
	n := 0
	for i, f := range fields(t) {
		calls := map[string]string{"twice": strings.TrimSuffix(f.with(`"x"`), "}") + fmt.Sprintf(`,%q:"y"}`, f.name), "unknown": fmt.Sprintf(`{"%s_":1}`, f.name)}
		for name, v := range values {
			calls[name] = f.with(v)
		}
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			n++
			args := calls[name]
			if every := map[string]int{"megabyte": 12, "deep arrays": 4, "deep objects": 4}[name]; every > 0 && i%every > 0 {
				continue // large ones take their time: a part of the fields gets them
			}
			first := doors[0].call(t, f.tool, args)
			if first.code == "internal_error" || !f.fits(values[name]) && (first.code == "" || !first.tells(f.name)) {
				t.Errorf("rest: %s %s (%s): %.300s", f.tool, args[:min(len(args), 100)], name, first)
			}
			for j, d := range doors[1:] {
				if name == "megabyte" && i/12%3 != j || (n+i+j)%4 > 0 && name != "megabyte" {
					continue
				}
				got := d.call(t, f.tool, args)
				if got.code != first.code || got.tells(f.name) != first.tells(f.name) || got.code == "invalid_arguments" && got.same() != first.same() {
					t.Errorf("%s: %s %s (%s): %.300s\nrest: %.300s", d.name, f.tool, args[:min(len(args), 100)], name, got, first)
				}
			}
		}
	}
}

// The same at the command line, where each argument is a word. Each call starts an engine: a part of the values for each field.
func TestHostileWords(t *testing.T) {
	t.Parallel()
	set := testkit.Settings{"project_root": repository(t)}
	d, s := cliAt(t, set).(cliDoor), restDoor{testkit.Start(t, set)}
	values := hostileValues()
	names := slices.Sorted(maps.Keys(values))
	for i, f := range fields(t) {
		if f.Type == "" {
			continue // the flags are tried elsewhere
		}
		for j := range 1 + i%2 {
			value := values[names[(7*i+j*len(names)/2)%len(names)]]
			words := []string{"call", "--json", "--config", d.file, f.tool, f.name + ":=" + value}
			if f.action != "" {
				words = append(words, "action="+f.action)
			}
			if len(value) > 100_000 {
				continue // the system takes no such word
			}
			code, _, stderr := run(t, words...)
			var e struct {
				Error   string   `json:"error"`
				Code    string   `json:"error_code"`
				Details []detail `json:"details"`
			}
			if code != 0 {
				must(t, json.Unmarshal(stderr, &e))
			}
			got, rest := outcome{code: e.Code, message: e.Error, details: e.Details}, s.Call(t, request{tool: f.tool, args: f.with(value)})
			if got.code != rest.code || got.tells(f.name) != rest.tells(f.name) || code == 1 && got.code == "" {
				t.Errorf("%s %.100s: exit %d, %.300s\nrest: %.300s", f.tool, words[5], code, got, rest)
			}
		}
	}
}
