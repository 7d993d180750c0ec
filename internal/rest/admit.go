package rest

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
)

// guarded puts the guards of a route before its handler, in the order of actions.md: token, limits, body. What needs no
// token takes no permit either.
func (s *Server) guarded(route catalog.Route, h http.HandlerFunc) http.HandlerFunc {
	warning := s.warning(route)
	stream := route.ID == "streamEvents" || route.ID == "streamMCP"
	return func(w http.ResponseWriter, r *http.Request) {
		if warning != "" {
			w.Header().Set("Warning", warning)
		}
		if route.Bearer {
			leave, err := s.admit(r, route, stream)
			if err != nil {
				s.Fail(w, r, err)
				return
			}
			defer leave()
		}
		if (route.ID == "callTool" || route.ID == "postMCP") && r.Header.Get("Idempotency-Key") != "" {
			// Who sends a key relies on it: better no call than one that may run twice.
			s.Fail(w, r, fault.New(catalog.InvalidRequest, "Idempotency-Key is not supported by this build"))
			return
		}
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			// Whoever reads a query next would pass over what it cannot read.
			s.Fail(w, r, fault.New(catalog.InvalidRequest, "the query cannot be read: an escape is broken, or a semicolon stands in it"))
			return
		}
		if r.Method == http.MethodPost || r.ContentLength != 0 {
			// Also a body that nobody wants is read: net/http notices only behind it that a client has gone.
			if err := s.readBody(w, r, route); err != nil {
				s.Fail(w, r, err)
				return
			}
		}
		h(w, r)
	}
}

// admit finds out who asks and whether he may ask now. A stream holds no permit: it is counted by itself.
func (s *Server) admit(r *http.Request, route catalog.Route, stream bool) (leave func(), err error) {
	req := of(r.Context())
	if req.principal, err = s.authenticate(r); err != nil {
		return nil, err
	}
	req.key = "token " + req.principal.TokenID
	if req.principal.TokenID == "" {
		req.key = "address " + s.remote(r).String()
	}
	if err := s.Rate.Take(req.key); err != nil {
		return nil, err
	}
	if missing := req.principal.Missing(route.Scopes); len(missing) > 0 {
		return nil, fault.New(catalog.ScopeDenied, "%s %s needs the scope %s, which this token does not hold", route.Method, route.Path, missing[0])
	}
	if stream {
		return func() {}, nil
	}
	return s.Concurrency.Enter(r.Context())
}

// authenticate judges the token. Failures are limited by address. From loopback only failures pay for failures: there, all
// callers share one address, and one that is misconfigured must not lock out the others.
func (s *Server) authenticate(r *http.Request) (identity.Principal, error) {
	from := s.remote(r)
	if !from.IsLoopback() {
		if err := s.Failures.Check(from.String()); err != nil {
			return identity.Principal{}, err
		}
	}
	p, err := s.Gate.Authenticate(r.Header.Values("Authorization"))
	if err == nil {
		return p, nil
	}
	if limited := s.Failures.Take(from.String()); limited != nil {
		return identity.Principal{}, limited
	}
	return identity.Principal{}, err
}

// limitBody bounds how long the client may take to send a body, whoever reads it: what a handler has left, net/http reads.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) {
	if s.BodyTimeout > 0 && r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.BodyTimeout)) // a test recorder has none
	}
}

// readBody reads a body once, within its limits of size and time.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, route catalog.Route) error {
	if route.ID != "" && r.Method == http.MethodPost {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return fault.New(catalog.UnsupportedMediaType, "the body must be declared as Content-Type: application/json")
		}
	}
	if s.MaxBody > 0 && r.ContentLength > s.MaxBody {
		w.Header().Set("Connection", "close") // the rest of the body is not worth reading
		return s.tooLarge()
	}
	s.limitBody(w, r) // anew: it may have waited for its place
	from := io.Reader(r.Body)
	if s.MaxBody > 0 {
		from = http.MaxBytesReader(w, r.Body, s.MaxBody)
	}
	body, err := io.ReadAll(from)
	if s.BodyTimeout > 0 && err == nil { // else the limit holds for net/http, which looks for the end of the body
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return s.tooLarge()
	case err != nil:
		w.Header().Set("Connection", "close")
		return fault.New(catalog.InvalidRequest, "the body could not be read to its end").With(err)
	}
	of(r.Context()).body = body
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	return nil
}

func (s *Server) tooLarge() error {
	return fault.New(catalog.PayloadTooLarge, "the body is larger than %d bytes", s.MaxBody)
}
