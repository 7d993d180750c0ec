package e2e

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/contracttest"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/limit"
	"github.com/ctxd/ctxd/internal/mcpserver"
	"github.com/ctxd/ctxd/internal/memory"
	"github.com/ctxd/ctxd/internal/rest"
	"github.com/ctxd/ctxd/internal/testkit"
	"github.com/ctxd/ctxd/internal/tool"
)

// plan is how a composed server differs from the one that app builds.
type plan struct {
	set      testkit.Settings
	tools    func(action.Handlers) action.Handlers // stands before the tools
	timeout  time.Duration                         // of a call
	rest     func(*rest.Config)
	mcp      func(*mcpserver.Config)
	tokens   []identity.Token
	now      func() time.Time // by which tokens end; time.Now when nil
	stateful bool
	buffer   int // of a connection for what is written, in bytes; 0: as the system has it
}

// composed is a server that is put together here, for what no configuration can set.
type composed struct {
	*testkit.Server
	engine   *app.Engine
	pipeline *action.Pipeline
	stop     chan struct{}
	gate     *identity.Gate
	door     *rest.Server
}

// compose starts a server on loopback, which ends with the test.
func compose(t testing.TB, p plan) *composed {
	t.Helper()
	set := with(testkit.Settings{"data_dir": filepath.Join(t.TempDir(), "data")}, p.set)
	if set["project_root"] == nil {
		set["project_root"] = repository(t)
	}
	e, err := app.OpenEngine(t.Context(), options(t, set))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("closing the engine: %v", err)
		}
	})
	if p.now == nil {
		p.now = time.Now
	}
	c := &composed{engine: e, stop: make(chan struct{}), gate: identity.NewGate(identity.NewTable(p.tokens, p.now))}
	mem := memory.New(e.Store, e.Meter, time.Now)
	var handlers action.Handlers = tool.New(mem)
	if p.tools != nil {
		handlers = p.tools(handlers)
	}
	c.pipeline, err = action.New(action.Config{
		Workspaces: e.Workspaces, Store: e.Store, Log: e.Log, Memory: mem, Meter: e.Meter, Timeout: p.timeout, Now: time.Now, NewID: app.NewID,
	}, handlers)
	if err != nil {
		t.Fatal(err)
	}
	c.serve(t, p)
	return c
}

// serve puts both doors before the pipeline, as app does.
func (c *composed) serve(t testing.TB, p plan) {
	t.Helper()
	logs := &testkit.Buffer{}
	var door *rest.Server
	mc := mcpserver.Config{
		Pipeline: c.pipeline, Version: "test", Preset: "coding", NewID: app.NewID, Logger: c.engine.Logger, Stateful: p.stateful,
		SessionTTL: time.Minute, Secret: []byte("secret"), Principal: rest.Principal,
		Fail:   func(w http.ResponseWriter, r *http.Request, err error) { door.Fail(w, r, err) },
		Charge: func(ctx context.Context) error { return door.Charge(ctx) },
	}
	if p.mcp != nil {
		p.mcp(&mc)
	}
	rc := rest.Config{
		Pipeline: c.pipeline, Log: c.engine.Log, Gate: c.gate, Meter: c.engine.Meter, MCP: mcpserver.New(mc),
		Version: "test", Preset: "coding", AllowedHosts: func() []string { return nil }, MaxBody: 1 << 20,
		BodyTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, KeepAlive: 15 * time.Second,
		Rate: limit.NewRate(0, 0, time.Now), Failures: limit.NewRate(0, 0, time.Now),
		Concurrency: limit.NewGate(0, 0, 0), Streams: limit.NewStreams(0, 0),
		Ready: func(context.Context) []string { return nil }, Stop: c.stop,
		Now: p.now, NewID: app.NewID, Logger: logger(logs),
	}
	if p.rest != nil {
		p.rest(&rc)
	}
	var err error
	if door, err = rest.New(rc); err != nil {
		t.Fatal(err)
	}
	c.door = door
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: door, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(rest.Listener(buffered{l, p.buffer})) }()
	base := &http.Transport{}
	t.Cleanup(func() {
		base.CloseIdleConnections()
		_ = srv.Close() // its connections are cut off
		<-served
	})
	c.Server = &testkit.Server{T: t, URL: "http://" + l.Addr().String(), Client: &http.Client{Transport: contracttest.Transport{Base: base}}, Logs: logs}
}

// buffered is a listener whose connections have a buffer of that size for what is written.
type buffered struct {
	net.Listener
	size int
}

// Accept implements net.Listener.
func (b buffered) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && b.size > 0 {
		err = errors.Join(err, tcp.SetWriteBuffer(b.size))
	}
	return c, err
}

// pipe serves stdio over the composed pipeline: what the client writes to in reaches it.
func (c *composed) pipe(t testing.TB) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	s := mcpserver.New(mcpserver.Config{Pipeline: c.pipeline, Version: "test", Preset: "coding", NewID: app.NewID, Logger: c.engine.Logger})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.ServeStdio(ctx, inR, outW) // it ends with its client, one way or another
		_ = outW.Close()                 // a pipe never fails to close
	}()
	t.Cleanup(func() { cancel(); _ = outR.Close(); <-done })
	return inW, outR
}
