package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// A1, case 31: what a header may look like, and that anything else is 401 with a challenge, on every kind of route.
func TestA1Headers(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"max_login_failures": 0, "tokens": tokens(map[string]any{"id": "ci", "scopes": []string{"search", "events", "audit"}})})
	const good = "secret-of-ci"
	ask := func(path string, headers ...string) testkit.Answer {
		if path == "/mcp" {
			return s.Do("POST", path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, headers...)
		}
		return s.Get(path, headers...)
	}
	for _, path := range []string{"/v1/tools?limit=0", "/mcp", "/v1/context/summary"} {
		for _, h := range []string{"Bearer " + good, "bearer " + good, "BEARER " + good, "BeArEr " + good, "Bearer  " + good, "Bearer    " + good} {
			if a := ask(path, "Authorization", h); a.Status != http.StatusOK {
				t.Errorf("%s %q: %d %s", path, h, a.Status, a.Body)
			}
		}
		for _, h := range []string{
			"", " ", "Bearer", "Bearer ", "Bearer\t" + good, "Bearer \t" + good, good, "Basic " + good, "Basic dXNlcjpwYXNz", "Token " + good, "Bearer:" + good, "Bearer=" + good,
			"Bearer " + good + ", Bearer " + good, "Bearer " + good + ",", "Bearer " + good + " x", "Bearer \"" + good + "\"", "Bearer " + good[1:], "Bearer " + good + "x", "Bearer " + strings.ToUpper(good),
			"Bearer " + strings.Repeat("a", 16<<10), "Bearer " + good + strings.Repeat(" ", 9000) + "x", strings.Repeat("a", 9000), "Bearer ä", "Bearer \xff\xfe", "Bearer ====", "Digest username=\"x\"",
		} {
			a := ask(path, "Authorization", h)
			if a.Status != http.StatusUnauthorized || a.Code() != "unauthorized" || a.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %.40q: %d %v %s", path, h, a.Status, a.Header, a.Body)
			}
			if strings.Contains(string(a.Body), good) {
				t.Errorf("the answer repeats the token: %s", a.Body)
			}
		}
		for _, two := range [][2]string{{"Bearer " + good, "Bearer " + good}, {"Bearer " + good, "Basic x"}, {"Basic x", "Bearer " + good}} {
			if a := ask(path, "Authorization", two[0], "Authorization", two[1]); a.Code() != "unauthorized" {
				t.Errorf("%s %v: %d %s", path, two, a.Status, a.Body)
			}
		}
		if a := ask(path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "access_token=" + good); a.Status != http.StatusUnauthorized {
			t.Errorf("%s with the token in the query: %d", path, a.Status)
		}
	}
	for _, c := range []string{"\x01", "\x7f", "\x00"} { // Go's client sends none of these
		a := send(t, s, "GET /v1/tools HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+good+c+"\r\n\r\n")
		if a == nil || a.Status != http.StatusUnauthorized && a.Status != http.StatusBadRequest {
			t.Errorf("a control character %q: %v", c, a)
		}
	}
	for _, path := range []string{"/health", "/ready", "/openapi.json"} {
		for _, h := range []string{"", "Basic x", "Bearer wrong"} {
			if a := s.Get(path, "Authorization", h); a.Status != http.StatusOK {
				t.Errorf("%s asks for a token: %d", path, a.Status)
			}
		}
	}
}

