package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pending are the requests of a client on stdio that wait for their answers.
type pending struct {
	out      io.Writer
	answered chan struct{}

	mu      sync.Mutex
	open    map[any]*batch // by id; nil for a request that came alone
	writing int            // answers on their way out, whose ids the client may use again
}

// batch collects the answers of requests that came together.
type batch struct {
	left    int
	answers [][]byte
}

// add notes requests that came together. It is false, and notes none, if an id is in use.
func (p *pending) add(ids []any, isBatch bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b *batch
	if isBatch {
		b = &batch{left: len(ids)}
	}
	for i, id := range ids {
		if _, used := p.open[id]; used {
			for _, id := range ids[:i] {
				delete(p.open, id)
			}
			return false
		}
		p.open[id] = b
	}
	return true
}

// answer writes the answer of a request; those of a batch together, with the last of them.
func (p *pending) answer(resp *jsonrpc.Response) error {
	raw, err := jsonrpc.EncodeMessage(resp)
	if err != nil {
		return err // the SDK made the message of what it can encode
	}
	if line := p.line(resp.ID.Raw(), raw); line != nil {
		_, err = p.out.Write(line)
	}
	p.mu.Lock()
	p.writing--
	p.mu.Unlock()
	select {
	case p.answered <- struct{}{}:
	default:
	}
	return err
}

// line is what is to be written now that a request has its answer; nil while its batch waits for others.
func (p *pending) line(id any, answer []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.open[id]
	delete(p.open, id)
	p.writing++
	if b == nil {
		return append(answer, '\n')
	}
	b.answers = append(b.answers, answer)
	if b.left--; b.left > 0 {
		return nil
	}
	return append(append([]byte("["), bytes.Join(b.answers, []byte(","))...), "]\n"...)
}

func (p *pending) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open) + p.writing
}

// drained is a transport whose input ends only when every request in it is answered: the SDK drops what still runs when the
// input ends, and a client that pipes its requests in would never see those answers.
type drained struct {
	mcp.Transport
	pending *pending
}

// Connect implements mcp.Transport.
func (d drained) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, pending: d.pending, closed: make(chan struct{})}, nil
}

type drainedConn struct {
	mcp.Connection
	pending *pending
	closing sync.Once
	closed  chan struct{}
}

// Read implements mcp.Connection.
func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	for errors.Is(err, io.EOF) && c.pending.waiting() > 0 {
		select {
		case <-c.pending.answered:
		case <-c.closed:
			return m, err
		case <-ctx.Done():
			return m, err
		}
	}
	return m, err
}

// Write implements mcp.Connection. Errors that the SDK made by itself get our code beside theirs.
func (c *drainedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	resp, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	if resp.Error != nil {
		e := &jsonrpc.Error{Message: resp.Error.Error()}
		_ = errors.As(resp.Error, &e) // else it is an error without a code
		resp = &jsonrpc.Response{ID: resp.ID, Error: coded(e)}
	}
	return c.pending.answer(resp)
}

// Close implements mcp.Connection.
func (c *drainedConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
