package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// flight is an HTTP request on its way through the SDK, which tells a handler of it nothing but its headers.
type flight struct {
	ctx           context.Context
	principal     identity.Principal
	header, query *string // workspaces
	conversation  string
	actor         string
}

// flights are the requests on their way, by a number that is put among their headers.
type flights struct {
	stdio string // conversation of the one client on stdio

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
	f := &flight{ctx: r.Context(), principal: s.Principal(r.Context()), actor: r.Header.Get("X-Agent-Id")}
	if v := r.Header.Values("X-Leanctx-Workspace"); len(v) > 0 {
		f.header = &v[0]
	}
	if q := r.URL.Query(); q.Has("workspaceId") {
		id := q.Get("workspaceId")
		f.query = &id
	}
	f.conversation = r.Header.Get("X-Conversation-Id")
	if id := r.Header.Get("Mcp-Session-Id"); id != "" && s.Stateful && !s.owns(id, f.principal.ID) {
		return nil, fault.New(catalog.NotFound, "session not found")
	}
	return f, nil
}

// message is what is known of the body of a POST.
type message struct {
	is bool            // there was one
	id json.RawMessage // of the only message in it; nil: null
}

// parse judges the body once, strictly: JSON that means one thing only, and JSON-RPC.
func parse(raw []byte) (message, error) {
	v, err := jsondoc.Decode(raw)
	if err != nil {
		return message{}, fault.New(catalog.InvalidRequest, "the body is no JSON-RPC message: %w", err)
	}
	list, batch := v.([]any)
	if !batch {
		list = []any{v}
	}
	for _, m := range list {
		if o, ok := m.(map[string]any); !ok || o["jsonrpc"] != "2.0" {
			return message{}, fault.New(catalog.InvalidRequest, `the body is no JSON-RPC message: "jsonrpc" must be "2.0"`)
		}
	}
	if len(list) == 0 {
		return message{}, fault.New(catalog.InvalidRequest, "the body is an empty batch")
	}
	m := message{is: true}
	if o, ok := v.(map[string]any); ok {
		switch id := o["id"].(type) {
		case string, json.Number:
			m.id = jsondoc.Canonical(id)
		}
	}
	return m, nil
}

// refuse answers with a fault: in JSON-RPC where a message was read, else with the envelope (http.md X1).
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, body message, err error) {
	if !body.is {
		s.Fail(w, r, err)
		return
	}
	f := fault.From(err)
	writeRPC(w, f.Row().Status, body.id, rpcError(f))
}

func writeRPC(w http.ResponseWriter, status int, id json.RawMessage, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	_, _ = w.Write(rpcReply(id, err)) // who has gone cannot be told
}

// rpcReply is an error as a message in one line.
func rpcReply(id json.RawMessage, err error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	raw, mErr := json.Marshal(err)
	if mErr != nil {
		raw = []byte(`{"code":-32603,"message":"the answer cannot be encoded"}`)
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":` + string(raw) + "}\n")
}

// rpcLine answers what could not be read, so that its id is not known.
func rpcLine(code int64, f *fault.Fault) []byte {
	err := rpcError(f)
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		e.Code = code
	}
	return rpcReply(nil, err)
}

// translator holds back what the SDK answers, unless it is a stream, and says in our words what it says in plain text.
type translator struct {
	http.ResponseWriter
	s      *Server
	r      *http.Request
	body   message
	status int
	held   bytes.Buffer
	stream bool
}

func (t *translator) WriteHeader(status int) {
	if t.status != 0 {
		return
	}
	t.status = status
	if t.stream = status == http.StatusOK && strings.HasPrefix(t.Header().Get("Content-Type"), "text/event-stream"); t.stream {
		t.ResponseWriter.WriteHeader(status)
	}
}

func (t *translator) Write(b []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	if t.stream {
		return t.ResponseWriter.Write(b)
	}
	return t.held.Write(b)
}

// Flush passes on what is a stream.
func (t *translator) Flush() {
	if f, ok := t.ResponseWriter.(http.Flusher); ok && t.stream {
		f.Flush()
	}
}

// finish sends what was held back.
func (t *translator) finish() {
	switch {
	case t.stream:
	case t.status == 0:
		if t.r.Context().Err() == nil {
			t.s.refuse(t.ResponseWriter, t.r, t.body, fault.New(catalog.Internal, "the server gave no answer"))
		}
	case t.status < 400 || strings.HasPrefix(t.Header().Get("Content-Type"), "application/json"):
		t.send()
	default:
		t.explain(strings.TrimSpace(t.held.String()))
	}
}

func (t *translator) send() {
	out := withCode(t.held.Bytes())
	t.Header().Del("Content-Length")
	t.ResponseWriter.WriteHeader(t.status)
	_, _ = t.ResponseWriter.Write(out) // who has gone cannot be told
}

// explain turns a refusal in plain text into one of ours.
func (t *translator) explain(text string) {
	t.Header().Del("Content-Length")
	code := catalog.InvalidRequest
	switch t.status {
	case http.StatusNotFound:
		code = catalog.NotFound
	case http.StatusMethodNotAllowed:
		code = catalog.MethodNotAllowed
	case http.StatusUnsupportedMediaType:
		code = catalog.UnsupportedMediaType
	case http.StatusRequestEntityTooLarge:
		code = catalog.PayloadTooLarge
	}
	if t.status >= 500 {
		code = catalog.Internal
	}
	f := fault.New(code, "%s", text)
	if t.body.is && strings.Contains(text, "JSON RPC not handled") {
		// An unknown method is an answer, not a broken request.
		writeRPC(t.ResponseWriter, http.StatusOK, t.body.id, rpcError(fault.New(catalog.NotFound, "unknown method")))
		return
	}
	t.s.refuse(t.ResponseWriter, t.r, t.body, f)
}

// withCode adds data.error_code to an error that the SDK has made by itself.
func withCode(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"error"`)) {
		return raw
	}
	var reply struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *struct {
			Code    int64           `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		} `json:"error"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil || reply.Error == nil {
		return raw
	}
	reply.Error.Data = dataWithCode(reply.Error.Code, reply.Error.Data)
	out, err := json.Marshal(reply)
	if err != nil {
		return raw
	}
	return out
}

// dataWithCode is the data of an error of JSON-RPC with our code in it. Data that is no object, or has a code, stays.
func dataWithCode(rpc int64, data json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	if len(data) > 0 && json.Unmarshal(data, &members) != nil || members["error_code"] != nil {
		return data
	}
	code := catalog.InvalidRequest
	switch rpc {
	case -32601:
		code = catalog.NotFound
	case -32603, 0:
		code = catalog.Internal
	}
	members["error_code"] = json.RawMessage(strconv.Quote(string(code)))
	out, err := json.Marshal(members)
	if err != nil {
		return data
	}
	return out
}
