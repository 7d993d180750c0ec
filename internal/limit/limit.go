// Package limit bounds what callers may take: requests per second, requests at once, and open streams (http.md L1).
//
// It knows no transport and reads no configuration; a limit of 0 is off everywhere. Keys are whatever tells callers apart.
package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// maxKeys is how many callers a Rate remembers before it forgets those that have all their tokens back.
const maxKeys = 16384

// Rate is a token bucket per key.
type Rate struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// NewRate allows burst events at once and perSecond in the long run, for each key. It is off if either is 0.
func NewRate(perSecond float64, burst int, now func() time.Time) *Rate {
	return &Rate{limit: rate.Limit(perSecond), burst: burst, now: now, buckets: map[string]*rate.Limiter{}}
}

// Off says that this limit bounds nothing.
func (r *Rate) Off() bool { return r.limit <= 0 || r.burst <= 0 }

// Take uses up one event of key. When there is none, it takes nothing and returns the fault rate_limited with the time to
// wait.
func (r *Rate) Take(key string) error {
	if r.Off() {
		return nil
	}
	now := r.now()
	b := r.bucket(key, now)
	if b.AllowN(now, 1) {
		return nil
	}
	return r.refuse(b, now)
}

// Check is Take without using anything up.
func (r *Rate) Check(key string) error {
	if r.Off() {
		return nil
	}
	now := r.now()
	b := r.bucket(key, now)
	if b.TokensAt(now) >= 1 {
		return nil
	}
	return r.refuse(b, now)
}

func (r *Rate) refuse(b *rate.Limiter, now time.Time) error {
	wait := time.Duration((1 - b.TokensAt(now)) / float64(r.limit) * float64(time.Second))
	return fault.New(catalog.RateLimited, "too many requests; try again later").After(max(wait, time.Millisecond))
}

func (r *Rate) bucket(key string, now time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, ok := r.buckets[key]; ok {
		return b
	}
	if len(r.buckets) >= maxKeys {
		r.forget(now)
	}
	b := rate.NewLimiter(r.limit, r.burst)
	r.buckets[key] = b
	return b
}

// forget drops the buckets that are full, which are as good as new; if none is, all of them, so that a flood of addresses
// cannot take the memory.
func (r *Rate) forget(now time.Time) {
	for k, b := range r.buckets {
		if b.TokensAt(now) >= float64(r.burst) {
			delete(r.buckets, k)
		}
	}
	if len(r.buckets) >= maxKeys {
		clear(r.buckets)
	}
}

// Gate lets a bounded number through at once, and lets a bounded number wait for a bounded time.
type Gate struct {
	slots  chan struct{} // nil: no bound
	queue  int64
	wait   time.Duration
	queued atomic.Int64
}

// NewGate lets size through, and lets queue wait for at most wait. It is off if size is 0.
func NewGate(size, queue int, wait time.Duration) *Gate {
	g := &Gate{queue: int64(queue), wait: wait}
	if size > 0 {
		g.slots = make(chan struct{}, size)
	}
	return g
}

// Enter waits for a place and returns how to give it back, which may be called twice. The fault is overloaded when the queue
// is full or the wait too long; when ctx ends first, its error.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	if g.slots == nil {
		return func() {}, nil
	}
	select {
	case g.slots <- struct{}{}:
		return g.leave(), nil
	default:
	}
	if g.queued.Add(1) > g.queue {
		g.queued.Add(-1)
		return nil, g.overloaded()
	}
	defer g.queued.Add(-1)
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		return g.leave(), nil
	case <-timer.C:
		return nil, g.overloaded()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (g *Gate) leave() func() {
	var once sync.Once
	return func() { once.Do(func() { <-g.slots }) }
}

func (g *Gate) overloaded() error {
	return fault.New(catalog.Overloaded, "the server is busy; try again later").After(max(g.wait, time.Second))
}

// Streams counts long-lived streams, by key and in all.
type Streams struct {
	perKey, total int

	mu   sync.Mutex
	open map[string]int
	all  int
}

// NewStreams allows perKey streams for each key and total in all; 0: no bound.
func NewStreams(perKey, total int) *Streams {
	return &Streams{perKey: perKey, total: total, open: map[string]int{}}
}

// Open takes a place and returns how to give it back, which may be called twice; or the fault rate_limited.
func (s *Streams) Open(key string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.perKey > 0 && s.open[key] >= s.perKey || s.total > 0 && s.all >= s.total {
		return nil, fault.New(catalog.RateLimited, "too many event streams are open; close one first").After(time.Second)
	}
	s.open[key]++
	s.all++
	var once sync.Once
	return func() { once.Do(func() { s.close(key) }) }, nil
}

func (s *Streams) close(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.open[key]--; s.open[key] == 0 {
		delete(s.open, key)
	}
}
