package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// threeRoots are workspaces that each have a file with their name in it; one is the default.
func threeRoots(t testing.TB) testkit.Settings {
	t.Helper()
	var list []map[string]any
	for _, id := range []string{"one", "two", "three"} {
		list = append(list, map[string]any{"id": id, "root": testkit.Write(t, map[string]string{"name.txt": "this is " + id + "\n"})})
	}
	return testkit.Settings{"workspaces": list, "defaultWorkspaceId": "one"}
}

// A4: the body wins over the header, the header over the query, the query over the default; header and query must agree.
func TestA4Precedence(t *testing.T) {
	t.Parallel()
	eachDoor(t, threeRoots(t), func(t *testing.T, d door) {
		_, isREST := d.(restDoor)
		_, isStateless := d.(statelessDoor)
		for _, c := range []struct{ body, header, query, want string }{
			{"", "", "", "one"},
			{"two", "", "", "two"},
			{"", "two", "", "two"},
			{"", "", "two", "two"},
			{"three", "two", "", "three"},
			{"three", "", "two", "three"},
			{"three", "two", "two", "three"},
			{"", "two", "two", "two"},
			{"", "two", "three", "invalid_request"},
			{"one", "two", "three", "invalid_request"},
			{"nowhere", "two", "", "unknown_workspace"},
			{"two", "nowhere", "", "two"},
			{"", "nowhere", "", "unknown_workspace"},
			{"", "", "nowhere", "unknown_workspace"},
			{"two", "..", "", "invalid_request"},
			{"two", "", "a/b", "invalid_request"},
			{"a b", "two", "", "invalid_request"},
			{"ONE", "", "", "unknown_workspace"},
		} {
			if (c.header != "" || c.query != "") && !isREST && !isStateless {
				continue
			}
			got := d.Call(t, request{tool: "ctx_read", args: `{"path":"name.txt"}`, workspace: c.body, header: c.header, query: c.query})
			if is := got.code + strings.TrimPrefix(strings.TrimSuffix(got.text, "\n"), "name.txt 1L\nthis is "); is != c.want {
				t.Errorf("%+v: %v", c, got)
			}
		}
	})
}

