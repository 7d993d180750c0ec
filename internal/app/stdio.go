package app

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ctxd/ctxd/internal/mcpserver"
)

// ServeStdio speaks MCP with one client until the client or ctx ends it.
func ServeStdio(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	e, err := OpenEngine(ctx, o)
	if err != nil {
		return err
	}
	s := mcpserver.New(mcpserver.Config{Pipeline: e.Pipeline, Version: o.Version, Preset: o.Config.Preset, NewID: NewID, Logger: o.Logger})
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(ctx, in, out) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		// A client that reads no more must not keep the process from stopping.
		select {
		case err = <-ended:
		case <-time.After(stopTimeout):
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		err = nil // the client is done, or the process was told to stop
	}
	return errors.Join(err, e.Close())
}

// NeedsToken says whether callers need a token.
func (s *Server) NeedsToken() bool { return !s.gate.Open() }
