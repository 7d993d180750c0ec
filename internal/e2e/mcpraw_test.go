package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// X1, X3: what is no message gets the envelope; what is one is answered in JSON-RPC, with our code among its data.
func TestX3MCPBodies(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"project_root": repository(t)})
	deep := strings.Repeat("[", 5000)
	for _, c := range []struct {
		body   string
		status int
		code   string
		rpc    bool
	}{
		{``, 400, "invalid_request", false},
		{` `, 400, "invalid_request", false},
		{`{`, 400, "invalid_request", false},
		{deep, 400, "invalid_request", false},
		{`null`, 400, "invalid_request", false},
		{`7`, 400, "invalid_request", false},
		{`"x"`, 400, "invalid_request", false},
		{`{}`, 400, "invalid_request", false},
		{`[]`, 400, "invalid_request", false},
		{`[1]`, 400, "invalid_request", false},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, "invalid_request", false},
		{`{"jsonrpc":2.0,"id":1,"method":"ping"}`, 400, "invalid_request", false},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, 400, "invalid_request", false},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, "invalid_request", false},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, "invalid_request", false},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, 400, "invalid_request", false},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, 400, "invalid_request", false}, // it would come back as another
		{`{"jsonrpc":"2.0"}`, 400, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1}`, 202, "", false}, // an answer to what nobody asked
		{`{"jsonrpc":"2.0","id":1,"method":7}`, 400, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, 200, "not_found", true},
		{`{"jsonrpc":"2.0","id":1,"method":"nope"}`, 200, "not_found", true},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 200, "", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 400, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session","_meta":7}}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session","_meta":{"ctxd/conversation":7}}}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session","_meta":{"ctxd/conversation":""}}}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_session","_meta":{"ctxd/conversation":"c.1"}}}`, 200, "", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_reed"}}`, 200, "tool_error", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_read","arguments":{"workspaceId":"nowhere"}}}`, 200, "unknown_workspace", true},
		{`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"ctx_session"}}`, 400, "invalid_request", true}, // a call without an id
		{`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"ctx_session"}}`, 400, "invalid_request", true},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, "", false},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, 202, "", false},
		{`{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, 400, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"nonsense"}}`, 200, "invalid_request", true},
		{`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"nope"}}`, 200, "", true},
	} {
		for _, path := range []string{"/mcp", "/elsewhere"} {
			a := s.Do("POST", path, c.body)
			want, code := c.status, c.code
			if path == "/elsewhere" && !c.rpc && c.status == 400 {
				if want, code = 404, "not_found"; strings.HasPrefix(c.body, `{"jsonrpc":"2.0"`) && !strings.Contains(c.body, `"method":"ping","method"`) {
					want, code = c.status, c.code // it says that it is JSON-RPC
				}
			}
			isRPC := strings.HasPrefix(string(a.Body), `{"jsonrpc":"2.0"`)
			if a.Status != want || c.code != "" && a.Code() != code || want == 202 && len(a.Body) > 0 || want != 404 && len(a.Body) > 0 && isRPC != c.rpc {
				t.Errorf("%s %.200s: %d %s", path, c.body, a.Status, a.Body)
			}
			if strings.Contains(string(a.Body), "*mcp.") || strings.Contains(string(a.Body), "Go struct") {
				t.Errorf("%.200s: the answer speaks Go: %s", c.body, a.Body)
			}
		}
	}
}

// Batches: where a version has them, each message is answered; the others say so. Errors in them have their code.
func TestMCPBatches(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"project_root": repository(t)})
	const call = `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":%q}}`
	batch := "[" + fmt.Sprintf(call, 1, "tools/call", "ctx_session") + `,{"jsonrpc":"2.0","method":"notifications/initialized"},` + fmt.Sprintf(call, 2, "tools/call", "ctx_reed") + "]"
	a := s.Do("POST", "/mcp", batch)
	var list []map[string]any
	a.Decode(t, &list)
	if len(list) != 2 || strings.Count(string(a.Body), `"structuredContent"`) != 1 || strings.Count(string(a.Body), `"error_code":"tool_error"`) != 1 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := s.Do("POST", "/mcp", batch, "Mcp-Protocol-Version", "2025-06-18"); a.Status != http.StatusBadRequest || a.Code() != "invalid_request" {
		t.Errorf("2025-06-18: %d %s", a.Status, a.Body)
	}
	if a := s.Do("POST", "/mcp", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`); a.Status != http.StatusAccepted {
		t.Errorf("notifications only: %d %s", a.Status, a.Body)
	}
	if a := s.Do("POST", "/mcp", "["+fmt.Sprintf(call, 1, "nope", "x")+","+fmt.Sprintf(call, 2, "ping", "x")+"]"); a.Code() != "not_found" && !strings.Contains(string(a.Body), `"error_code"`) {
		t.Errorf("an unknown method in a batch: %d %s", a.Status, a.Body)
	}
	if a := s.Do("POST", "/mcp", "["+fmt.Sprintf(call, 1, "ping", "x")+",7]"); a.Code() != "invalid_request" {
		t.Errorf("a number in a batch: %d %s", a.Status, a.Body)
	}
}

// Without sessions GET and DELETE are 405 with Allow; a version that nobody knows is refused; a media type that is no JSON too.
func TestMCPStateless(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	for _, method := range []string{"GET", "DELETE", "HEAD", "PUT", "OPTIONS"} {
		for _, headers := range [][]string{nil, {"Accept", "text/event-stream"}, {"Mcp-Session-Id", "x"}} {
			a := s.Do(method, "/mcp", "", headers...)
			if a.Status != http.StatusMethodNotAllowed || method != "HEAD" && a.Code() != "method_not_allowed" || !strings.Contains(a.Header.Get("Allow"), "POST") {
				t.Errorf("%s %v: %d %v %s", method, headers, a.Status, a.Header, a.Body)
			}
		}
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, v := range []string{"1999-01-01", "x", "2025-06-19"} {
		if a := s.Do("POST", "/mcp", ping, "Mcp-Protocol-Version", v); a.Status != http.StatusBadRequest || a.Code() != "invalid_request" {
			t.Errorf("version %s: %d %s", v, a.Status, a.Body)
		}
	}
	for _, accept := range []string{"-", "application/json", "text/event-stream", "*/*", "text/html", "nonsense"} {
		if a := s.Do("POST", "/mcp", ping, "Accept", accept); a.Status != http.StatusOK {
			t.Errorf("Accept %s: %d %s", accept, a.Status, a.Body)
		}
	}
	for _, kind := range []string{"-", "text/plain", "application/xml", "application/jsonp", "x"} {
		a := s.Do("POST", "/mcp", ping, "Content-Type", "-", "Content-Type", kind)
		if a.Status != http.StatusUnsupportedMediaType || a.Code() != "unsupported_media_type" {
			t.Errorf("Content-Type %s: %d %s", kind, a.Status, a.Body)
		}
	}
	if a := s.Do("POST", "/mcp", ping, "Mcp-Session-Id", "made up"); a.Status != http.StatusOK || a.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a session where there are none: %d %v", a.Status, a.Header)
	}
	if a := s.Do("POST", "/mcp", fmt.Sprintf(initialize, "2025-06-18")); a.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a session without sessions: %v", a.Header)
	}
	if a := s.Do("POST", "/mcp", fmt.Sprintf(initialize, "1999-01-01")); a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"protocolVersion":"2025-11-25"`) {
		t.Errorf("an unknown version is negotiated: %d %s", a.Status, a.Body)
	}
	// What would stay open for messages of the server ends at once, since it has none: it must not keep its place.
	body, headers := rpcCall(newest, "subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x"]}}`)
	if a := s.Do("POST", "/mcp", body, headers...); a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"result"`) {
		t.Errorf("subscriptions/listen: %d %s", a.Status, a.Body)
	}
	for name, headers := range map[string][]string{
		"no method":       {"Mcp-Protocol-Version", newest},
		"another method":  {"Mcp-Protocol-Version", newest, "Mcp-Method", "tools/list", "Mcp-Name", "ctx_session"},
		"another name":    {"Mcp-Protocol-Version", newest, "Mcp-Method", "tools/call", "Mcp-Name", "ctx_read"},
		"another version": {"Mcp-Protocol-Version", "2027-01-01", "Mcp-Method", "tools/call", "Mcp-Name", "ctx_session"},
	} {
		body, _ := rpcCall(newest, "tools/call", `{"name":"ctx_session"}`)
		if a := s.Do("POST", "/mcp", body, headers...); a.Status != http.StatusBadRequest || a.Code() == "" {
			t.Errorf("%s: %s: %d %s", newest, name, a.Status, a.Body)
		}
	}
}
