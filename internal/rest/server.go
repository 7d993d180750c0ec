// Package rest is the REST and SSE door: it implements the generated interface of gen/rest, guards every request (Host,
// Origin, token, limits, body) and turns every fault into the one envelope.
//
// It runs no tool by itself: calls go to action, and requests that are MCP go to the handler that app gives it. It never
// imports mcpserver. Only app imports it.
package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/rest"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/eventlog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/limit"
	"github.com/ctxd/ctxd/internal/meter"
)

// Config is what a Server is built from.
type Config struct {
	Pipeline *action.Pipeline
	Log      *eventlog.Log
	Gate     *identity.Gate
	Meter    *meter.Meter
	MCP      http.Handler // answers what is MCP; the principal stands in the context

	Version     string
	Preset      string
	RefusesKeys bool // secret-like files are refused

	AllowedHosts   func() []string // beside loopback names; asked for each request
	TrustedProxies []netip.Prefix
	MaxBody        int64         // bytes; 0: no limit
	BodyTimeout    time.Duration // 0: none
	WriteTimeout   time.Duration // how long a client may take to accept a piece of an answer; 0: for ever
	KeepAlive      time.Duration // between comments on a silent event stream
	Rate           *limit.Rate   // by token, else by address
	Failures       *limit.Rate   // failed logins, by address
	Concurrency    *limit.Gate
	Streams        *limit.Streams

	Ready func(context.Context) []string // reasons why the server wants no traffic
	Stop  <-chan struct{}                // closed when the server stops: open streams end

	Deprecated []catalog.DeprecationRow
	Now        func() time.Time
	NewID      func() string
	Logger     *slog.Logger
}

// Server answers HTTP requests.
type Server struct {
	Config
	mux       *http.ServeMux
	known     *http.ServeMux // the same paths for any method
	methods   map[string][]string
	patterns  []string
	documents documents
}

// New registers every route of the contract. A route that the contract does not know is an error.
func New(c Config) (*Server, error) {
	s := &Server{Config: c, mux: http.NewServeMux(), known: http.NewServeMux(), methods: map[string][]string{}}
	var err error
	if s.documents, err = newDocuments(c); err != nil {
		return nil, err
	}
	reg := &registry{s: s}
	strict := rest.NewStrictHandlerWithOptions(handlers{s}, nil, rest.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  s.badBody,
		ResponseErrorHandlerFunc: s.Fail,
	})
	rest.HandlerWithOptions(strict, rest.StdHTTPServerOptions{BaseRouter: reg, ErrorHandlerFunc: s.badParameter})
	reg.HandleFunc("POST /mcp", s.MCP.ServeHTTP)
	reg.HandleFunc("GET /mcp", s.streamMCP)
	reg.HandleFunc("DELETE /mcp", s.MCP.ServeHTTP)
	if reg.err != nil {
		return nil, reg.err
	}
	s.mux.HandleFunc("/", s.unmatched)
	return s, nil
}

// Routes are the patterns that are served, sorted: "GET /v1/tools".
func (s *Server) Routes() []string { return slices.Sorted(slices.Values(s.patterns)) }

// registry is where the generated code registers its routes: each gets its guards, by what the contract says of it.
type registry struct {
	s   *Server
	err error
}

// HandleFunc implements gen/rest.ServeMux.
func (g *registry) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	method, path, _ := strings.Cut(pattern, " ")
	i := slices.IndexFunc(catalog.Routes, func(r catalog.Route) bool { return r.Method == method && r.Path == path })
	if i < 0 {
		if g.err == nil {
			g.err = fmt.Errorf("rest: the route %q is not in api/openapi.yaml: add it there and run make generate", pattern)
		}
		return
	}
	s := g.s
	s.patterns = append(s.patterns, pattern)
	if s.methods[path] == nil {
		s.known.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
	}
	s.methods[path] = append(s.methods[path], method)
	s.mux.HandleFunc(pattern, s.guarded(catalog.Routes[i], h))
}

// ServeHTTP implements gen/rest.ServeMux; nothing is served by the registry itself.
func (g *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.s.ServeHTTP(w, r) }

// ServeHTTP gives the request an id, and keeps out what is foreign before anything else is looked at.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := &recorder{ResponseWriter: w, now: s.Now, timeout: s.WriteTimeout}
	rec.forget()
	id := s.NewID()
	rec.Header().Set("X-Request-Id", id)
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, &request{id: id, method: r.Method}))
	started := s.Now()
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v) // net/http ends the connection without a word
			}
			s.Fail(rec, r, fault.New(catalog.Internal, "the server failed; its log says why").With(fmt.Errorf("panic: %v\n%s", v, debug.Stack())))
		}
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			s.Meter.Request(rec.headersAfter(started), rec.status)
		}
	}()
	s.limitBody(rec, r)
	if err := s.guard(r); err != nil {
		s.Fail(rec, r, err)
		return
	}
	if !clean(r) {
		s.guarded(catalog.Route{Bearer: true}, s.notFound)(rec, r)
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// clean says whether a path is as the router wants it; it would answer others with a redirect in HTML.
func clean(r *http.Request) bool {
	p := r.URL.Path
	if r.Method == http.MethodConnect || !strings.HasPrefix(p, "/") {
		return false
	}
	for part := range strings.SplitSeq(p[1:], "/") {
		if part == "." || part == ".." {
			return false
		}
	}
	return !strings.Contains(p, "//")
}

// request is what is known of a request on its way.
type request struct {
	id        string
	method    string
	principal identity.Principal
	key       string // whom limits count: the token, else the address
	body      []byte // of a POST
}

type requestKey struct{}

// of is the request that a context belongs to.
func of(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// Principal is who asks, for the MCP handler.
func Principal(ctx context.Context) identity.Principal { return of(ctx).principal }
