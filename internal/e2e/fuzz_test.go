package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/contracttest"
	"github.com/ctxd/ctxd/internal/fault"
)

// direct asks a composed server without a network.
func direct(t testing.TB, c *composed, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.door.ServeHTTP(w, r)
	return w
}

// FuzzCallBody: whatever the body, the answer is a result or the envelope, never a fault of ours, and it agrees with the one
// parser of calls.
func FuzzCallBody(f *testing.F) {
	for _, s := range append(append([]step{}, good...), bad...) {
		if len(s.args) < 1000 {
			f.Add(`{"name":` + quoted(s.tool) + `,"arguments":` + map[bool]string{true: "{}", false: s.args}[s.args == ""] + `}`)
		}
	}
	for _, s := range []string{``, `{}`, `[]`, `null`, `{"name":"ctx_read","arguments":7}`, `{"name":"ctx_read","arguments":{"path":"a","path":"b"}}`, "\xff", `{"name":"ctx_tree","parentEventId":1e400}`} {
		f.Add(s)
	}
	c := compose(f, plan{})
	f.Fuzz(func(t *testing.T, body string) {
		w := direct(t, c, "/v1/tools/call", body)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/v1/tools/call", nil)
		if err := contracttest.Judge(r, w.Code, w.Header(), w.Body.Bytes()); err != nil || w.Code >= 500 {
			t.Fatalf("%q: %d %s: %v", body, w.Code, w.Body, err)
		}
		if _, err := action.ParseRequest([]byte(body)); err != nil {
			if code := string(fault.From(err).Code); w.Code != fault.From(err).Row().Status || !strings.Contains(w.Body.String(), code) {
				t.Fatalf("%q: %d %s, but the parser says %v", body, w.Code, w.Body, err)
			}
		}
	})
}

// FuzzRPCBody: whatever the body of a message, the answer is JSON and no fault of ours.
func FuzzRPCBody(f *testing.F) {
	for _, v := range versions {
		f.Add(first(rpcCall(v, "tools/list", "")), v)
		f.Add(first(rpcCall(v, "tools/call", `{"name":"ctx_read","arguments":{"path":"a.txt"}}`)), v)
		f.Add(strings.ReplaceAll(initialize, "%q", quoted(v)), v)
	}
	for _, s := range []string{``, `{}`, `[]`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}`} {
		f.Add(s, "")
	}
	c := compose(f, plan{})
	f.Fuzz(func(t *testing.T, body, version string) {
		w := direct(t, c, "/mcp", body, "Mcp-Protocol-Version", version, "Mcp-Method", "tools/call", "Mcp-Name", "ctx_read")
		stream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
		if w.Code >= 500 || w.Body.Len() > 0 && !stream && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q: %d %s", body, w.Code, w.Body)
		}
		if w.Code >= 400 && !strings.Contains(w.Body.String(), `"error_code"`) {
			t.Fatalf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}

// FuzzStdio: whatever is written to stdio, what comes back is JSON line by line, and the session goes on.
func FuzzStdio(f *testing.F) {
	for _, s := range []string{
		"garbage", "{}", "[]", "null", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"method":"nope"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_tree"}}`,
		"\x00", "\r\n", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `{"JSONRPC":"2.0","jsonrpc":"2.0","id":1,"Method":"ping"}`,
	} {
		f.Add(s)
	}
	c := compose(f, plan{})
	in, out := c.pipe(f)
	w := wireTo(f, in, out)
	n := 0
	f.Fuzz(func(t *testing.T, line string) {
		n++
		last := fmt.Sprintf(`"id":"the last of %d"`, n)
		w.t = t
		said := make(chan error, 1)
		go func() { // answers come while it is still being written
			_, err := io.WriteString(in, line+"\n{\"jsonrpc\":\"2.0\","+last+",\"method\":\"ping\"}\n")
			said <- err
		}()
		for !strings.Contains(w.hear(), last) { // it fails on what is no JSON, and at the end
		}
		if err := <-said; err != nil {
			t.Fatal(err)
		}
	})
}
