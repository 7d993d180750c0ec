package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

const (
	maxGroup   = 512                    // jobs of one transaction
	pollEvery  = 250 * time.Millisecond // how often other processes' commits are looked for
	quietAfter = 200 * time.Millisecond // without jobs, until background work starts
	idleEvery  = 1024                   // jobs after which background work no longer waits for quiet
)

// job is one call of Write, Queue or Flush.
type job struct {
	fn      func(*Tx) error // nil for Flush
	settled chan error      // capacity 1; nil for Queue
	claimed atomic.Bool     // by the writer that runs it, or by the caller that gave up
	err     error
}

// claim says whether the job is the caller's: its one caller that is told true decides about it.
func (j *job) claim() bool { return j.claimed.CompareAndSwap(false, true) }

// writer is the goroutine that owns the writing connection. What queues while it commits becomes its next group.
type writer struct {
	s       *Store
	c       *conn
	wake    chan struct{} // capacity 1
	stopped chan struct{}

	unsettled atomic.Int64 // jobs whose group has not ended

	mu       sync.Mutex
	queue    []*job
	work     int       // jobs of the queue that are no Flush
	urgent   bool      // someone waits for a job of the queue
	since    time.Time // when the queue's first job came
	stopping bool
	idles    []func(*Tx) (bool, error)

	// owned by the goroutine
	linger      *time.Timer
	quiet       *time.Timer
	poll        *time.Ticker
	dataVersion int64
	backlog     bool // there may be background work
	busyJobs    int  // since the last background work
	wasQuiet    bool
	jobs        []*job // storage of the last group
}

func newWriter(s *Store) *writer {
	return &writer{
		s: s, c: s.db.c, wake: make(chan struct{}, 1), stopped: make(chan struct{}),
		linger: time.NewTimer(time.Hour), quiet: time.NewTimer(quietAfter), poll: time.NewTicker(pollEvery),
		backlog: true, // an earlier process may have left some
	}
}

// push queues a job. Only Write counts against MaxQueue together with Queue: a Flush adds no work.
func (w *writer) push(j *job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopping {
		return errStopping
	}
	n := len(w.queue)
	if n >= w.s.opts.MaxQueue && j.fn != nil {
		return fault.New(catalog.Overloaded, "too many writes wait for the store").After(time.Second)
	}
	if n == 0 && j.settled == nil {
		w.since = w.s.opts.Now()
	}
	w.queue = append(w.queue, j)
	if j.fn != nil {
		w.work++
	}
	w.unsettled.Add(1)
	// The writer is woken when its reason to start changes, not for every job.
	if n == 0 || n+1 == maxGroup || (j.settled != nil && !w.urgent) {
		w.signal()
	}
	w.urgent = w.urgent || j.settled != nil
	return nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take moves the oldest jobs from the queue to the group, up to maxGroup in all. A job whose caller gave up is left out.
func (w *writer) take(group []*job) []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), maxGroup-len(group))
	for _, j := range w.queue[:n] {
		if j.fn != nil {
			w.work--
		}
		if j.claim() {
			group = append(group, j)
		} else {
			w.unsettled.Add(-1)
		}
	}
	rest := copy(w.queue, w.queue[n:])
	clear(w.queue[rest:])
	w.queue = w.queue[:rest]
	w.urgent = rest > 0 && w.urgent
	return group
}

// due says whether the next group should start now.
func (w *writer) due() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left() <= 0
}

// left is how long the queue may still linger; an empty one as long as it likes.
func (w *writer) left() time.Duration {
	switch {
	case len(w.queue) == 0:
		return time.Hour
	case w.urgent || w.stopping || len(w.queue) >= maxGroup:
		return 0
	}
	left := w.s.opts.Linger - w.s.opts.Now().Sub(w.since)
	return min(left, w.s.opts.Linger) // the clock may have been set back
}

func (w *writer) run() {
	defer close(w.stopped)
	defer w.poll.Stop()
	for {
		select {
		case <-w.poll.C:
			w.look()
		default:
		}
		w.mu.Lock()
		left, empty, work, stopping := w.left(), len(w.queue) == 0, w.work, w.stopping
		w.mu.Unlock()
		switch {
		case stopping && empty:
			return
		case left <= 0 && work == 0:
			w.settle(w.take(nil), nil) // only Flush: all before it has ended
		case left <= 0:
			w.group()
		case w.backlog && (w.wasQuiet || w.busyJobs >= idleEvery):
			w.idle()
		default:
			w.wait(left)
		}
	}
}

func (w *writer) wait(left time.Duration) {
	w.linger.Reset(left)
	select {
	case <-w.wake:
	case <-w.linger.C:
	case <-w.poll.C:
		w.look()
	case <-w.quiet.C:
		w.wasQuiet = true
	}
}

// look finds out whether another process has committed: the number changes for everyone but the connection that did it.
func (w *writer) look() {
	var v int64
	if err := row(w.c.query(context.Background(), "PRAGMA data_version")).Scan(&v); err != nil {
		w.c.failed = nil // the next transaction meets it too, and reports it
		return
	}
	if w.dataVersion != 0 && v != w.dataVersion {
		w.s.foreign.fire()
		w.s.committed.fire()
	}
	w.dataVersion = v
}

// stop lets the writer commit its queue and waits for it. Twice is fine.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopping = true
	w.signal()
	w.mu.Unlock()
	<-w.stopped
}

func (w *writer) addIdle(fn func(*Tx) (bool, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idles = append(w.idles, fn)
}
