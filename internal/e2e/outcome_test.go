package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

var uuid7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// E4: every call leaves one primary event with its outcome, and E1: what it changed tells of it as its parent.
func TestE1E4EventsOfACall(t *testing.T) {
	t.Parallel()
	eachDoor(t, testkit.Settings{"project_root": repository(t)}, func(t *testing.T, d door) {
		long := strings.Repeat("x", 1000)
		ok := d.Call(t, request{tool: "ctx_read", args: `{"path":"a.txt"}`, channel: "c", agent: "ada"})
		for _, r := range []request{
			{tool: "ctx_read", args: `{"path":"none.txt"}`},
			{tool: "ctx_read", args: `{"pth":"a.txt"}`},
			{tool: "ctx_reed"},
			{tool: "ctx_session", args: `{"action":"task","value":"the task"}`},
			{tool: "ctx_multi_read", args: `{"paths":["` + strings.Repeat(long+`","`, 5) + `"]}`}, // an empty path: refused, and over 4 KiB
		} {
			r.channel, r.agent = "c", "ada"
			d.Call(t, r)
		}
		d.Call(t, request{tool: "ctx_read", args: `{"path":"a.txt"}`, channel: "c d"}) // belongs nowhere: no event
		want := []string{
			"tool_call_recorded ok ", "tool_call_recorded error tool_error", "tool_call_recorded error invalid_arguments",
			"tool_call_recorded error tool_error", "tool_call_recorded ok ", "session_mutated  ", "tool_call_recorded error invalid_arguments",
		}
		events := recorded(t, d, "c", len(want))
		if len(events) != len(want) {
			t.Fatalf("%d events: %+v", len(events), events)
		}
		for i, e := range events {
			if got := fmt.Sprintf("%s %s %s", e.Kind, e.says("outcome"), e.says("error_code")); got != want[i] {
				t.Errorf("%d: %s, want %s", i, got, want[i])
			}
			if e.Actor == nil || *e.Actor != "ada" || !uuid7.MatchString(e.says("callId")) || e.Version != int64(i+1) {
				t.Errorf("%d: %+v", i, e)
			}
		}
		meta := ok.meta["ctxd/result"].(map[string]any)
		if meta["callId"] != events[0].Payload["callId"] || meta["tokens"] != events[0].Payload["tokens"] {
			t.Errorf("the answer says %v, its event %v", meta, events[0].Payload)
		}
		sum := sha256.Sum256([]byte(ok.text))
		if events[0].says("contentHash") != hex.EncodeToString(sum[:]) || strings.Contains(fmt.Sprint(events[0].Payload), "three") {
			t.Errorf("content or a wrong hash of it: %v", events[0].Payload)
		}
		if p := events[5].ParentID; p == nil || *p != events[4].ID || events[5].Payload["callId"] != events[4].Payload["callId"] {
			t.Errorf("the secondary event: %+v", events[5])
		}
		if e := events[6]; e.Payload["arguments"] != nil || len(e.says("argumentsHash")) != 64 {
			t.Errorf("long arguments: %v", e.Payload)
		}
		if e := events[1]; fmt.Sprint(e.Payload["arguments"]) != "map[path:none.txt]" || e.says("capability") != "cap:ctxd:file:read" {
			t.Errorf("arguments: %v", e.Payload)
		}
	})
}

// The id of a call that failed is known to its caller, at every door in its own way.
func TestE1IDOfAFailure(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"project_root": repository(t)})
	var e struct {
		ID string `json:"request_id"`
	}
	a := s.Call(`{"name":"ctx_read","arguments":{"path":"none.txt"}}`)
	a.Decode(t, &e)
	if e.ID != a.Header.Get("X-Request-Id") {
		t.Errorf("request_id %q, X-Request-Id %q", e.ID, a.Header.Get("X-Request-Id"))
	}
	ids := []string{e.ID}
	for _, name := range []string{`"ctx_read","arguments":{"path":"none.txt"}`, `"ctx_reed"`} {
		a := s.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+name+`}}`)
		found := regexp.MustCompile(`"callId":"([^"]*)"`).FindSubmatch(a.Body)
		if found == nil {
			t.Fatalf("no callId in %s", a.Body)
		}
		ids = append(ids, string(found[1]))
	}
	events := history(t, s, "default")
	for i, id := range ids {
		if events[i].says("callId") != id {
			t.Errorf("call %d has the id %s, its event %s", i, id, events[i].says("callId"))
		}
	}
}

