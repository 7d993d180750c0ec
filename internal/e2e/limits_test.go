package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/limit"
	"github.com/ctxd/ctxd/internal/rest"
	"github.com/ctxd/ctxd/internal/testkit"
)

// asks are ways to ask that every limit must treat alike.
func asks(s *testkit.Server, headers ...string) map[string]func() testkit.Answer {
	rpc := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session"}}`
	return map[string]func() testkit.Answer{
		"GET":       func() testkit.Answer { return s.Get("/v1/tools?limit=0", headers...) },
		"call":      func() testkit.Answer { return s.Call(`{"name":"ctx_session"}`, headers...) },
		"mcp":       func() testkit.Answer { return s.Do("POST", "/mcp", rpc, headers...) },
		"elsewhere": func() testkit.Answer { return s.Do("POST", "/x", rpc, headers...) },
		"stream":    func() testkit.Answer { return s.Do("HEAD", "/v1/events", "", headers...) },
		"nowhere":   func() testkit.Answer { return s.Get("/nowhere", headers...) },
		"method":    func() testkit.Answer { return s.Do("PUT", "/v1/tools", "", headers...) },
	}
}

// L1: requests per second count per token, else per address, whatever is asked for.
func TestL1Rate(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for name := range asks(nil) {
		s := testkit.Start(t, testkit.Settings{"project_root": root, "max_rps": 1, "rate_burst": 3, "tokens": tokens(everything("a", nil), everything("b", nil))})
		ask := asks(s, "Authorization", bearer("a"))[name]
		for range 3 {
			if a := ask(); a.Status == http.StatusTooManyRequests {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
		a := ask()
		if a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "1" || name != "stream" && a.Code() != "rate_limited" {
			t.Errorf("%s: %d %v %s", name, a.Status, a.Header, a.Body)
		}
		if a := asks(s, "Authorization", bearer("b"))["call"](); a.Status != http.StatusOK {
			t.Errorf("another token: %d %s", a.Status, a.Body)
		}
		for _, path := range []string{"/health", "/ready", "/openapi.json"} {
			for range 5 {
				if a := s.Get(path, "Authorization", bearer("a")); a.Status != http.StatusOK {
					t.Errorf("%s: %d", path, a.Status)
				}
			}
		}
	}
	s := testkit.Start(t, testkit.Settings{"project_root": root, "max_rps": 1, "rate_burst": 1, "trusted_proxies": []string{"127.0.0.1"}})
	for _, from := range []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"} {
		if a := s.Get("/v1/tools", "X-Forwarded-For", from); a.Status != http.StatusOK {
			t.Errorf("without a token, from %s: %d", from, a.Status)
		}
		if a := s.Get("/v1/tools", "X-Forwarded-For", from); a.Status != http.StatusTooManyRequests {
			t.Errorf("without a token, from %s again: %d", from, a.Status)
		}
	}
	for _, off := range []testkit.Settings{{"max_rps": 0, "rate_burst": 1}, {"max_rps": 1, "rate_burst": 0}} {
		s := testkit.Start(t, with(off, testkit.Settings{"project_root": root}))
		for range 20 {
			if a := s.Get("/v1/tools?limit=0"); a.Status != http.StatusOK {
				t.Errorf("%v: %d", off, a.Status)
			}
		}
	}
}

// L1: the calls of a batch count one by one, and run one at a time: a batch is no way around a limit.
func TestL1Batch(t *testing.T) {
	t.Parallel()
	batch := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ctx_session"}},`, 8), ",") + "]"
	batch = fmt.Sprintf(batch, 1, 2, 3, 4, 5, 6, 7, 8)
	s := testkit.Start(t, testkit.Settings{"max_rps": 1, "rate_burst": 5})
	a := s.Do("POST", "/mcp", batch)
	if ok, limited := strings.Count(string(a.Body), `"structuredContent"`), strings.Count(string(a.Body), `"error_code":"rate_limited"`); ok != 5 || limited != 3 {
		t.Errorf("%d answered, %d limited: %s", ok, limited, a.Body)
	}
	b := newBlocker()
	c := compose(t, plan{tools: b.before, timeout: 20 * time.Millisecond})
	c.Do("POST", "/mcp", strings.ReplaceAll(batch, "ctx_session", "ctx_tree"))
	var last time.Time
	for range 8 {
		<-b.started
		at := <-b.ended
		if !last.IsZero() && at.Sub(last) < 10*time.Millisecond {
			t.Errorf("two calls ran at once: %v apart", at.Sub(last))
		}
		last = at
	}
}

