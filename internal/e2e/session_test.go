package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/mcpserver"
	"github.com/ctxd/ctxd/internal/testkit"
)

// Cases 24 and 25: a session that is not there, is over, or is somebody else's gets one answer, and its id cannot be made up.
func TestMCPSessions(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"stateful_mode": true, "project_root": repository(t), "tokens": tokens(everything("a", nil), everything("b", nil))})
	a, b := []string{"Authorization", bearer("a")}, []string{"Authorization", bearer("b")}
	mine, theirs, gone := begin(t, s, a...), begin(t, s, b...), begin(t, s, a...)
	ask := func(method, session string, auth []string) testkit.Answer {
		body := ""
		if method == "POST" {
			body = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ctx_session"}}`
		}
		return s.Do(method, "/mcp", body, append([]string{"Mcp-Session-Id", session}, auth...)...)
	}
	if r := ask("DELETE", gone, a); r.Status != http.StatusNoContent {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	if r := ask("POST", mine, a); r.Status != http.StatusOK || rpcOutcome(t, r.Body).code != "" {
		t.Errorf("my own: %d %s", r.Status, r.Body)
	}
	id, mac, _ := strings.Cut(mine, ".")
	other, _, _ := strings.Cut(theirs, ".")
	for name, session := range map[string]string{
		"theirs": theirs, "over": gone, "nonsense": "nonsense", "only an id": id, "a wrong seal": id + "." + strings.Repeat("0", len(mac)), "a short seal": id + "." + mac[:8],
		"their id with my seal": other + "." + mac, "twice sealed": mine + "." + mac, "upper case": strings.ToUpper(mine), "a path": "../" + mine, "long": strings.Repeat("x", 8000),
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			r := ask(method, session, a)
			if r.Status != http.StatusNotFound || r.Code() != "not_found" || !strings.Contains(string(r.Body), "session not found") {
				t.Errorf("%s %s: %d %s", method, name, r.Status, r.Body)
			}
			if method == "POST" && !strings.Contains(string(r.Body), `"id":7`) {
				t.Errorf("%s: not in JSON-RPC: %s", name, r.Body)
			}
		}
	}
	if r := ask("POST", theirs, b); r.Status != http.StatusOK {
		t.Errorf("their session is hurt: %d %s", r.Status, r.Body)
	}
	if r := ask("POST", mine, nil); r.Status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", r.Status)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if r := s.Do(method, "/mcp", "", a...); r.Status != http.StatusBadRequest || r.Code() != "invalid_request" {
			t.Errorf("%s without a session: %d %s", method, r.Status, r.Body)
		}
	}
	if r := s.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, a...); strings.Contains(string(r.Body), `"tools":`) || !strings.Contains(string(r.Body), "error_code") {
		t.Errorf("a call before the handshake: %d %s", r.Status, r.Body)
	}
	if len(mine) > 64 || mine == begin(t, s, a...) {
		t.Errorf("the id %q", mine)
	}
}

// Case 24: after a restart an old session is 404, and the client begins anew.
func TestMCPSessionAfterRestart(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"stateful_mode": true, "project_root": repository(t)})
	s := testkit.Start(t, set)
	old := begin(t, s)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s = testkit.Start(t, set)
	if r := s.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", old); r.Status != http.StatusNotFound {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	begin(t, s)
}

// A session that nobody uses ends.
func TestMCPSessionTTL(t *testing.T) {
	t.Parallel()
	c := compose(t, plan{stateful: true, mcp: func(m *mcpserver.Config) { m.SessionTTL = 500 * time.Millisecond }})
	id := begin(t, c.Server)
	time.Sleep(600 * time.Millisecond) // its whole life; looking earlier would prolong it
	eventually(t, func() bool {
		status := c.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id", id).Status
		if status != http.StatusNotFound {
			time.Sleep(600 * time.Millisecond)
		}
		return status == http.StatusNotFound
	})
}

// A stream of a session ends with the server, and its calls are those of a conversation.
func TestMCPSessionStream(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"stateful_mode": true, "project_root": repository(t)})
	id := begin(t, s)
	stream := s.Follow("/mcp", "Mcp-Session-Id", id)
	if got := stream.Header().Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("%s", got)
	}
	started := time.Now()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("an idle stream held the server up for %v", took)
	}
	ends(t, stream, 20*time.Second)
}