// A1: failed logins are limited by address, and the address is the peer's, or what a trusted proxy says of it.
func TestA1FailedLogins(t *testing.T) {
	t.Parallel()
	proxied := testkit.Settings{"max_login_failures": 3, "trusted_proxies": []string{"127.0.0.0/8", "10.0.0.1"}, "tokens": tokens(map[string]any{"id": "ci", "scopes": []string{"search"}})}
	s := testkit.Start(t, proxied)
	try := func(from, token string) testkit.Answer {
		headers := []string{"Authorization", token}
		if from != "" {
			headers = append(headers, "X-Forwarded-For", from)
		}
		return s.Call(`{"name":"ctx_session"}`, headers...)
	}
	for range 3 {
		if a := try("203.0.113.7", "Bearer wrong"); a.Status != http.StatusUnauthorized {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	for _, token := range []string{"Bearer wrong", "", bearer("ci")} { // the right one as well: it could be the hit of a search
		a := try("203.0.113.7", token)
		if a.Status != http.StatusTooManyRequests || a.Code() != "rate_limited" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%q: %d %s", token, a.Status, a.Body)
		}
	}
	for from, want := range map[string]int{
		"203.0.113.8":                      200, // another address
		"203.0.113.7, 203.0.113.9":         200, // the nearest hop counts, whatever the client has put before it
		"203.0.113.7, 10.0.0.1":            429, // 10.0.0.1 is trusted: the hop before it counts
		"203.0.113.7, 10.0.0.1, 127.0.0.1": 429,
		"203.0.113.9, 203.0.113.7":         429,
		"::ffff:203.0.113.7":               429,
		"nonsense":                         200, // then the peer itself
		"203.0.113.7, nonsense":            200,
		"":                                 200,
		strings.Repeat("203.0.113.9, ", 200) + "203.0.113.7": 429,
	} {
		if a := try(from, bearer("ci")); a.Status != want {
			t.Errorf("from %.60q: %d %s", from, a.Status, a.Body)
		}
	}
	body := strings.Repeat(" ", 1<<20)
	if a := s.Call(body, "Authorization", "Bearer wrong", "X-Forwarded-For", "203.0.113.7"); a.Status != http.StatusTooManyRequests {
		t.Errorf("with a large body: %d", a.Status)
	}
}

// A1: on loopback all callers share one address, so that one which fails does not lock out the others; and a header that
// nobody trusted has put there counts for nothing.
func TestA1FailedLoginsOnLoopback(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"max_login_failures": 3, "tokens": tokens(map[string]any{"id": "ci", "scopes": []string{"search"}})})
	for i := range 6 {
		a := s.Get("/v1/tools", "Authorization", "Bearer wrong", "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i))
		if want := map[bool]int{true: 401, false: 429}[i < 3]; a.Status != want {
			t.Errorf("failure %d: %d", i, a.Status)
		}
	}
	if a := s.Get("/v1/tools?limit=0", "Authorization", bearer("ci")); a.Status != http.StatusOK {
		t.Errorf("the others: %d %s", a.Status, a.Body)
	}
}

// A2: with a token the principal is the token; a name that a caller gives itself is a label and no more.
func TestA2Labels(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"tokens": tokens(map[string]any{"id": "ci", "scopes": []string{"search", "events", "audit"}})})
	auth := []string{"Authorization", bearer("ci")}
	rpc := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session"` + params + `}}`
	}
	s.Call(`{"name":"ctx_session"}`, auth...)
	s.Call(`{"name":"ctx_session"}`, append(auth, "X-Agent-Id", "ada")...)
	s.Call(`{"name":"ctx_session","arguments":{"agentId":"bob"}}`, auth...)
	s.Do("POST", "/mcp", rpc(""), auth...)
	s.Do("POST", "/mcp", rpc(`,"arguments":{"agentId":"eve"}`), auth...)
	newest := `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"prog","version":"1"}}`
	headers := append(auth, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "ctx_session")
	s.Do("POST", "/mcp", rpc(newest), headers...)
	s.Do("POST", "/mcp", rpc(`,"arguments":{"agentId":"zoe"}`+newest), headers...) // no contradiction: the program is not the agent
	var got []string
	for _, e := range history(t, s, "default", auth...) {
		got = append(got, *e.Actor)
	}
	if want := "[team:ci ada bob team:ci eve prog zoe]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if a := s.Call(`{"name":"ctx_session","arguments":{"action":"task","value":"x"}}`, append(auth, "X-Agent-Id", "local")...); a.Code() != "scope_denied" {
		t.Errorf("a name is a right: %d %s", a.Status, a.Body)
	}
}
