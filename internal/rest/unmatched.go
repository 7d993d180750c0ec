package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// unmatched answers what no route matches: 405 for a known path, MCP for a POST that carries JSON-RPC (http.md R1), else 404.
func (s *Server) unmatched(w http.ResponseWriter, r *http.Request) {
	_, path := s.known.Handler(r)
	if path == "" {
		s.guarded(catalog.Route{Bearer: true}, s.fallback)(w, r)
		return
	}
	route := catalog.Route{Bearer: slices.ContainsFunc(catalog.Routes, func(c catalog.Route) bool { return c.Path == path && c.Bearer })}
	refuse := func(w http.ResponseWriter, r *http.Request) {
		allow := slices.Clone(s.methods[path])
		if slices.Contains(allow, http.MethodGet) {
			allow = append(allow, http.MethodHead)
		}
		slices.Sort(allow)
		w.Header().Set("Allow", strings.Join(allow, ", "))
		s.Fail(w, r, fault.New(catalog.MethodNotAllowed, "%s is not for %s", path, clip(r.Method)))
	}
	if r.Method == http.MethodPost { // the body of a request that is refused anyway is not read
		w.Header().Set("Connection", "close")
		if route.Bearer {
			if leave, err := s.admit(r, route, false); err != nil {
				s.Fail(w, r, err)
				return
			} else {
				defer leave()
			}
		}
		refuse(w, r)
		return
	}
	s.guarded(route, refuse)(w, r)
}

func (s *Server) fallback(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && isJSONRPC(of(r.Context()).body) {
		s.MCP.ServeHTTP(w, r)
		return
	}
	s.notFound(w, r)
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.Fail(w, r, fault.New(catalog.NotFound, "there is no %s; /openapi.json lists the routes", clip(r.URL.Path)))
}

// isJSONRPC says whether a body is a JSON-RPC message, or a batch of them.
func isJSONRPC(body []byte) bool {
	v, err := jsondoc.Decode(body)
	if err != nil {
		return false
	}
	list, batch := v.([]any)
	if !batch {
		list = []any{v}
	}
	for _, m := range list {
		o, ok := m.(map[string]any)
		if !ok || o["jsonrpc"] != "2.0" {
			return false
		}
	}
	return len(list) > 0
}
