package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	gentool "github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/testkit"
)

// blocker has two tools that run until their context ends: one that only reads, and one that changes something and takes no
// notice of the end.
type blocker struct {
	action.Handlers
	started chan struct{}
	ended   chan time.Time
}

func newBlocker() *blocker {
	return &blocker{started: make(chan struct{}, 16), ended: make(chan time.Time, 16)}
}

func (b *blocker) before(h action.Handlers) action.Handlers { b.Handlers = h; return b }

func (b *blocker) wait(ctx context.Context) {
	b.started <- struct{}{}
	<-ctx.Done()
	b.ended <- time.Now()
}

func (b *blocker) CtxTree(ctx context.Context, _ *action.Call, _ gentool.CtxTreeInput) (*answer.Answer[gentool.CtxTreeOutput], error) {
	b.wait(ctx)
	return nil, ctx.Err()
}

func (b *blocker) CtxSessionTask(ctx context.Context, call *action.Call, in gentool.CtxSessionTaskInput) (*answer.Answer[gentool.Session], error) {
	a, err := b.Handlers.CtxSessionTask(ctx, call, in)
	b.wait(ctx)
	return a, err
}

// ways are the calls of a tool over HTTP, by name.
func ways(name, args string) map[string]func(ctx context.Context, s *testkit.Server) (*http.Response, error) {
	post := func(path, body string, headers ...string) func(context.Context, *testkit.Server) (*http.Response, error) {
		return func(ctx context.Context, s *testkit.Server) (*http.Response, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, strings.NewReader(body))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			return s.Client.Do(r)
		}
	}
	const rpc = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`
	const newest = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	return map[string]func(context.Context, *testkit.Server) (*http.Response, error){
		"rest": post("/v1/tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args)),
		"mcp":  post("/mcp", fmt.Sprintf(rpc, name, args, "")),
		"mcp 2026-07-28": post("/mcp", fmt.Sprintf(rpc, name, args, newest),
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name),
		"mcp elsewhere": post("/any/path", fmt.Sprintf(rpc, name, args, "")),
		"mcp batch":     post("/mcp", "["+fmt.Sprintf(rpc, name, args, "")+"]"),
	}
}

const setTask = `{"action":"task","value":"never"}`

// Case 29: when the client goes away, the context of its call ends within 50 ms, nothing is committed and no goroutine stays.
// Not parallel: it counts goroutines.
func TestClientGoesAway(t *testing.T) {
	for name, args := range map[string]string{"ctx_tree": "{}", "ctx_session": setTask} {
		for way, call := range ways(name, args) {
			t.Run(name+" "+way, func(t *testing.T) {
				b := newBlocker()
				c := compose(t, plan{tools: b.before})
				if _, err := c.Client.Get(c.URL + "/health"); err != nil {
					t.Fatal(err)
				}
				here := goleak.IgnoreCurrent()
				best := time.Hour
				tries := 0
				for ; tries < 20 && best > 50*time.Millisecond; tries++ {
					best = min(best, leave(t, c.Server, b, call))
				}
				if best > 50*time.Millisecond {
					t.Errorf("the context ended after %v", best)
				}
				c.Client.CloseIdleConnections()
				if err := goleak.Find(here); err != nil {
					t.Error(err)
				}
				for _, e := range history(t, c.Server, "default") {
					if e.Kind != "tool_call_recorded" || e.says("outcome") != "error" || e.says("error_code") != "request_canceled" {
						t.Errorf("%+v", e)
					}
				}
				if o := (restDoor{c.Server}).Call(t, request{tool: "ctx_session"}); !strings.Contains(o.text, "session v0") {
					t.Errorf("something was committed: %v", o)
				}
			})
		}
	}
}

// Case 29 in a session: the call ends, the session does not.
func TestClientGoesAwayFromSession(t *testing.T) {
	t.Parallel()
	b := newBlocker()
	c := compose(t, plan{tools: b.before, stateful: true})
	id := begin(t, c.Server)
	call := func(ctx context.Context, s *testkit.Server) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ctx_tree"}}`))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Session-Id", id)
		return s.Client.Do(r)
	}
	best := time.Hour
	for tries := 0; tries < 10 && best > 50*time.Millisecond; tries++ {
		best = min(best, leave(t, c.Server, b, call))
	}
	if best > 50*time.Millisecond {
		t.Errorf("the context ended after %v", best)
	}
	if a := c.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":10,"method":"ping"}`, "Mcp-Session-Id", id); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// leave goes away during a call, and says how long the call went on.
func leave(t *testing.T, s *testkit.Server, b *blocker, call func(context.Context, *testkit.Server) (*http.Response, error)) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := call(ctx, s); err == nil {
			t.Errorf("answered %d", resp.StatusCode)
		}
	}()
	<-b.started
	gone := time.Now()
	cancel()
	<-done
	return (<-b.ended).Sub(gone)
}

// L2: a call that takes too long is ended and said to be, and nothing of it is committed.
func TestL2NothingOfATimeoutIsCommitted(t *testing.T) {
	t.Parallel()
	for way, call := range ways("ctx_session", setTask) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := newBlocker()
			c := compose(t, plan{tools: b.before, timeout: 2 * time.Second})
			resp, err := call(t.Context(), c.Server)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || !strings.Contains(string(body), `"error_code":"request_timeout"`) {
				t.Errorf("%d %s %v", resp.StatusCode, body, err)
			}
			if want := map[bool]int{true: http.StatusGatewayTimeout, false: http.StatusOK}[way == "rest"]; resp.StatusCode != want {
				t.Errorf("status %d", resp.StatusCode)
			}
			<-b.ended
			uncommitted(t, c.Server)
		})
	}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		b := newBlocker()
		c := compose(t, plan{tools: b.before, timeout: 2 * time.Second})
		in, out := c.pipe(t)
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session","arguments":%s}}`+"\n", setTask); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for range 2 {
			line, err := lines.ReadString('\n')
			if err != nil || strings.Contains(line, `"id":1`) && !strings.Contains(line, `"error_code":"request_timeout"`) {
				t.Errorf("%s %v", line, err)
			}
		}
		uncommitted(t, c.Server)
	})
}

func uncommitted(t *testing.T, s *testkit.Server) {
	t.Helper()
	events := history(t, s, "default")
	if len(events) != 1 || events[0].says("outcome") != "timeout" || events[0].says("error_code") != "request_timeout" {
		t.Errorf("%+v", events)
	}
	if o := (restDoor{s}).Call(t, request{tool: "ctx_session"}); !strings.Contains(o.text, "session v0") || !strings.Contains(o.text, "task: none") {
		t.Errorf("something was committed: %v", o)
	}
}

// L2 at every door as configured: a search that cannot be done in a millisecond.
func TestL2RequestTimeout(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 1500 {
		files[fmt.Sprintf("d%d/f%d.txt", i%30, i)] = strings.Repeat("nothing that is looked for\n", 40)
	}
	eachDoor(t, testkit.Settings{"project_root": testkit.Write(t, files), "request_timeout_ms": 1}, func(t *testing.T, d door) {
		got := d.Call(t, request{tool: "ctx_search", args: `{"pattern":"(looked|for).*(x|y)+z","max_results":1}`, channel: "c"})
		if got.code != "request_timeout" || got.text != "" {
			t.Errorf("%v", got)
		}
		events := recorded(t, d, "c", 1)
		if len(events) != 1 || events[0].says("outcome") != "timeout" {
			t.Errorf("%+v", events)
		}
	})
}
