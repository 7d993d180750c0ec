package e2e

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/testkit"
)

var foreignHosts = []string{
	"evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "evil-localhost", "localhost.", "localhost.:80", "127.0.0.1.",
	"127.0.0.2", "0.0.0.0", "0", "127.1", "2130706433", "0x7f000001", "[::]", "[::2]:80", "192.168.0.1", "[::ffff:10.0.0.1]", "localhost:80:80", "127.0.0.1:80@evil.example",
}

var ownHosts = []string{"localhost", "LOCALHOST", "LocalHost:1234", "localhost:80", "127.0.0.1", "127.0.0.1:9", "[::1]", "[::1]:8080", "[::ffff:127.0.0.1]"}

var foreignOrigins = []string{
	"null", "http://evil.example", "https://evil.example:8080", "http://localhost.evil.example", "http://localhost@evil.example", "http://evil.example@localhost",
	"http://localhost:80@evil.example", "http://evil.example#localhost", "http://evil.example?localhost", "http://localhost/", "http://localhost?x", "http://localhost#x",
	"file://", "file://localhost", "ftp://localhost", "localhost", "//localhost", "http:localhost", "http://", "", " ", "*", "http://127.0.0.2", "http://0.0.0.0", "http://[::2]",
	"http://localhost.", "javascript:alert(1)", "data:text/html,x", "http://localhost, http://evil.example", "http://local\thost", "http://localhost\\@evil.example", "chrome-extension://abcdef",
	"http://LOCALHOST:80:80", "http://%6cocalhost", "http://localhost%00", "http://localhost%2eevil.example",
}

var ownOrigins = []string{"http://localhost", "https://localhost:3000", "http://127.0.0.1:5173", "http://[::1]:80", "HTTP://LOCALHOST"}

// A5, case 30: a foreign Host or Origin, and Origin: null, is 403 on every route, before anything else is looked at.
func TestA5HostAndOrigin(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"max_login_failures": 0, "tokens": tokens(map[string]any{"id": "all", "scopes": []string{"search", "events", "audit"}})})
	auth := []string{"Authorization", bearer("all")}
	one := func(method, path, body, header, value string, want int) {
		t.Helper()
		for _, headers := range [][]string{{header, value}, append([]string{header, value}, auth...)} {
			a := s.Do(method, path, body, headers...)
			if a.Status != want && !(want == 200 && a.Status != http.StatusForbidden) || want == 403 && method != "HEAD" && a.Code() != "origin_denied" {
				t.Errorf("%s %s, %s %q: %d %s", method, path, header, value, a.Status, a.Body)
			}
		}
	}
	routes := append([]catalog.Route{{Method: "GET", Path: "/nowhere"}, {Method: "POST", Path: "/"}, {Method: "GET", Path: "//v1/tools"}}, catalog.Routes...)
	for _, r := range routes {
		path, body := sample(r)
		for _, method := range []string{r.Method, "OPTIONS", "HEAD"} {
			one(method, path, body, "Host", "evil.example", 403)
			one(method, path, body, "Origin", "http://evil.example", 403)
			one(method, path, body, "Origin", "null", 403)
		}
	}
	for _, h := range foreignHosts {
		one("GET", "/health", "", "Host", h, 403)
	}
	for _, h := range ownHosts {
		one("GET", "/health", "", "Host", h, 200)
	}
	for _, o := range foreignOrigins {
		if strings.ContainsAny(o, "\t") {
			continue // Go's client refuses to send it
		}
		one("GET", "/v1/tools", "", "Origin", o, 403)
	}
	for _, o := range ownOrigins {
		one("GET", "/v1/tools", "", "Origin", o, 200)
	}
	a := s.Do("GET", "/health", "", "Origin", "http://localhost", "Origin", "http://localhost")
	if a.Status != http.StatusForbidden {
		t.Errorf("two Origins: %d", a.Status)
	}
	a = s.Do("OPTIONS", "/v1/tools", "", "Origin", "http://localhost:3000", "Access-Control-Request-Method", "GET", "Authorization", bearer("all"))
	if a.Status != http.StatusMethodNotAllowed || a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a preflight: %d %v", a.Status, a.Header)
	}
}

// A5: --allowed-host adds names, in any case and with any port, and only these.
func TestA5AllowedHosts(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"allowed_hosts": []string{"ctxd.example", "Other.Example:8443", "[2001:db8::1]"}})
	for host, want := range map[string]int{
		"ctxd.example": 200, "CTXD.example": 200, "ctxd.example:9": 200, "other.example:8443": 200, "other.example": 200, "[2001:db8::1]:80": 200,
		"sub.ctxd.example": 403, "ctxd.example.": 403, "ctxd.example.evil": 403, "xctxd.example": 403, "ctxd.example@evil": 403, "2001:db8::2": 403,
	} {
		if a := s.Get("/health", "Host", host); a.Status != want {
			t.Errorf("Host %s: %d", host, a.Status)
		}
		if strings.Contains(host, "@") || host == "2001:db8::2" {
			continue
		}
		if a := s.Get("/health", "Origin", "https://"+host); a.Status != want {
			t.Errorf("Origin https://%s: %d", host, a.Status)
		}
	}
}

// A5: the loopback names all bind; anything else is bound only with a token.
func TestA5Binding(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "[::1]"} {
		if strings.Contains(host, "::1") && !ipv6() {
			continue
		}
		s := testkit.Start(t, testkit.Settings{"project_root": root, "host": host})
		if a := s.Get("/v1/tools?limit=0"); a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", host, a.Status, a.Body)
		}
	}
	for _, host := range []string{"0.0.0.0", "::", "[::]", "192.0.2.1", "example.com", "127.1", "0", "localhost.example"} {
		o := options(t, onData(t, testkit.Settings{"project_root": root, "host": host, "port": 0}))
		s, err := app.Start(t.Context(), o)
		if err == nil {
			_ = s.Stop() // it should not run
		}
		if err == nil || !strings.Contains(err.Error(), "needs a token") {
			t.Errorf("%s: %v", host, err)
		}
	}
	s := testkit.Start(t, testkit.Settings{"project_root": root, "host": "0.0.0.0", "auth_token": "0123456789abcdef"})
	for header, want := range map[string]int{"": 401, "Bearer 0123456789abcdef": 200} {
		if a := s.Get("/v1/tools?limit=0", "Authorization", header); a.Status != want {
			t.Errorf("%q: %d %s", header, a.Status, a.Body)
		}
	}
	if a := s.Get("/health", "Host", "0.0.0.0"); a.Status != http.StatusForbidden {
		t.Errorf("Host 0.0.0.0: %d", a.Status)
	}
}

func ipv6() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "[::1]:0")
	if err == nil {
		_ = l.Close() // nobody used it
	}
	return err == nil
}
