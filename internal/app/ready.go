package app

import (
	"context"
	"sync"
	"time"

	"github.com/ctxd/ctxd/internal/fault"
)

// reloadState remembers why the last reload was refused.
type reloadState struct {
	mu  sync.Mutex
	err error
}

func (r *reloadState) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *reloadState) get() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// probeCache keeps the outcome of a probe of the store for a moment, since anybody may ask for it as often as he likes.
type probeCache struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

const probeAge = time.Second

func (p *probeCache) get(now time.Time, probe func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() || now.Sub(p.at) >= probeAge || now.Before(p.at) {
		p.err, p.at = probe(), now
	}
	return p.err
}

// reasons says why the server wants no traffic (http.md X2): the store cannot be written, or the last reload was refused.
func (s *Server) reasons(ctx context.Context) []string {
	var out []string
	select {
	case <-s.stop:
		out = append(out, "the server is stopping")
	default:
	}
	err := s.probe.get(s.now()(), func() error {
		// The outcome is for all who ask: that one of them went away says nothing of the store.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		return s.Store.Probe(ctx)
	})
	if err != nil {
		out = append(out, "the store cannot be written: "+fault.From(err).Message)
	}
	if err := s.reload.get(); err != nil {
		out = append(out, "the reloaded configuration was refused: "+fault.From(err).Message)
	}
	return out
}
