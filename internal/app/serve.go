package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/config"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/limit"
	"github.com/ctxd/ctxd/internal/mcpserver"
	"github.com/ctxd/ctxd/internal/rest"
)

// Bounds of the server that are no configuration.
const (
	maxHeader    = 64 << 10         // bytes of request line and headers
	writeTimeout = 30 * time.Second // for a client to accept a piece of an answer
	stopTimeout  = 3 * time.Second  // for running requests to end by themselves
	sessionTTL   = 10 * time.Minute // of an idle MCP session
	keepAlive    = 15 * time.Second // of an event stream (http.md E7)
)

// Server is a running HTTP server.
type Server struct {
	*Engine
	http     *http.Server
	listener net.Listener
	mcp      *mcpserver.Server
	gate     *identity.Gate
	door     *rest.Server
	hosts    sharedStrings
	reload   reloadState
	probe    probeCache
	local    *local // nil where the socket is not ours
	noSocket error  // why
	started  time.Time
	stop     chan struct{}
	stopping sync.Once
	cancel   context.CancelFunc
	served   chan error
}

// Start opens the engine, binds the address and serves. The server runs until Stop.
func Start(ctx context.Context, o Options) (*Server, error) {
	e, err := OpenEngine(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &Server{Engine: e, stop: make(chan struct{}), served: make(chan error, 1), started: o.now()()}
	if err := s.build(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if s.local, s.noSocket = s.listenLocal(ctx); s.local != nil {
		go s.local.serve()
	}
	go func() { s.served <- s.http.Serve(s.listener) }()
	return s, nil
}

func (s *Server) build(ctx context.Context) error {
	tokens, err := s.Config.IdentityTokens(s.Workspaces.IDs())
	if err != nil {
		return err
	}
	s.gate = identity.NewGate(identity.NewTable(tokens, s.now()))
	s.hosts.set(s.Config.AllowedHosts)
	if !loopback(s.Config.Host) && s.gate.Open() {
		return fault.New(catalog.InvalidRequest, "binding %s needs a token: give --auth-token, or configure tokens", s.Config.Host)
	}
	handler, err := s.handler()
	if err != nil {
		return err
	}
	if s.listener, err = listen(ctx, s.Config.Host, s.Config.Port); err != nil {
		return err
	}
	base, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: milliseconds(s.Config.HeaderTimeoutMs),
		IdleTimeout:       milliseconds(s.Config.IdleTimeoutMs),
		MaxHeaderBytes:    maxHeader,
		// net/http would answer "OPTIONS *" by itself, past every guard.
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ErrorLog:                     slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn),
	}
	return nil
}

// handler joins the two doors, which do not know each other.
func (s *Server) handler() (http.Handler, error) {
	proxies, err := prefixes(s.Config.TrustedProxies)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("app: %w", err)
	}
	s.mcp = mcpserver.New(mcpserver.Config{
		Pipeline: s.Pipeline, Version: s.Version, Preset: s.Config.Preset, NewID: NewID, Logger: s.Logger,
		Stateful: s.Config.StatefulMode, SessionTTL: sessionTTL, Secret: secret, Principal: rest.Principal,
		Fail:   func(w http.ResponseWriter, r *http.Request, err error) { s.door.Fail(w, r, err) },
		Charge: func(ctx context.Context) error { return s.door.Charge(ctx) },
	})
	c := s.Config
	s.door, err = rest.New(rest.Config{
		Pipeline: s.Pipeline, Log: s.Log, Gate: s.gate, Meter: s.Meter, MCP: s.mcp,
		Version: s.Version, Preset: c.Preset, RefusesKeys: len(c.RefusedFiles) > 0,
		AllowedHosts: s.hosts.get, TrustedProxies: proxies,
		MaxBody: int64(c.MaxBodyBytes), BodyTimeout: milliseconds(c.BodyTimeoutMs), WriteTimeout: writeTimeout, KeepAlive: keepAlive,
		Rate:        limit.NewRate(float64(c.MaxRps), c.RateBurst, s.now()),
		Failures:    limit.NewRate(1.0/3, c.MaxLoginFailures, s.now()),
		Concurrency: limit.NewGate(c.MaxConcurrency, c.MaxQueue, milliseconds(c.MaxQueueMs)),
		Streams:     limit.NewStreams(c.MaxStreamsPerToken, c.MaxStreams),
		Ready:       s.reasons, Stop: s.stop, Deprecated: catalog.Deprecations,
		Now: s.now(), NewID: NewID, Logger: s.Logger,
	})
	return s.door, err
}

func prefixes(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, aErr := netip.ParseAddr(text)
			if aErr != nil {
				return nil, fault.New(catalog.InvalidRequest, "trusted_proxies: %q is neither an address nor a range", text)
			}
			p = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// loopback says whether a host can only be reached from this machine.
func loopback(host string) bool {
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.New(catalog.InvalidRequest, "port %d of %s is taken; --port N takes another one, --port 0 a free one", port, host)
	case errors.Is(err, syscall.EACCES):
		return nil, fault.New(catalog.InvalidRequest, "port %d may not be bound by this user; take one above 1023", port)
	case err != nil:
		return nil, fault.New(catalog.InvalidRequest, "cannot bind %s port %d: %w", host, port, err)
	}
	return rest.Listener(l), nil
}

// URL is where the server can be reached.
func (s *Server) URL() string {
	host := strings.Trim(s.Config.Host, "[]")
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
	}
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return "http://" + net.JoinHostPort(host, port)
}

// Routes are the patterns that are served, sorted: "GET /v1/tools".
func (s *Server) Routes() []string { return s.door.Routes() }

// Served gives the error that ended the server, once.
func (s *Server) Served() <-chan error { return s.served }

// Stop ends streams, lets running requests finish for a while, commits what is queued and frees everything. It takes less
// than 5 seconds; twice is fine.
func (s *Server) Stop() error {
	var err error
	s.stopping.Do(func() {
		close(s.stop)
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		ended := s.local.stop(ctx)
		if err = s.http.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			s.cancel() // what still runs is told to end, and its connections are closed
			err = s.http.Close()
		}
		err = errors.Join(err, <-ended)
		s.cancel()
		s.mcp.Close()
		err = errors.Join(err, s.Close())
	})
	return err
}

// sharedStrings is a list that a reload may replace.
type sharedStrings struct {
	mu   sync.RWMutex
	list []string
}

func (l *sharedStrings) set(list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = list
}

func (l *sharedStrings) get() []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.list
}

// Reload puts tokens and allowed hosts of another configuration in force. If it is refused, everything stays as it was, and
// /ready says so until a good one comes.
func (s *Server) Reload(next *config.Config, err error) error {
	if err == nil {
		err = s.adopt(next)
	}
	s.reload.set(err)
	return err
}

func (s *Server) adopt(next *config.Config) error {
	tokens, err := next.IdentityTokens(s.Workspaces.IDs())
	if err != nil {
		return err
	}
	if len(tokens) == 0 && !s.gate.Open() {
		return fault.New(catalog.InvalidRequest, "a reload cannot take away the last token; restart the server to run without")
	}
	if frozen := s.Config.Frozen(next); len(frozen) > 0 {
		return fault.New(catalog.InvalidRequest, "a reload cannot change %s; restart the server", strings.Join(frozen, ", "))
	}
	s.gate.Swap(identity.NewTable(tokens, s.now()))
	s.hosts.set(next.AllowedHosts)
	return nil
}
