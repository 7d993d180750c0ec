package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/internal/capability"
	"github.com/ctxd/ctxd/internal/mcpserver"
	"github.com/ctxd/ctxd/internal/socket"
)

const (
	lastWords   = 500 * time.Millisecond // for calls that were told to end to say so
	acceptPause = 50 * time.Millisecond  // after a failure, such as too many open files
	localKey    = "socket"               // whom limits count: the socket is one address
)

// local is the door for processes of the same user that attach over the socket of the data folder (docs/processes.md).
type local struct {
	s     *Server
	l     *socket.Listener
	place Place

	calls    context.Context // ends before the conversations do
	endCalls context.CancelFunc
	running  sync.WaitGroup // connections

	mu       sync.Mutex
	open     map[*socket.Conn]bool // whether MCP is spoken there
	stopping bool
}

// listenLocal takes the socket of the data folder. A server without it serves all the same.
func (s *Server) listenLocal(ctx context.Context) (*local, error) {
	place, err := FindPlace(s.Options)
	if err != nil {
		return nil, err
	}
	l, err := socket.Listen(ctx, place.DataDir)
	if err != nil {
		return nil, err
	}
	d := &local{s: s, l: l, place: place, open: map[*socket.Conn]bool{}}
	d.calls, d.endCalls = context.WithCancel(context.Background())
	d.running.Add(1)
	return d, nil
}

// Socket is where processes attach, or else the reason why they cannot.
func (s *Server) Socket() (string, error) {
	if s.local == nil {
		return "", s.noSocket
	}
	return s.local.l.Path(), nil
}

// serve takes connections until the listener is closed.
func (d *local) serve() {
	defer d.running.Done()
	for {
		c, err := d.l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			d.s.Logger.Warn("a connection to the socket was refused", "cause", err.Error())
			if !errors.Is(err, socket.ErrForeign) {
				time.Sleep(acceptPause)
			}
		case !d.enter(c):
			_ = c.Close() // the server stops
		default:
			go d.attend(c)
		}
	}
}

func (d *local) enter(c *socket.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopping {
		d.open[c] = false
		d.running.Add(1)
	}
	return !d.stopping
}

// attend serves one connection to its end.
func (d *local) attend(c *socket.Conn) {
	defer d.running.Done()
	defer func() {
		d.mu.Lock()
		delete(d.open, c)
		d.mu.Unlock()
		_ = c.Close() // it may be closed already
	}()
	ask, err := c.Hear()
	if err != nil {
		return // whoever that was sees the connection end
	}
	reply := socket.Reply{Handshake: socket.Handshake, Version: d.s.Version, PID: os.Getpid()}
	if ask.Want == socket.Status && ask.Handshake == socket.Handshake {
		reply.Server = d.status()
		_ = c.Tell(reply) // who asked may have gone
		return
	}
	reply.Refused = d.refusal(ask)
	leave := func() {}
	if reply.Refused == "" {
		if leave, err = d.s.door.Streams.Open(localKey); err != nil {
			reply.Refused = "too many sessions are attached or followed; max_streams_per_token and max_streams bound them"
			leave = func() {}
		}
	}
	defer leave()
	if err := c.Tell(reply); err == nil && reply.Refused == "" {
		d.converse(c, ask)
	}
}

// converse speaks MCP, as on stdio. Each connection is a conversation.
func (d *local) converse(c *socket.Conn, ask socket.Ask) {
	d.mu.Lock()
	d.open[c] = true
	d.mu.Unlock()
	var ids []string
	for _, w := range ask.Workspaces {
		ids = append(ids, w.ID)
	}
	m := mcpserver.New(mcpserver.Config{
		Pipeline: d.s.Pipeline, Version: d.s.Version, Preset: ask.Preset, NewID: NewID, Logger: d.s.Logger,
		Stdio: mcpserver.Stdio{Workspaces: ids, Default: ask.Default, Admit: d.admit, Calls: d.calls},
	})
	_ = m.ServeStdio(context.Background(), c, c) // how it ended, the other end has seen
}

// admit counts a request as the HTTP doors do (http.md L1).
func (d *local) admit(ctx context.Context) (func(), error) {
	if err := d.s.door.Rate.Take(localKey); err != nil {
		return nil, err
	}
	return d.s.door.Concurrency.Enter(ctx)
}

// refusal says why a process cannot be served as it wants to be, or is "".
func (d *local) refusal(a socket.Ask) string {
	switch {
	case a.Handshake != socket.Handshake:
		return fmt.Sprintf("its handshake has version %d, not %d", socket.Handshake, a.Handshake)
	case a.Version != d.s.Version:
		return fmt.Sprintf("it is ctxd %s, and this is ctxd %s", d.s.Version, a.Version)
	case a.Want != socket.MCP:
		return fmt.Sprintf("it does not know what %q is", a.Want)
	case !slices.Contains(capability.Presets(d.s.Pipeline.Specs()), a.Preset):
		return fmt.Sprintf("it has no preset %q", a.Preset)
	}
	for _, w := range a.Workspaces {
		i := slices.IndexFunc(d.place.Workspaces, func(have socket.Workspace) bool { return have.ID == w.ID })
		switch {
		case i < 0:
			return fmt.Sprintf("it serves no workspace %q", w.ID)
		case d.place.Workspaces[i].Root != w.Root:
			return fmt.Sprintf("its workspace %q is %s, not %s", w.ID, d.place.Workspaces[i].Root, w.Root)
		case d.place.Workspaces[i].Rules != w.Rules:
			return fmt.Sprintf("it refuses other files in the workspace %q", w.ID)
		}
	}
	if !slices.ContainsFunc(a.Workspaces, func(w socket.Workspace) bool { return w.ID == a.Default }) {
		return "no workspace was asked for"
	}
	return ""
}

func (d *local) status() *socket.Server {
	st := &socket.Server{
		URL: d.s.URL(), Started: d.s.started.UTC(), Streams: d.s.Meter.StreamsActive.Load(), Events: d.s.Log.Appended(),
	}
	for _, w := range d.place.Workspaces {
		st.Workspaces = append(st.Workspaces, socket.Workspace{ID: w.ID, Root: w.Root})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, speaks := range d.open {
		if speaks {
			st.Attached++
		}
	}
	return st
}

// stop gives the socket to whoever comes next, lets what was asked be answered while ctx lasts, and ends every connection. It
// returns at once, and tells through the channel when that is done.
func (d *local) stop(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	if d == nil {
		done <- nil
		return done
	}
	err := d.l.Close()
	d.close(func(c *socket.Conn) { _ = c.CloseRead() }) // what has come is answered, and then the input has ended
	go func() {
		idle := make(chan struct{})
		go func() { d.running.Wait(); close(idle) }()
		select {
		case <-idle:
		case <-ctx.Done():
			d.endCalls()
			select {
			case <-idle:
			case <-time.After(lastWords):
			}
		}
		d.endCalls()
		d.close(func(c *socket.Conn) { _ = c.Close() }) // also where nobody reads
		<-idle
		done <- err
	}()
	return done
}

// close lets no new connections in, and does something to those that there are.
func (d *local) close(do func(*socket.Conn)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping = true
	for c := range d.open {
		do(c)
	}
}
