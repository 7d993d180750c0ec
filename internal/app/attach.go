package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ctxd/ctxd/internal/mcpserver"
	"github.com/ctxd/ctxd/internal/socket"
)

// Unreachable is that a server cannot be reached, or has gone.
type Unreachable struct{ Message string }

// Error gives the message.
func (u *Unreachable) Error() string { return u.Message }

// Attachment is a conversation with the running server of the same data folder.
type Attachment struct {
	o    Options
	c    *socket.Conn
	pid  int
	self *ownPeer // once no server was left
}

// Attach asks the running server of the data folder to serve this process. Where none runs it gives nil and no error; where
// it cannot be had, the error says why. Either way the process can serve itself.
func Attach(ctx context.Context, o Options) (*Attachment, error) {
	place, err := FindPlace(o)
	if err != nil {
		return nil, nil //nolint:nilerr // serving finds that too, and can tell it better
	}
	c, err := socket.Dial(ctx, place.DataDir)
	if errors.Is(err, socket.ErrNone) || errors.Is(err, socket.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := c.Exchange(socket.Ask{
		Version: o.Version, Want: socket.MCP, Preset: o.Config.Preset, Default: place.Default, Workspaces: place.Workspaces,
	})
	if err == nil && r.Refused != "" {
		err = fmt.Errorf("the server with the process id %d refuses: %s", r.PID, r.Refused)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the server behind %s does not answer", socket.Path(place.DataDir))
	}
	if err != nil {
		_ = c.Close() // the refusal is the one to tell
		return nil, err
	}
	return &Attachment{o: o, c: c, pid: r.PID}, nil
}

// Relay passes messages on between the client and the server until the client, or ctx, ends the conversation. Where the server
// ends before, another one of the data folder is looked for, and else this process serves from then on. The error is an
// *Unreachable where requests were left without an answer after the client's last word.
func (a *Attachment) Relay(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	r := &mcpserver.Relay{Next: a.next}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, a.c, in, out) }()
	err := outcome(ctx, ended, r.Close)
	if errors.Is(err, mcpserver.ErrPeerEnded) {
		return &Unreachable{fmt.Sprintf("the server that this session was attached to (process id %d) has ended; start ctxd mcp again", a.pid)}
	}
	return err
}

// next is another server, or this process.
func (a *Attachment) next(ctx context.Context) (mcpserver.Peer, error) {
	if a.self != nil {
		return nil, fmt.Errorf("serving stopped: %w", errors.Join(a.self.err, io.ErrUnexpectedEOF))
	}
	was := a.pid
	again, err := Attach(ctx, a.o)
	if again != nil {
		a.c, a.pid = again.c, again.pid
		a.o.Logger.Warn("the server has ended; attached to another one", "pid", was, "next", a.pid)
		return a.c, nil
	}
	a.o.Logger.Warn("the server has ended; serving from here on", "pid", was, "cause", err)
	e, err := OpenEngine(ctx, a.o)
	if err != nil {
		return nil, err
	}
	a.self = beOwnPeer(context.WithoutCancel(ctx), e)
	return a.self, nil
}

// ownPeer is this process as the server that a Relay speaks with.
type ownPeer struct {
	*io.PipeReader // what it says
	in             *io.PipeWriter
	ended          chan struct{}
	err            error // once it has ended
}

// beOwnPeer serves until the peer is closed, or ctx ends. The context of a process would end before what its client asked for is
// answered.
func beOwnPeer(ctx context.Context, e *Engine) *ownPeer {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &ownPeer{outR, inW, make(chan struct{}), nil}
	go func() {
		defer close(p.ended)
		p.err = e.serveStdio(ctx, inR, outW)
		_ = outW.Close() // a pipe never fails to close
	}()
	return p
}

// Write implements mcpserver.Peer.
func (p *ownPeer) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseWrite implements mcpserver.Peer.
func (p *ownPeer) CloseWrite() error { return p.in.Close() }

// Close implements mcpserver.Peer.
func (p *ownPeer) Close() error {
	err := errors.Join(p.in.Close(), p.PipeReader.Close())
	<-p.ended
	return err
}

// status asks the server of a data folder how it is. The error is socket.ErrNone where none runs.
func status(ctx context.Context, dir, version string) (socket.Reply, error) {
	c, err := socket.Dial(ctx, dir)
	if err != nil {
		return socket.Reply{}, err
	}
	defer func() { _ = c.Close() }() // everything was said
	r, err := c.Exchange(socket.Ask{Version: version, Want: socket.Status})
	if err == nil && r.Server == nil {
		err = fmt.Errorf("the server with the process id %d (ctxd %s) does not say how it is: %s", r.PID, r.Version, r.Refused)
	}
	return r, err
}
