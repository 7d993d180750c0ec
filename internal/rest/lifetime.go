package rest

import (
	"context"
	"net/http"
)

// lifetime is the context of a stream: it ends with the client, the server, and the token. Revoked, changed or expired, a
// token must not go on reading.
func (s *Server) lifetime(ctx context.Context) (context.Context, context.CancelFunc) {
	who := of(ctx).principal
	ctx, cancel := context.WithCancel(ctx)
	if !who.Expires.IsZero() {
		outer := cancel
		var inner context.CancelFunc
		ctx, inner = context.WithTimeout(ctx, who.Expires.Sub(s.Now()))
		cancel = func() { inner(); outer() }
	}
	go s.watch(ctx, cancel)
	return ctx, cancel
}

// watch ends a stream when its token may no longer read, or the server stops.
func (s *Server) watch(ctx context.Context, end context.CancelFunc) {
	for {
		changed := s.Gate.Changed()
		if !s.Gate.Valid(of(ctx).principal) {
			end()
			return
		}
		select {
		case <-changed:
		case <-s.Stop:
			end()
			return
		case <-ctx.Done():
			return
		}
	}
}

// streamMCP is the stream on which an MCP server speaks by itself. It counts and ends as every other stream does.
func (s *Server) streamMCP(w http.ResponseWriter, r *http.Request) {
	leave, err := s.Streams.Open(of(r.Context()).key)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	defer leave()
	ctx, cancel := s.lifetime(r.Context())
	defer cancel()
	s.MCP.ServeHTTP(w, r.WithContext(ctx))
}

// Charge counts one more request of the caller than the one that came: a batch must not be a way around the rate.
func (s *Server) Charge(ctx context.Context) error { return s.Rate.Take(of(ctx).key) }
