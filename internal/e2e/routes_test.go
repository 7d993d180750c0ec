package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/rest"
	"github.com/ctxd/ctxd/internal/testkit"
)

// sample is a request of a route that succeeds.
func sample(r catalog.Route) (path, body string) {
	path = r.Path
	switch r.ID {
	case "searchEvents":
		path += "?q=a"
	case "traceEvent":
		path += "?id=1"
	case "callTool":
		body = `{"name":"ctx_session"}`
	case "postMCP":
		body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	}
	return path, body
}

// R1: the routes of the catalogue are served and no other; what matches none is 404, a wrong method 405 with Allow, and a
// POST that carries JSON-RPC is answered wherever it comes.
func TestR1Routes(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"max_login_failures": 0, "tokens": tokens(map[string]any{"id": "all", "scopes": []string{"search", "events", "audit"}})})
	auth := []string{"Authorization", bearer("all")}
	for _, r := range catalog.Routes {
		path, body := sample(r)
		if r.ID != "streamEvents" && !(r.Path == "/mcp" && r.Method != http.MethodPost) {
			if a := s.Do(r.Method, path, body, auth...); a.Status != http.StatusOK {
				t.Errorf("%s %s: %d %s", r.Method, path, a.Status, a.Body)
			}
		}
		if a := s.Do(r.Method, path, body); r.Bearer != (a.Status == http.StatusUnauthorized) {
			t.Errorf("%s %s without a token: %d %s", r.Method, path, a.Status, a.Body)
		}
		var allow []string
		for _, other := range catalog.Routes {
			if other.Path == r.Path {
				allow = append(allow, other.Method)
			}
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
			if slices.Contains(allow, method) || method == "HEAD" && slices.Contains(allow, "GET") {
				continue
			}
			a := s.Do(method, path, "", auth...)
			said := a.Header.Get("Allow")
			if a.Status != http.StatusMethodNotAllowed || method != "HEAD" && a.Code() != "method_not_allowed" {
				t.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
			}
			for _, m := range allow {
				if !slices.Contains(strings.Split(said, ", "), m) {
					t.Errorf("%s %s: Allow is %q", method, path, said)
				}
			}
			if a := s.Do(method, path, ""); r.Bearer != (a.Status == http.StatusUnauthorized) {
				t.Errorf("%s %s without a token: %d %s", method, path, a.Status, a.Body)
			}
		}
	}
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v1/tools/", "/health/", "/v1/nope", "/V1/tools", "/v1/tools/call/x", "/docs", "/metrics", "/favicon.ico",
		"//v1/tools", "/v1//tools", "/v1/../health", "/v1/./tools", "/v1/%2e%2e/health", "/v1/%2E/tools", "/v1%2ftools", "/v1/tools%2f", "/..%2f..%2fetc/passwd",
		"/v1/tools%00", "/v1/tools%0d%0aX: y", "/v1/tools%20", "/%2fhealth", "/v1/tools;x=y", `/v1/\tools`,
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS"} {
			if a := s.Do(method, path, "", auth...); a.Status != http.StatusNotFound || method != "HEAD" && a.Code() != "not_found" {
				t.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
			}
			if a := s.Do(method, path, ""); a.Status != http.StatusUnauthorized {
				t.Errorf("%s %s without a token: %d %s", method, path, a.Status, a.Body)
			}
		}
	}
	for _, path := range []string{"/", "/any", "/v1/mcp", "/messages"} {
		if a := s.Do("POST", path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, auth...); a.Status != 200 || !strings.Contains(string(a.Body), `"result"`) {
			t.Errorf("JSON-RPC at %s: %d %s", path, a.Status, a.Body)
		}
		if a := s.Do("POST", path, `{"hello":1}`, auth...); a.Code() != "not_found" {
			t.Errorf("JSON at %s: %d %s", path, a.Status, a.Body)
		}
	}
}

// What rest serves is what the catalogue lists.
func TestR1NothingElseIsServed(t *testing.T) {
	t.Parallel()
	var want []string
	for _, r := range catalog.Routes {
		want = append(want, r.Method+" "+r.Path)
	}
	slices.Sort(want)
	var got []string
	compose(t, plan{rest: func(c *rest.Config) {
		s, err := rest.New(*c)
		if err != nil {
			t.Fatal(err)
		}
		got = s.Routes()
	}})
	if !slices.Equal(got, want) {
		t.Errorf("%v\n%v", got, want)
	}
}

// HEAD is answered on every GET route as GET is, without a body, on the stream as well.
func TestHEAD(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	for _, r := range catalog.Routes {
		if r.Method != http.MethodGet {
			continue
		}
		path, _ := sample(r)
		a := s.Do(http.MethodHead, path, "")
		want := http.StatusOK
		if r.Path == "/mcp" {
			want = http.StatusMethodNotAllowed // GET is as well, without sessions
		}
		if a.Status != want || len(a.Body) > 0 || a.Header.Get("Content-Type") == "" {
			t.Errorf("HEAD %s: %d %v %q", path, a.Status, a.Header, a.Body)
		}
		if a := s.Do(http.MethodHead, path+"&limit=x", ""); strings.Contains(path, "?") && a.Status != http.StatusBadRequest && r.ID != "traceEvent" {
			t.Errorf("HEAD %s&limit=x: %d", path, a.Status)
		}
	}
	if n := s.Meter.StreamsActive.Load(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}
