package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
)

// maxLine bounds a message on stdio, in bytes.
const maxLine = 16 << 20

// ServeStdio speaks with one client over a pair of streams until one of them or ctx ends. The whole of it is one
// conversation. A line that is no message is answered and passed over: the SDK would end the session over it.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	s.flights.stdio, s.flights.running = s.NewID(), ctx
	if s.Stdio.Calls != nil {
		s.flights.running = s.Stdio.Calls
	}
	w := &lockedWriter{w: out}
	r, feed := io.Pipe()
	p := &pending{out: w, open: map[any]*batch{}, answered: make(chan struct{}, 1)}
	go func() { feed.CloseWithError((&sieve{feed: feed, out: w, pending: p}).run(in)) }()
	defer in.Close() // ends the goroutine: what it reads has no context
	return s.newServer(nil).Run(ctx, drained{&mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: -1}, p})
}

// admit asks whether the one client may send one more request now. Notifications need no leave: the one that cancels a call
// must not wait behind it.
func (s *Server) admit(ctx context.Context, method string) (leave func(), err error) {
	if s.flights.stdio == "" || s.Stdio.Admit == nil || strings.HasPrefix(method, "notifications/") {
		return func() {}, nil
	}
	return s.Stdio.Admit(ctx)
}

// caller is the one client.
func (s *Server) caller() identity.Principal {
	if s.Stdio.Workspaces == nil {
		return identity.Local()
	}
	return identity.Local().Within(s.Stdio.Workspaces)
}

// lockedWriter lets the SDK and the sieve write whole lines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.WriteCloser
}

// Write implements io.Writer.
func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// Close implements io.Closer.
func (l *lockedWriter) Close() error { return l.w.Close() }

// sieve passes on the lines that are messages, and answers the others.
type sieve struct {
	feed, out io.Writer
	pending   *pending
}

// run returns what ended the input.
func (v *sieve) run(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if errors.Is(err, errLongLine) {
			if err := v.refuse(nil, -32600, tooLong()); err != nil {
				return err
			}
			continue
		}
		if line = trim(line); len(line) > 0 {
			if vErr := v.pass(line); vErr != nil {
				return vErr
			}
		}
		if err != nil {
			return err
		}
	}
}

// pass hands a line to the SDK, message by message: it takes a batch for broken in which a notification stands.
func (v *sieve) pass(line []byte) error {
	m, err := parse(line)
	if err != nil {
		return v.refuse(m.id, rpcCode(err), err)
	}
	list := []json.RawMessage{line}
	if m.batch {
		if err := json.Unmarshal(line, &list); err != nil {
			return v.refuse(nil, -32600, fault.New(catalog.InvalidRequest, "the batch cannot be read"))
		}
	}
	var ids []any
	var lines []byte
	for _, raw := range list {
		msg, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			return v.refuse(m.id, -32600, fault.New(catalog.InvalidRequest, "the line is no JSON-RPC message"))
		}
		if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
			ids = append(ids, req.ID.Raw())
		}
		lines = append(append(lines, raw...), '\n')
	}
	if !v.pending.add(ids, m.batch) {
		return v.refuse(m.id, -32600, fault.New(catalog.InvalidRequest, "the id of a message is in use"))
	}
	_, err = v.feed.Write(lines)
	return err
}

// refuse answers a line that is not passed on.
func (v *sieve) refuse(id json.RawMessage, code int64, err error) error {
	rpc := rpcError(err)
	var e *jsonrpc.Error
	if errors.As(rpc, &e) {
		e.Code = code
	}
	_, err = v.out.Write(rpcReply(id, rpc))
	return err
}

var errLongLine = errors.New("the line is too long")

// readLine reads to the end of a line or of the input; the rest of a line that is too long is dropped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for long := false; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLongLine
		}
		return line, err
	}
}

func trim(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r' || line[len(line)-1] == ' ') {
		line = line[:len(line)-1]
	}
	return line
}
