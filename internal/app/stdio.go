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
	return e.serveStdio(ctx, in, out)
}

func (e *Engine) serveStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	s := mcpserver.New(mcpserver.Config{Pipeline: e.Pipeline, Version: e.Version, Preset: e.Config.Preset, NewID: NewID, Logger: e.Logger})
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(ctx, in, out) }()
	err := outcome(ctx, ended, func() {})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		err = nil // the client is done, or the process was told to stop
	}
	return errors.Join(err, e.Close())
}

// outcome waits for the end of a conversation. A client that reads no more must not keep the process from stopping: some time
// after ctx has ended, cut is called, and the conversation is left alone.
func outcome(ctx context.Context, ended <-chan error, cut func()) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(stopTimeout):
		cut()
		return nil
	}
}

// NeedsToken says whether callers need a token.
func (s *Server) NeedsToken() bool { return !s.gate.Open() }
