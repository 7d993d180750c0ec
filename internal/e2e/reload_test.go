package e2e

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/testkit"
)

// reloadable is a server with a token "ci" that may do everything, and one that stays as it is.
func reloadable(t testing.TB, ci map[string]any) (*testkit.Server, testkit.Settings) {
	t.Helper()
	set := onData(t, testkit.Settings{"project_root": repository(t), "port": 0, "max_rps": 0, "tokens": tokens(everything("ci", ci), everything("other", nil))})
	return testkit.Start(t, set), set
}

func everything(id string, more map[string]any) map[string]any {
	tok := map[string]any{"id": id, "scopes": []string{"search", "events", "audit"}}
	for k, v := range more {
		tok[k] = v
	}
	return tok
}

// ends waits for a stream to end, and fails if it goes on.
func ends(t testing.TB, stream *testkit.Stream, within time.Duration) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ok := true; ok; {
			_, ok = stream.Next()
		}
	}()
	select {
	case <-done:
	case <-time.After(within):
		t.Errorf("the stream goes on after %v", within)
	}
}

// A5, case 32: a token that is revoked, or no longer the same, ends its streams, and the next request is judged anew. Streams of
// others go on.
func TestA5Revocation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ci   map[string]any // nil: gone
		want int
	}{
		"revoked":             {nil, 401},
		"another secret":      {map[string]any{"id": "ci", "sha256Hex": strings.Repeat("ab", 32), "scopes": []string{"search", "events", "audit"}}, 401},
		"without the scope":   {everything("ci", map[string]any{"scopes": []string{"search"}}), 403},
		"bound elsewhere":     {everything("ci", map[string]any{"workspaces": []string{"default"}, "roles": []string{"x"}}), 200},
		"with an end ago":     {everything("ci", map[string]any{"expiresAt": "2020-01-01T00:00:00Z"}), 401},
		"with an end to come": {everything("ci", map[string]any{"expiresAt": "2099-01-01T00:00:00Z"}), 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, set := reloadable(t, nil)
			mine := s.Follow("/v1/events", "Authorization", bearer("ci"))
			others := s.Follow("/v1/events", "Authorization", bearer("other"))
			list := tokens(everything("other", nil))
			if c.ci != nil {
				if _, own := c.ci["sha256Hex"]; !own {
					tokens(c.ci)
				}
				list = append(list, c.ci)
			}
			if err := s.Reload(testkit.Config(t, with(set, testkit.Settings{"tokens": list})), nil); err != nil {
				t.Fatal(err)
			}
			ends(t, mine, 20*time.Second)
			if a := s.Do(http.MethodHead, "/v1/events", "", "Authorization", bearer("ci")); a.Status != c.want {
				t.Errorf("the next request: %d", a.Status)
			}
			s.Call(`{"name":"ctx_session"}`, "Authorization", bearer("other"))
			if e := next(t, others); e.says("tool") != "ctx_session" {
				t.Errorf("%+v", e)
			}
		})
	}
}

// A5: the end of a token ends its streams, MCP's as well.
func TestA5Expiry(t *testing.T) {
	t.Parallel()
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var over atomic.Bool
	now := func() time.Time { // a quarter of a second before the end, until the test says otherwise
		if over.Load() {
			return end
		}
		return end.Add(-250 * time.Millisecond)
	}
	c := compose(t, plan{stateful: true, now: now, tokens: []identity.Token{
		{ID: "ci", Hash: identity.Hash("secret-of-ci"), Scopes: []catalog.Scope{catalog.ScopeEvents, catalog.ScopeSearch}, Expires: end},
	}})
	auth := []string{"Authorization", bearer("ci")}
	session := begin(t, c.Server, auth...)
	stream := c.Follow("/v1/events", auth...)
	mcp := c.Follow("/mcp", append(auth, "Mcp-Session-Id", session)...)
	ends(t, stream, 20*time.Second)
	ends(t, mcp, 20*time.Second)
	over.Store(true)
	if a := c.Get("/v1/tools", auth...); a.Code() != "unauthorized" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// begin begins an MCP session over HTTP and gives its id. Headers come in pairs.
func begin(t testing.TB, s *testkit.Server, headers ...string) string {
	t.Helper()
	a := s.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, headers...)
	id := a.Header.Get("Mcp-Session-Id")
	if a.Status != http.StatusOK || id == "" {
		t.Fatalf("%d %v %s", a.Status, a.Header, a.Body)
	}
	if a := s.Do("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, append([]string{"Mcp-Session-Id", id}, headers...)...); a.Status != http.StatusAccepted {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return id
}

// X2: a reload that is refused leaves everything as it was, and /ready says so until a good one comes.
func TestX2RefusedReload(t *testing.T) {
	t.Parallel()
	s, set := reloadable(t, nil)
	ready := func(want int, says string) {
		t.Helper()
		a := s.Get("/ready")
		if a.Status != want || !strings.Contains(string(a.Body), says) {
			t.Errorf("/ready: %d %s", a.Status, a.Body)
		}
		if a := s.Get("/health"); a.Status != http.StatusOK || string(a.Body) != "ok\n" {
			t.Errorf("/health: %d %q", a.Status, a.Body)
		}
		if a := s.Get("/v1/tools?limit=0", "Authorization", bearer("ci")); a.Status != http.StatusOK {
			t.Errorf("a request: %d %s", a.Status, a.Body)
		}
	}
	ready(200, `"status":"ready"`)
	for name, next := range map[string]testkit.Settings{
		"max_rps":  {"max_rps": 7},
		"no token": {"tokens": []any{}},
		"served":   {"tokens": tokens(everything("ci", map[string]any{"workspaces": []string{"nowhere"}}))},
		"the same": {"tokens": append(tokens(everything("ci", nil)), tokens(everything("ci", nil))...)},
	} {
		if err := s.Reload(testkit.Config(t, with(set, next)), nil); err == nil {
			t.Errorf("%s: the reload is taken", name)
		}
		ready(503, "the reloaded configuration was refused")
		if err := s.Reload(testkit.Config(t, set), nil); err != nil {
			t.Error(err)
		}
		ready(200, "ready")
	}
	if err := s.Reload(nil, errors.New("no such file")); err == nil {
		t.Error("a file that cannot be read is taken")
	}
	ready(503, "not_ready")
	if err := s.Reload(testkit.Config(t, with(set, testkit.Settings{"allowed_hosts": []string{"new.example"}})), nil); err != nil {
		t.Error(err)
	}
	ready(200, "ready")
	if a := s.Get("/health", "Host", "new.example"); a.Status != http.StatusOK {
		t.Errorf("the new host: %d", a.Status)
	}
}

// X2: who asks and goes away does not make the server unready for the others.
func TestX2ReadyProbe(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	for range 20 {
		c := dial(t, s)
		if _, err := c.Write([]byte("GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		_ = c.Close() // at once
	}
	if a := s.Get("/ready"); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// X2: a store that takes no writes makes the server unready, and calls fail as what they are.
func TestX2Store(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	if err := s.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if a := s.Get("/ready"); a.Status != http.StatusServiceUnavailable || a.Code() != "not_ready" || !strings.Contains(string(a.Body), "store") {
		t.Errorf("/ready: %d %s", a.Status, a.Body)
	}
	if a := s.Get("/health"); a.Status != http.StatusOK {
		t.Errorf("/health: %d", a.Status)
	}
	for _, body := range []string{`{"name":"ctx_session","arguments":` + setTask + `}`, `{"name":"ctx_tree"}`} {
		if a := s.Call(body); a.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
}
