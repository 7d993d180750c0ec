package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ctxd/ctxd/internal/socket"
)

// Unreachable is that a server cannot be reached, or has gone.
type Unreachable struct{ Message string }

// Error gives the message.
func (u *Unreachable) Error() string { return u.Message }

// Attachment is a conversation with the running server of the same data folder.
type Attachment struct {
	c   *socket.Conn
	pid int
}

// Attach asks the running server of the data folder to serve this process. Where none runs it gives nil and no error; where
// it cannot be had, the error says why. Either way the process can serve itself.
func Attach(ctx context.Context, o Options) (*Attachment, error) {
	place, err := FindPlace(o)
	if err != nil {
		return nil, nil // serving finds that too, and can tell it better
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
	return &Attachment{c, r.PID}, nil
}

// Relay copies between the client and the server until one of them, or ctx, ends the conversation. The error is an
// *Unreachable where it was the server that ended it.
func (a *Attachment) Relay(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	defer a.c.Close()
	defer in.Close()
	said := make(chan error, 1) // the client's input has ended
	heard := make(chan error, 1)
	go func() {
		_, err := io.Copy(a.c, in)
		said <- err
		_ = a.c.CloseWrite() // the server answers what is left, and ends
	}()
	client := &writer{w: out}
	go func() {
		_, err := io.Copy(client, a.c)
		heard <- err
	}()
	select {
	case <-heard:
		return a.ended(client.err, said)
	case <-ctx.Done():
		_ = a.c.CloseWrite()
	}
	select {
	case <-heard:
	case <-time.After(stopTimeout):
	}
	return nil
}

// writer remembers why writing failed.
type writer struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (w *writer) Write(b []byte) (n int, err error) {
	n, w.err = w.w.Write(b)
	return n, w.err
}

// ended tells who ended the conversation: the client that does not read, the client that has said all, or the server.
func (a *Attachment) ended(deaf error, said <-chan error) error {
	if deaf != nil {
		return fmt.Errorf("the client does not read: %w", deaf)
	}
	select {
	case err := <-said:
		if err == nil {
			return nil
		}
	default:
	}
	return &Unreachable{fmt.Sprintf("the server that this session was attached to (process id %d) has ended; start ctxd mcp again", a.pid)}
}

// status asks the server of a data folder how it is. The error is socket.ErrNone where none runs.
func status(ctx context.Context, dir, version string) (socket.Reply, error) {
	c, err := socket.Dial(ctx, dir)
	if err != nil {
		return socket.Reply{}, err
	}
	defer c.Close()
	r, err := c.Exchange(socket.Ask{Version: version, Want: socket.Status})
	if err == nil && r.Server == nil {
		err = fmt.Errorf("the server with the process id %d (ctxd %s) does not say how it is: %s", r.PID, r.Version, r.Refused)
	}
	return r, err
}
