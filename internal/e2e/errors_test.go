package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	gentool "github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/rest"
	"github.com/ctxd/ctxd/internal/store"
	"github.com/ctxd/ctxd/internal/testkit"
)

const hidden = "a secret of the process"

// panicky has tools that panic: in the handler, and in the transaction of the call.
type panicky struct{ action.Handlers }

func (panicky) CtxTree(context.Context, *action.Call, gentool.CtxTreeInput) (*answer.Answer[gentool.CtxTreeOutput], error) {
	panic(hidden)
}

func (panicky) CtxSessionTask(_ context.Context, call *action.Call, _ gentool.CtxSessionTaskInput) (*answer.Answer[gentool.Session], error) {
	call.Unit.Change(func(*store.Tx) (action.Effect, error) { panic(hidden) })
	return &answer.Answer[gentool.Session]{}, nil
}

// CtxTaskGet answers against its own schema.
func (panicky) CtxTaskGet(context.Context, *action.Call, gentool.CtxTaskGetInput) (*answer.Answer[gentool.TaskResult], error) {
	return nil, nil // a nil answer: the pipeline itself breaks on it
}

// X1: a panic is 500 internal at every door; its cause is in the log, and nothing of it is sent.
func TestX1Panics(t *testing.T) {
	t.Parallel()
	c := compose(t, plan{tools: func(h action.Handlers) action.Handlers { return panicky{h} }})
	for name, args := range map[string]string{"ctx_tree": "{}", "ctx_session": setTask, "ctx_task": `{"action":"get","task_id":"t1"}`} {
		for way, call := range ways(name, args) {
			resp, err := call(t.Context(), c.Server)
			if err != nil {
				t.Fatal(err)
			}
			body := make([]byte, 4096)
			n, _ := resp.Body.Read(body) // the client has read it all
			text := string(body[:n])
			if !strings.Contains(text, `"error_code":"internal"`) || strings.Contains(text, hidden) || strings.Contains(text, "goroutine") || strings.Contains(text, ".go:") {
				t.Errorf("%s %s: %d %s", name, way, resp.StatusCode, text)
			}
			if way == "rest" && resp.StatusCode != http.StatusInternalServerError {
				t.Errorf("%s: %d", name, resp.StatusCode)
			}
		}
	}
	in, out := c.pipe(t)
	if _, err := fmt.Fprint(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_tree"}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 2 {
		line, err := lines.ReadString('\n')
		if err != nil || strings.Contains(line, `"id":1`) && !strings.Contains(line, `"error_code":"internal"`) || strings.Contains(line, hidden) {
			t.Errorf("%s %v", line, err)
		}
	}
	if a := c.Get("/v1/tools"); a.Status != http.StatusOK {
		t.Errorf("afterwards: %d", a.Status)
	}
}

// X1: a panic above the pipeline too; the log names it under the request id. What the client has seen of an answer by then is
// cut off.
func TestX1PanicInADoor(t *testing.T) {
	t.Parallel()
	c := compose(t, plan{rest: func(r *rest.Config) {
		r.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Late") != "" {
				w.WriteHeader(http.StatusOK)
			}
			panic(hidden)
		})
	}})
	a := c.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	id := a.Header.Get("X-Request-Id")
	if a.Status != http.StatusInternalServerError || a.Code() != "internal" || strings.Contains(string(a.Body), hidden) || !strings.Contains(string(a.Body), id) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if logs := c.Logs.String(); !strings.Contains(logs, hidden) || !strings.Contains(logs, id) {
		t.Errorf("the log: %s", logs)
	}
}

