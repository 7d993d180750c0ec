package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

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
		err := t.r.Context().Err() // the client has gone, or the server stops
		if err == nil {
			err = fault.New(catalog.Internal, "the server gave no answer")
		}
		t.s.refuse(t.ResponseWriter, t.r, t.body, err)
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

// withCode adds data.error_code to the errors that the SDK has made by itself, in an answer or in those of a batch.
func withCode(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"error"`)) {
		return raw
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return replyWithCode(raw)
	}
	for i, m := range list {
		list[i] = replyWithCode(m)
	}
	out, err := json.Marshal(list)
	if err != nil {
		return raw
	}
	return out
}

func replyWithCode(raw json.RawMessage) json.RawMessage {
	var reply struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil || reply.Error == nil {
		return raw
	}
	reply.Error = coded(reply.Error)
	out, err := json.Marshal(reply)
	if err != nil {
		return raw
	}
	return out
}

// coded is an error with our code among its data, without what only the SDK's own people understand. One that has a code is
// ours already.
func coded(e *jsonrpc.Error) *jsonrpc.Error {
	c := *e
	if c.Code == 0 { // the SDK gives what it has no code for as 0, which JSON-RPC does not know: wrong at that point of a session
		c.Code = -32600
	}
	c.Data = dataWithCode(c.Code, e.Data)
	if before, _, found := strings.Cut(e.Message, ": unmarshaling "); found {
		c.Message = before + ": the params do not have the shape that the method wants"
	}
	return &c
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
	case -32603:
		code = catalog.Internal
	}
	members["error_code"] = json.RawMessage(strconv.Quote(string(code)))
	out, err := json.Marshal(members)
	if err != nil {
		return data
	}
	return out
}