// L1: so many requests run at once, so many wait for so long, and the others are told to come back. What needs no place is
// answered meanwhile.
func TestL1Concurrency(t *testing.T) {
	t.Parallel()
	b := newBlocker()
	c := compose(t, plan{tools: b.before, timeout: 10 * time.Second, rest: func(r *rest.Config) { r.Concurrency = limit.NewGate(1, 1, 500*time.Millisecond) }})
	open := c.Follow("/v1/events") // a stream takes no place
	var wg sync.WaitGroup
	wg.Go(func() { c.Call(`{"name":"ctx_tree"}`) })
	<-b.started
	for name, ask := range asks(c.Server) {
		if name == "stream" {
			if a := ask(); a.Status != http.StatusOK {
				t.Errorf("a stream: %d", a.Status)
			}
			continue
		}
		started := time.Now()
		a := ask()
		if a.Status != http.StatusServiceUnavailable || a.Code() != "overloaded" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		if waited := time.Since(started); waited < 500*time.Millisecond {
			t.Errorf("%s did not wait: %v", name, waited)
		}
	}
	var mu sync.Mutex
	atOnce := 0
	for range 5 { // one may wait, the others are refused at once
		wg.Go(func() {
			started := time.Now()
			a := c.Get("/v1/tools")
			mu.Lock()
			defer mu.Unlock()
			if a.Status == http.StatusServiceUnavailable && time.Since(started) < 450*time.Millisecond {
				atOnce++
			}
		})
	}
	for _, path := range []string{"/health", "/ready", "/openapi.json"} {
		if a := c.Get(path); a.Status != http.StatusOK {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	<-b.ended
	wg.Wait()
	if atOnce < 3 {
		t.Errorf("%d of 5 were refused at once", atOnce)
	}
	if a := c.Get("/v1/tools"); a.Status != http.StatusOK {
		t.Errorf("afterwards: %d", a.Status)
	}
	if e := next(t, open); e.says("outcome") != "" && e.says("outcome") != "timeout" {
		t.Errorf("%+v", e)
	}
}

// L1: streams are counted by token and in all, and refused before their headers. MCP's count too; 0 turns it off.
func TestL1Streams(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{
		"max_streams_per_token": 2, "max_streams": 3, "stateful_mode": true, "tokens": tokens(everything("a", nil), everything("b", nil)),
	})
	a := []string{"Authorization", bearer("a")}
	first := s.Follow("/v1/events", a...)
	mcp := append([]string{"Mcp-Session-Id", begin(t, s, a...)}, a...)
	second := s.Follow("/mcp", mcp...)
	refused := func(path string, headers ...string) {
		t.Helper()
		r := s.Get(path, headers...)
		if r.Status != http.StatusTooManyRequests || r.Code() != "rate_limited" || r.Header.Get("Retry-After") == "" || strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%s: %d %v %s", path, r.Status, r.Header, r.Body)
		}
	}
	refused("/v1/events", a...)
	refused("/mcp", mcp...)
	b := []string{"Authorization", bearer("b")}
	third := s.Follow("/v1/events", b...)
	refused("/v1/events", b...) // the total
	if r := s.Get("/v1/tools?limit=0", a...); r.Status != http.StatusOK {
		t.Errorf("a request: %d", r.Status)
	}
	for _, st := range []*testkit.Stream{first, second, third} {
		st.Close()
	}
	eventually(t, func() bool { return s.Do("HEAD", "/v1/events", "", a...).Status == http.StatusOK })
	off := testkit.Start(t, testkit.Settings{"max_streams_per_token": 0, "max_streams": 0})
	for range 40 {
		off.Follow("/v1/events")
	}
}

// eventually waits for what follows soon from what was done.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came to be")
		}
	}
}
