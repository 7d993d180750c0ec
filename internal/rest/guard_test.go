package rest

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

// What a Host or an Origin must be to pass where no other name is allowed, said a second time.
var (
	ownHost   = regexp.MustCompile(`(?i)^(localhost|127\.0\.0\.1|\[?::1\]?)(:[^:]*)?$`)
	ownOrigin = regexp.MustCompile(`(?i)^https?://(localhost|127\.0\.0\.1|\[?::1\]?)(:[0-9]*)?$`)
)

// FuzzGuard: nothing passes the guard but loopback names, whatever it looks like (A5).
func FuzzGuard(f *testing.F) {
	for _, s := range [][2]string{
		{"localhost", "http://localhost"}, {"LOCALHOST:1", "https://127.0.0.1:3000"}, {"[::1]:80", "http://[::1]"}, {"evil", "null"}, {"localhost@evil", "http://localhost@evil"},
		{"localhost.", "http://evil@localhost"}, {"127.0.0.1.evil", "http://localhost/"}, {"[::1", "http://[::1%25lo]"}, {"::1", "http://::1"}, {"localhost:80:80", "http://localhost#x"}, {"", ""},
	} {
		f.Add(s[0], s[1])
	}
	s := &Server{Config: Config{AllowedHosts: func() []string { return nil }}}
	f.Fuzz(func(t *testing.T, host, origin string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Host = host
		if err := s.guard(r); err == nil && !ownHost.MatchString(host) {
			t.Errorf("the Host %q passes", host)
		}
		r.Host = "localhost"
		r.Header["Origin"] = []string{origin}
		if err := s.guard(r); err == nil && !ownOrigin.MatchString(origin) {
			t.Errorf("the Origin %q passes", origin)
		}
	})
}
