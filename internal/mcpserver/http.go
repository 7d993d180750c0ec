package mcpserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
)

// flight is an HTTP request on its way through the SDK, which tells a handler of it nothing but its headers.
type flight struct {
	ctx           context.Context
	principal     identity.Principal
	header, query *string // workspaces
	conversation  string
	actor         string

	turn  chan struct{} // holds the call that runs
	calls int           // begun; guarded by turn
}

// flights are the requests on their way, by a number that is put among their headers.
type flights struct {
	stdio   string          // conversation of the one client on stdio; "" on HTTP
	running context.Context // of that client

	mu   sync.Mutex
	last uint64
	open map[string]*flight
}

const flightHeader = "Ctxd-Flight"

func (f *flights) begin(h http.Header, fl *flight) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	key := strconv.FormatUint(f.last, 10)
	if f.open == nil {
		f.open = map[string]*flight{}
	}
	f.open[key] = fl
	h.Set(flightHeader, key)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, key)
	}
}

func (f *flights) find(h http.Header) (*flight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl, ok := f.open[h.Get(flightHeader)]
	return fl, ok
}

// ServeHTTP answers a request that rest has let in.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body message
	if r.Method == http.MethodPost {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			s.Fail(w, r, fault.New(catalog.InvalidRequest, "the body could not be read").With(err))
			return
		}
		if body, err = parse(raw); err != nil {
			s.Fail(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		r.ContentLength = int64(len(raw))
	}
	fl, err := s.flight(r)
	if err != nil {
		s.refuse(w, r, body, err)
		return
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json, text/event-stream") // a client that can read only one of them gets JSON
	if r.Method != http.MethodPost {
		r.Header.Set("Accept", "text/event-stream")
	}
	defer s.flights.begin(r.Header, fl)()
	t := &translator{ResponseWriter: w, s: s, r: r, body: body}
	s.http.ServeHTTP(t, r)
	t.finish()
}

// flight is what the pipeline will want to know of a request. A session of somebody else is not there.
func (s *Server) flight(r *http.Request) (*flight, error) {
	f := &flight{ctx: r.Context(), principal: s.Principal(r.Context()), turn: make(chan struct{}, 1)}
	agent, err := single("X-Agent-Id", r.Header.Values("X-Agent-Id"))
	if err != nil {
		return nil, err
	}
	conversation, err := single("X-Conversation-Id", r.Header.Values("X-Conversation-Id"))
	if err != nil {
		return nil, err
	}
	if f.header, err = single("x-leanctx-workspace", r.Header.Values("X-Leanctx-Workspace")); err != nil {
		return nil, err
	}
	if f.query, err = single("workspaceId", r.URL.Query()["workspaceId"]); err != nil {
		return nil, err
	}
	if agent != nil {
		f.actor = *agent
	}
	if conversation != nil {
		if f.conversation = *conversation; f.conversation == "" {
			return nil, fault.New(catalog.InvalidRequest, "X-Conversation-Id is empty")
		}
	}
	if id := r.Header.Get("Mcp-Session-Id"); id != "" && s.Stateful && !s.owns(id, f.principal.ID) {
		return nil, fault.New(catalog.NotFound, "session not found")
	}
	return f, nil
}

// single gives the only value of a parameter, nil where there is none.
func single(name string, values []string) (*string, error) {
	switch len(values) {
	case 0:
		return nil, nil
	case 1:
		return &values[0], nil
	}
	return nil, fault.New(catalog.InvalidRequest, "%s stands %d times", name, len(values))
}
