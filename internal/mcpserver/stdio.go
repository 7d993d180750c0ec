package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// maxLine bounds a message on stdio, in bytes.
const maxLine = 16 << 20

// ServeStdio speaks with one client over a pair of streams until one of them or ctx ends. The whole of it is one
// conversation. A line that is no message is answered and passed over: the SDK would end the session over it.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	s.flights.stdio = s.NewID()
	w := &lockedWriter{w: out}
	r, feed := io.Pipe()
	go func() { feed.CloseWithError(sift(in, feed, w)) }()
	defer in.Close() // ends the goroutine: what it reads has no context
	return s.newServer(nil).Run(ctx, drained{&mcp.IOTransport{Reader: r, Writer: w, MaxLineLength: -1}})
}

// drained is a transport whose input ends only when every request in it is answered: the SDK drops what still runs when the
// input ends, and a client that pipes its requests in would never see those answers.
type drained struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (d drained) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, open: map[any]bool{}, answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

type drainedConn struct {
	mcp.Connection
	mu       sync.Mutex
	open     map[any]bool // ids of requests without an answer
	answered chan struct{}
	closing  sync.Once
	closed   chan struct{}
}

// Read implements mcp.Connection.
func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if req, ok := m.(*jsonrpc.Request); ok && err == nil && req.IsCall() {
		c.mu.Lock()
		c.open[req.ID.Raw()] = true
		c.mu.Unlock()
	}
	for errors.Is(err, io.EOF) && c.waiting() > 0 {
		select {
		case <-c.answered:
		case <-c.closed:
			return m, err
		case <-ctx.Done():
			return m, err
		}
	}
	return m, err
}

func (c *drainedConn) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Write implements mcp.Connection. Errors that the SDK made by itself get our code beside theirs.
func (c *drainedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	resp, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	var e *jsonrpc.Error
	if errors.As(resp.Error, &e) {
		coded := *e
		coded.Data = dataWithCode(e.Code, e.Data)
		resp = &jsonrpc.Response{ID: resp.ID, Error: &coded}
	}
	err := c.Connection.Write(ctx, resp)
	c.mu.Lock()
	delete(c.open, resp.ID.Raw())
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
	return err
}

// Close implements mcp.Connection.
func (c *drainedConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// lockedWriter lets the SDK and the sieve write whole lines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.WriteCloser
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lockedWriter) Close() error { return l.w.Close() }

// sift passes on the lines that are messages, and answers the others. It returns what ended the input.
func sift(in io.Reader, feed io.Writer, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if errors.Is(err, errLongLine) {
			if err := complain(out, -32600, fault.New(catalog.PayloadTooLarge, "a message is longer than %d bytes", maxLine)); err != nil {
				return err
			}
			continue
		}
		if len(trim(line)) > 0 {
			if sErr := pass(line, feed, out); sErr != nil {
				return sErr
			}
		}
		if err != nil {
			return err
		}
	}
}

func pass(line []byte, feed, out io.Writer) error {
	if _, bad := parse(line); bad != nil {
		return complain(out, -32700, fault.From(bad))
	}
	_, err := feed.Write(append(trim(line), '\n'))
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

// complain answers a line that could not be read.
func complain(out io.Writer, code int64, f *fault.Fault) error {
	_, err := out.Write(rpcLine(code, f))
	return err
}
