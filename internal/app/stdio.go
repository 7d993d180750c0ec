package app

import (
	"context"
	"errors"
	"io"

	"github.com/ctxd/ctxd/internal/mcpserver"
)

// ServeStdio speaks MCP with one client until the client or ctx ends it.
func ServeStdio(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	e, err := OpenEngine(ctx, o)
	if err != nil {
		return err
	}
	s := mcpserver.New(mcpserver.Config{Pipeline: e.Pipeline, Version: o.Version, Preset: o.Config.Preset, NewID: NewID, Logger: o.Logger})
	err = s.ServeStdio(ctx, in, out)
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		err = nil // the client is done, or the process was told to stop
	}
	return errors.Join(err, e.Close())
}

// NeedsToken says whether callers need a token.
func (s *Server) NeedsToken() bool { return !s.gate.Open() }