// A parent names the event that caused a call; one of another workspace is as if it did not exist.
func TestE1Parent(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, threeRoots(t))
	s.Call(`{"name":"ctx_session"}`)
	first := history(t, s, "default")[0]
	a := s.Call(fmt.Sprintf(`{"name":"ctx_session","parentEventId":%d}`, first.ID))
	b := s.Call(fmt.Sprintf(`{"name":"ctx_session","parentEventId":%d,"workspaceId":"two"}`, first.ID))
	c := s.Call(`{"name":"ctx_session","parentEventId":999999}`)
	if a.Status != http.StatusOK || b.Code() != "invalid_request" || c.Code() != "invalid_request" {
		t.Errorf("%s\n%s\n%s", a.Body, b.Body, c.Body)
	}
	if p := history(t, s, "default")[1].ParentID; p == nil || *p != first.ID {
		t.Errorf("the parent is %v", p)
	}
}

// tokens are configured tokens, each named as its secret is: "secret-of-ID".
func tokens(list ...map[string]any) []map[string]any {
	for _, tok := range list {
		sum := sha256.Sum256([]byte(fmt.Sprint("secret-of-", tok["id"])))
		tok["sha256Hex"] = hex.EncodeToString(sum[:])
	}
	return list
}

func bearer(id string) string { return "Bearer secret-of-" + id }

// A6: a scope that lacks is told before the tool runs, and the denial is an event; over MCP it is an error of JSON-RPC.
func TestA6Scopes(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, with(threeRoots(t), testkit.Settings{"tokens": tokens(
		map[string]any{"id": "reader", "scopes": []string{"search"}, "workspaces": []string{"one"}},
		map[string]any{"id": "auditor", "scopes": []string{"events", "audit", "session_mutations"}},
	)}))
	rpc := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session","arguments":{"action":"task","value":"x"}}}`
	a := s.Call(`{"name":"ctx_session","arguments":{"action":"task","value":"x"}}`, "Authorization", bearer("reader"))
	b := s.Do(http.MethodPost, "/mcp", rpc, "Authorization", bearer("reader"))
	if a.Status != http.StatusForbidden || a.Code() != "scope_denied" || !strings.Contains(string(a.Body), "sessionMutations") {
		t.Errorf("rest: %d %s", a.Status, a.Body)
	}
	if got := rpcOutcome(t, b.Body); b.Status != http.StatusOK || got.code != "scope_denied" || got.isError {
		t.Errorf("mcp: %d %s", b.Status, b.Body)
	}
	if a := s.Call(`{"name":"ctx_session","arguments":{"action":"task","value":"x"}}`, "Authorization", bearer("auditor")); a.Status != http.StatusOK {
		t.Errorf("the other spelling of the scope: %d %s", a.Status, a.Body)
	}
	if a := s.Call(`{"name":"ctx_read","arguments":{"path":"name.txt"}}`, "Authorization", bearer("auditor")); a.Code() != "scope_denied" {
		t.Errorf("reading without search: %d %s", a.Status, a.Body)
	}
	for _, path := range []string{"/v1/events", "/v1/metrics"} {
		if a := s.Get(path, "Authorization", bearer("reader")); a.Status != http.StatusForbidden || a.Code() != "scope_denied" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	for i, e := range history(t, s, "default", "Authorization", bearer("auditor")) {
		if outcome := []string{"denied", "denied", "ok", "", "denied"}[i]; e.says("outcome") != outcome {
			t.Errorf("event %d: %+v", i, e)
		}
		if who := []string{"team:reader", "team:reader", "team:auditor", "team:auditor", "team:auditor"}[i]; *e.Actor != who {
			t.Errorf("event %d: %s, want %s", i, *e.Actor, who)
		}
	}
}