// R4 and X1: a query that cannot be read is 400, whatever is wrong with it; caps clamp and are echoed.
func TestR4Queries(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	many := strings.Repeat("x", 5000)
	numbers := []string{"abc", "1.5", "1e3", "", "%20", "0x10", "99999999999999999999", "-99999999999999999999", "+1", "1,2", "null", "%00", many, "-1"}
	for path, params := range map[string][]string{
		"/v1/tools":           {"limit", "offset"},
		"/v1/events":          {"limit", "since"},
		"/v1/events/search":   {"limit"},
		"/v1/events/lineage":  {"depth", "id"},
		"/v1/context/summary": {"limit"},
	} {
		base := map[string]string{"/v1/events/search": "q=a&", "/v1/events/lineage": "id=1&"}[path]
		for _, p := range params {
			if p == "id" {
				base = ""
			}
			for _, v := range numbers {
				if v == "+1" {
					continue // a space in a query
				}
				if a := s.Get(path + "?" + base + p + "=" + v); a.Status != http.StatusBadRequest || a.Code() != "invalid_request" {
					t.Errorf("%s %s=%.30s: %d %.300s", path, p, v, a.Status, a.Body)
				}
			}
			if a := s.Get(path + "?" + base + p + "=1&" + p + "=2"); a.Code() != "invalid_request" {
				t.Errorf("%s, %s twice: %d %s", path, p, a.Status, a.Body)
			}
			if p != "offset" && p != "since" && path != "/v1/tools" {
				if a := s.Get(path + "?" + base + p + "=0"); a.Code() != "invalid_request" {
					t.Errorf("%s %s=0: %d %s", path, p, a.Status, a.Body)
				}
			}
		}
	}
	for _, path := range []string{
		"/v1/events/search", "/v1/events/search?q=", "/v1/events/search?q=%20", "/v1/events/lineage", "/v1/events?kind=nope", "/v1/events?kind=", "/v1/events?kind=session_mutated,",
		"/v1/events?replay=some", "/v1/events?redaction=none", "/v1/events/search?q=a&redaction=", "/v1/metrics?format=xml", "/v1/metrics?format=", "/v1/events?channelId=a%20b",
		"/v1/events?channelId=", "/v1/context/summary?channelId=..", "/v1/context/summary?workspaceId=", "/v1/events/search?q=a&channelId=%00", "/v1/events?workspaceId=a&workspaceId=b",
		"/v1/tools?limit=%zz", "/v1/tools?limit=1;offset=2",
	} {
		if a := s.Get(path); a.Status != http.StatusBadRequest || a.Code() != "invalid_request" {
			t.Errorf("%s: %d %.300s", path, a.Status, a.Body)
		}
	}
	for path, echoed := range map[string]string{
		"/v1/tools?limit=1000000000": `"limit":500`, "/v1/events/search?q=a&limit=1000000000": `"limit":100`, "/v1/events/search?q=a": `"limit":20`,
	} {
		if a := s.Get(path); !strings.Contains(string(a.Body), echoed) {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	for _, path := range []string{"/v1/events/search?q=a", "/v1/events/lineage?id=9", "/v1/context/summary", "/v1/tools?limit=0"} {
		if a := s.Get(path); strings.Contains(string(a.Body), ":null") && !strings.Contains(path, "search") {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	for _, id := range []string{"x", "", "-1", "1.5", "99999999999999999999"} {
		if a := s.Get("/v1/events", "Last-Event-ID", id); a.Code() != "invalid_request" {
			t.Errorf("Last-Event-ID %q: %d %s", id, a.Status, a.Body)
		}
	}
}

// R8: a deprecated route says so in every answer, be it a failure.
func TestR8Deprecations(t *testing.T) {
	t.Parallel()
	c := compose(t, plan{rest: func(r *rest.Config) {
		r.Deprecated = []catalog.DeprecationRow{{Surface: "operation listTools", Since: "0.1.0", Replacement: `"ask" elsewhere`, Removal: "0.3.0"}}
	}})
	for path, want := range map[string]string{
		"/v1/tools":         `299 - "deprecated since 0.1.0, removed in 0.3.0 at the earliest: 'ask' elsewhere"`,
		"/v1/tools?limit=x": `299 - "deprecated since 0.1.0, removed in 0.3.0 at the earliest: 'ask' elsewhere"`,
		"/v1/manifest":      "",
	} {
		if a := c.Get(path); a.Header.Get("Warning") != want {
			t.Errorf("%s: %q", path, a.Header.Get("Warning"))
		}
	}
	for _, d := range catalog.Deprecations {
		if d.Since == "" || d.Removal == "" || d.Replacement == "" {
			t.Errorf("%+v", d)
		}
	}
}

// An answer at the deadline of a call is heard: the time to send it begins when there is something to send.
func TestAnswerAfterAWhile(t *testing.T) {
	t.Parallel()
	b := newBlocker()
	c := compose(t, plan{tools: b.before, timeout: 200 * time.Millisecond, rest: func(r *rest.Config) { r.WriteTimeout = 50 * time.Millisecond }})
	if a := c.Call(`{"name":"ctx_tree"}`); a.Status != http.StatusGatewayTimeout || a.Code() != "request_timeout" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
