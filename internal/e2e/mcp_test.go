package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/testkit"
	"github.com/ctxd/ctxd/internal/token"
)

var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const newest = "2026-07-28"

// rpcCall is a request of JSON-RPC as a version of MCP wants it.
func rpcCall(version, method, params string) (body string, headers []string) {
	if params == "" {
		params = "{}"
	}
	if version == newest {
		params = strings.TrimSuffix(params, "}")
		if params != "{" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}}`
		headers = []string{"Mcp-Method", method}
		var p struct{ Name string }
		if json.Unmarshal([]byte(params), &p) == nil && p.Name != "" {
			headers = append(headers, "Mcp-Name", p.Name)
		}
	}
	if version > "2025-03-26" {
		headers = append(headers, "Mcp-Protocol-Version", version)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), headers
}

const initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// Every version of MCP: handshake, list and call, over HTTP without and with sessions, and over stdio.
func TestMCPVersions(t *testing.T) {
	t.Parallel()
	root := repository(t)
	stateless := testkit.Start(t, testkit.Settings{"project_root": root})
	stateful := testkit.Start(t, testkit.Settings{"project_root": root, "stateful_mode": true})
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			converse(t, v, overHTTP(t, stateless, v))
			if v != newest { // it has no sessions
				converse(t, v, overHTTP(t, stateful, v))
			}
			in, out := serveStdio(t, onData(t, testkit.Settings{"project_root": root}))
			lines := bufio.NewReader(out)
			converse(t, v, func(body string, _ []string) []byte {
				if _, err := io.WriteString(in, body+"\n"); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(body, "notifications/") {
					return nil
				}
				line, err := lines.ReadBytes('\n')
				if err != nil {
					t.Fatal(err)
				}
				return line
			})
		})
	}
	for method, c := range map[string]struct {
		params string
		status int
		code   string
	}{"nope": {"", 404, "not_found"}, "tools/call": {`{"name":"ctx_reed"}`, 400, "tool_error"}} { // X3: this version has statuses of its own
		body, headers := rpcCall(newest, method, c.params)
		if a := stateless.Do("POST", "/mcp", body, headers...); a.Status != c.status || a.Code() != c.code {
			t.Errorf("%s %s: %d %s", newest, method, a.Status, a.Body)
		}
	}
	for _, v := range versions {
		body, headers := rpcCall(v, "tools/list", "")
		noNull(t, stateless.Do("POST", "/mcp", body, headers...).Body)
	}
	a := stateful.Do("POST", "/mcp", first(rpcCall(newest, "tools/list", "")), second(rpcCall(newest, "tools/list", ""))...)
	if a.Status != http.StatusBadRequest || a.Code() == "" || !strings.Contains(string(a.Body), "2025-11-25") {
		t.Errorf("%s with sessions: %d %s", newest, a.Status, a.Body)
	}
}

func first(a string, _ []string) string    { return a }
func second(_ string, b []string) []string { return b }

func overHTTP(t *testing.T, s *testkit.Server, version string) func(string, []string) []byte {
	session := ""
	return func(body string, headers []string) []byte {
		t.Helper()
		if session != "" {
			headers = append(headers, "Mcp-Session-Id", session)
		}
		a := s.Do("POST", "/mcp", body, headers...)
		if id := a.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		want := http.StatusOK
		if strings.Contains(body, "notifications/") {
			want = http.StatusAccepted
		}
		if a.Status != want {
			t.Errorf("%s %s: %d %s", version, body, a.Status, a.Body)
		}
		return a.Body
	}
}

// converse is what a client does first.
func converse(t *testing.T, version string, ask func(body string, headers []string) []byte) {
	t.Helper()
	if version != newest {
		got := ask(fmt.Sprintf(initialize, version), nil)
		if !strings.Contains(string(got), `"protocolVersion":"`+version+`"`) || !strings.Contains(string(got), `"id":"init"`) {
			t.Errorf("%s: %s", version, got)
		}
		_, headers := rpcCall(version, "notifications/initialized", "")
		ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers)
	} else if got := ask(rpcCall(version, "server/discover", "")); !strings.Contains(string(got), version) {
		t.Errorf("%s: %s", version, got)
	}
	var list struct {
		Result struct {
			Tools []json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	got := ask(rpcCall(version, "tools/list", ""))
	if err := json.Unmarshal(got, &list); err != nil || len(list.Result.Tools) != len(tool.Specs) {
		t.Errorf("%s: %v %s", version, err, got)
	}
	if o := rpcOutcome(t, ask(rpcCall(version, "tools/call", `{"name":"ctx_read","arguments":{"path":"a.txt"}}`))); o.text != "a.txt 5L\none\ntwo\nthree\nfour\nfive\n" || o.meta["ctxd/result"] == nil {
		t.Errorf("%s: %v", version, o)
	}
	if o := rpcOutcome(t, ask(rpcCall(version, "tools/call", `{"name":"ctx_read","arguments":{"path":"none"}}`))); !o.isError || o.code != "tool_error" || o.meta["callId"] == nil {
		t.Errorf("%s: %v", version, o)
	}
}

// The official client connects over each transport, lists and calls.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	root := repository(t)
	s := testkit.Start(t, testkit.Settings{"project_root": root})
	in, out := serveStdio(t, onData(t, testkit.Settings{"project_root": root}))
	for name, transport := range map[string]mcp.Transport{
		"http":  &mcp.StreamableClientTransport{Endpoint: s.URL + "/mcp", HTTPClient: s.Client, MaxRetries: -1},
		"stdio": &mcp.IOTransport{Reader: out, Writer: in},
	} {
		session := connect(t, transport)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != len(tool.Specs) {
			t.Fatalf("%s: %v %v", name, err, list)
		}
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ctx_search", Arguments: map[string]any{"pattern": "three"}})
		if err != nil || res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "a.txt:3: three") {
			t.Errorf("%s: %v %v", name, err, res)
		}
		if err := session.Ping(t.Context(), nil); name == "stdio" && err != nil && !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// T2: what tools/list of the default preset costs a conversation; a preset chooses, and what it hides stays callable.
func TestT2ToolListAndPresets(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, preset := range []string{"coding", "full"} {
		s := testkit.Start(t, testkit.Settings{"project_root": root, "preset": preset})
		a := s.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var m struct {
			Result json.RawMessage `json:"result"`
		}
		a.Decode(t, &m)
		n, err := token.Count(t.Context(), string(m.Result))
		if err != nil || preset == "coding" && n > 3000 {
			t.Errorf("%s: %d tokens, %v", preset, n, err)
		}
		t.Logf("tools/list of %s: %d tokens", preset, n)
		var list struct {
			Tools []struct{ Name string } `json:"tools"`
		}
		if err := json.Unmarshal(m.Result, &list); err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for _, e := range list.Tools {
			listed[e.Name] = true
		}
		for _, spec := range tool.Specs {
			want := preset == "full"
			for _, p := range spec.Presets {
				want = want || p == preset
			}
			if listed[spec.Name] != want {
				t.Errorf("%s lists %s: %v", preset, spec.Name, listed[spec.Name])
			}
			if a := s.Call(`{"name":"` + spec.Name + `"}`); strings.Contains(string(a.Body), "unknown tool") {
				t.Errorf("%s: %s cannot be called", preset, spec.Name)
			}
		}
	}
	if code, _, stderr := run(t, "serve", "--preset", "nope", "--project-root", root, "--data-dir", t.TempDir()+"/d", "--port", "0"); code == 0 || !strings.Contains(string(stderr), "coding") {
		t.Errorf("an unknown preset: %d %s", code, stderr)
	}
}
