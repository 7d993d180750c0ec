package rest

import (
	"net/http"
	"strings"
	"testing"
)

// R1: a route that the contract does not know is refused when the server is built, and is not served.
func TestUndeclaredRouteIsAnError(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"GET /v1/undeclared", "PUT /v1/tools", "/v1/tools", "get /v1/tools"} {
		s := &Server{mux: http.NewServeMux(), known: http.NewServeMux(), methods: map[string][]string{}}
		reg := &registry{s: s}
		reg.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		if reg.err == nil || !strings.Contains(reg.err.Error(), "api/openapi.yaml") {
			t.Errorf("%s: %v", pattern, reg.err)
		}
		if len(s.Routes()) != 0 {
			t.Errorf("%s is served as %v", pattern, s.Routes())
		}
	}
}

func TestDeclaredRouteIsServed(t *testing.T) {
	t.Parallel()
	s := &Server{mux: http.NewServeMux(), known: http.NewServeMux(), methods: map[string][]string{}}
	reg := &registry{s: s}
	reg.HandleFunc("GET /v1/tools", func(http.ResponseWriter, *http.Request) {})
	if reg.err != nil || len(s.Routes()) != 1 {
		t.Errorf("%v, %v", s.Routes(), reg.err)
	}
}