// R7: what names who and where inside the arguments counts as if it stood beside them; two values are refused.
func TestR7Siblings(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, threeRoots(t))
	for body, code := range map[string]string{
		`{"name":"ctx_session","arguments":{"workspaceId":"two"},"workspaceId":"two"}`:   "",
		`{"name":"ctx_session","arguments":{"workspaceId":"two"},"workspaceId":"three"}`: "invalid_request",
		`{"name":"ctx_session","arguments":{"channelId":"c"},"channelId":"c"}`:           "",
		`{"name":"ctx_session","arguments":{"channelId":"c"},"channelId":"d"}`:           "invalid_request",
		`{"name":"ctx_session","arguments":{"agentId":"ada"}}`:                           "",
		`{"name":"ctx_session","arguments":{"agentId":null}}`:                            "invalid_request",
		`{"name":"ctx_session","conversationId":"c1"}`:                                   "",
		`{"name":"ctx_session","arguments":{"conversationId":"c1"}}`:                     "invalid_arguments",
		`{"name":"ctx_session","agentId":"ada"}`:                                         "invalid_request", // it stands nowhere but inside
		`{"name":"ctx_session","idempotencyKey":"k"}`:                                    "invalid_request", // not in this build: refused, not ignored
	} {
		if a := s.Call(body); a.Code() != code {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	for agent, code := range map[string]string{"ada": "", "bob": "invalid_request"} {
		a := s.Call(`{"name":"ctx_session","arguments":{"agentId":"ada"}}`, "X-Agent-Id", agent)
		if a.Code() != code {
			t.Errorf("X-Agent-Id %s: %d %s", agent, a.Status, a.Body)
		}
		b := s.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session","arguments":{"agentId":"ada"}}}`, "X-Agent-Id", agent)
		if got := rpcOutcome(t, b.Body); got.code != code {
			t.Errorf("mcp, X-Agent-Id %s: %v", agent, got)
		}
	}
	for conversation, code := range map[string]string{"c1": "", "c2": "invalid_request", "": "invalid_request", "a/b": "invalid_request"} {
		if a := s.Call(`{"name":"ctx_session","conversationId":"c1"}`, "X-Conversation-Id", conversation); a.Code() != code {
			t.Errorf("X-Conversation-Id %q: %d %s", conversation, a.Status, a.Body)
		}
	}
}

// A name that stands twice in the headers or the query is no name: REST and MCP refuse it alike.
func TestRepeatedNames(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, threeRoots(t))
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session"}}`
	for _, h := range []string{"x-leanctx-workspace", "X-Agent-Id", "X-Conversation-Id"} {
		for _, values := range [][2]string{{"two", "three"}, {"two", "two"}} {
			for path, body := range map[string]string{"/v1/tools/call": `{"name":"ctx_session"}`, "/mcp": call} {
				if a := s.Do(http.MethodPost, path, body, h, values[0], h, values[1]); a.Status != http.StatusBadRequest || a.Code() != "invalid_request" {
					t.Errorf("%s %v at %s: %d %s", h, values, path, a.Status, a.Body)
				}
			}
		}
	}
	for path, body := range map[string]string{"/v1/tools/call": `{"name":"ctx_session"}`, "/mcp": call} {
		if a := s.Do(http.MethodPost, path+"?workspaceId=two&workspaceId=three", body); a.Code() != "invalid_request" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// A request that touches no workspace is still refused when it names one that is not there, at REST and MCP alike.
func TestUnknownWorkspaceAnywhere(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, threeRoots(t))
	for _, path := range []string{"/v1/manifest", "/v1/capabilities", "/v1/openapi.json", "/v1/tools", "/v1/metrics", "/v1/events", "/v1/events/search?q=a", "/v1/events/lineage?id=1", "/v1/context/summary"} {
		if a := s.Get(path, "x-leanctx-workspace", "nowhere"); a.Code() != "unknown_workspace" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		if a := s.Get(path, "x-leanctx-workspace", "no where"); a.Code() != "invalid_request" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	for _, method := range []string{"tools/list", "ping"} {
		a := s.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`, "x-leanctx-workspace", "nowhere")
		if a.Code() != "unknown_workspace" {
			t.Errorf("%s: %d %s", method, a.Status, a.Body)
		}
	}
}

// A3: the grammar of ids at every door, never mended; what belongs to a channel stays in it.
func TestA3Ids(t *testing.T) {
	t.Parallel()
	eachDoor(t, testkit.Settings{"project_root": repository(t)}, func(t *testing.T, d door) {
		for _, id := range []string{"a", "A.b_c-9", "...", "-", "_", ".a", strings.Repeat("x", 64)} {
			if got := d.Call(t, request{tool: "ctx_session", channel: id}); got.code != "" || !strings.Contains(got.text, "/"+id+"\n") {
				t.Errorf("%q: %v", id, got)
			}
		}
		for _, id := range []string{".", "..", "a/b", "a b", " a", "a ", "a\n", "ä", "a:b", "a%2fb", "a\\b", "*", "é", strings.Repeat("x", 65)} {
			for _, r := range []request{{tool: "ctx_session", channel: id}, {tool: "ctx_session", workspace: id}} {
				if got := d.Call(t, r); got.code != "invalid_request" {
					t.Errorf("%+v: %v", r, got)
				}
			}
		}
		d.Call(t, request{tool: "ctx_session", channel: "one", args: `{"action":"task","value":"of one"}`})
		if got := d.Call(t, request{tool: "ctx_session", channel: "two"}); !strings.Contains(got.text, "task: none") {
			t.Errorf("%v", got)
		}
		if got := d.Call(t, request{tool: "ctx_task", channel: "two"}); !strings.Contains(got.text, "0 tasks") {
			t.Errorf("%v", got)
		}
	})
}