// A6: a workspace that is not served and one that the token is not bound to get the same answer everywhere.
func TestA6UnknownAndForeignWorkspaceAlike(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, with(threeRoots(t), testkit.Settings{"tokens": tokens(
		map[string]any{"id": "bound", "scopes": []string{"search", "events", "audit"}, "workspaces": []string{"one"}},
	)}))
	strip := regexp.MustCompile(`"(request_id|callId)":"[^"]*"`)
	ask := func(workspace string) (all []string) {
		for _, path := range []string{"/v1/tools", "/v1/events", "/v1/events/search?q=a", "/v1/events/lineage?id=1", "/v1/context/summary", "/v1/metrics"} {
			all = append(all, string(s.Get(path, "Authorization", bearer("bound"), "x-leanctx-workspace", workspace).Body))
		}
		all = append(all, string(s.Call(`{"name":"ctx_read","workspaceId":"`+workspace+`","arguments":{"path":"name.txt"}}`, "Authorization", bearer("bound")).Body))
		all = append(all, string(s.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_read","arguments":{"workspaceId":"`+workspace+`","path":"name.txt"}}}`,
			"Authorization", bearer("bound")).Body))
		for i, text := range all {
			all[i] = strip.ReplaceAllString(text, "")
			if !strings.Contains(text, "unknown_workspace") {
				t.Errorf("%s: %s", workspace, text)
			}
		}
		return all
	}
	if foreign, unknown := ask("two"), ask("nowhere"); fmt.Sprint(foreign) != fmt.Sprint(unknown) {
		t.Errorf("%s\n%s", foreign, unknown)
	}
}

// A8: what is refused is refused by every tool, whether it is read, searched or listed.
func TestA8RefusedFiles(t *testing.T) {
	t.Parallel()
	root := repository(t)
	eachDoor(t, testkit.Settings{"project_root": root, "refused_files": []string{".env*", "*.pem", "src/deep/"}}, func(t *testing.T, d door) {
		for _, name := range []string{".env", "key.pem", "src/deep/x.go", ".git/config", ".GIT/config", filepath.Join(root, ".env"), "src/../.env", "./.git/./config"} {
			for tool, args := range map[string]string{
				"ctx_read": `{"path":%q,"mode":"reference"}`, "ctx_smart_read": `{"path":%q,"fresh":true}`, "ctx_tree": `{"path":%q}`, "ctx_search": `{"pattern":".","path":%q}`,
			} {
				if got := d.Call(t, request{tool: tool, args: fmt.Sprintf(args, name)}); got.code != "tool_error" || len(got.details) == 0 || got.details[0].Reason != "refused" {
					t.Errorf("%s %s: %v", tool, name, got)
				}
			}
			got := d.Call(t, request{tool: "ctx_multi_read", args: fmt.Sprintf(`{"paths":["a.txt",%q]}`, name)})
			if !strings.Contains(got.data, `"failed":1`) || !strings.Contains(got.data, `"reason":"refused"`) {
				t.Errorf("ctx_multi_read %s: %v", name, got)
			}
		}
		for _, r := range []request{
			{tool: "ctx_search", args: `{"pattern":"SECRET|PRIVATE KEY|says hello|\\[core\\]"}`},
			{tool: "ctx_tree", args: `{"show_hidden":true,"respect_gitignore":false,"depth":9}`},
		} {
			got := d.Call(t, r)
			for _, leak := range []string{"SECRET", "PRIVATE", "says hello", "[core]", ".env", "key.pem", "x.go", `".git`} {
				if strings.Contains(got.text, leak) || strings.Contains(got.data, leak) {
					t.Errorf("%s shows %q: %v", r.tool, leak, got)
				}
			}
		}
	})
}
