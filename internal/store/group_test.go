package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// groups counts the transactions of the jobs that it is part of.
type groups struct{ n *atomic.Int64 }

func (g groups) Mark() int       { return 0 }
func (g groups) Rewind(int)      {}
func (g groups) Flush(*Tx) error { return nil }
func (g groups) Done(bool)       { g.n.Add(1) }

func TestWritersShareTransactions(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	var transactions atomic.Int64
	const writers, each = 64, 10
	var wg sync.WaitGroup
	release := hold(t, s)
	for range writers {
		wg.Go(func() {
			for range each {
				err := s.Write(context.Background(), func(tx *Tx) error {
					tx.Part("groups", func() Part { return groups{&transactions} })
					return note("x")(tx)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	queued(t, s, writers)
	release()
	wg.Wait()
	if n := len(notes(t, s)); n != writers*each {
		t.Errorf("%d rows", n)
	}
	// The first group holds all the first writes: what the others save comes on top.
	if n := transactions.Load(); n > writers*each-writers {
		t.Errorf("%d transactions for %d writes", n, writers*each)
	}
	t.Logf("%d writes in %d transactions", writers*each, transactions.Load())
}

func TestFullQueueIsRefused(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{MaxQueue: 2})
	release := hold(t, s)
	must(t, s.Queue(note("a")))
	must(t, s.Queue(note("b")))
	for what, err := range map[string]error{"queue": s.Queue(note("x")), "write": s.Write(t.Context(), note("x"))} {
		if !fault.Is(err, catalog.Overloaded) || fault.From(err).RetryAfter == 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	release()
	must(t, s.Flush(t.Context())) // has a place all the same
	must(t, s.Write(t.Context(), note("c")))
	expect(t, s, "a", "b", "c")
}

// A queued job waits for company as long as Linger and no longer, and not at all when somebody waits for another one.
func TestLinger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openIn(t, dir, Options{})
		var ran atomic.Bool
		queue := func() {
			ran.Store(false)
			must(t, s.Queue(func(tx *Tx) error {
				ran.Store(true)
				return note("x")(tx)
			}))
		}
		queue()
		time.Sleep(5*time.Millisecond - time.Microsecond)
		synctest.Wait()
		if ran.Load() {
			t.Error("it did not linger")
		}
		time.Sleep(2 * time.Microsecond)
		synctest.Wait()
		if !ran.Load() {
			t.Error("it lingered longer")
		}
		queue()
		begun := time.Now()
		must(t, s.Write(t.Context(), note("y")))
		if !ran.Load() || time.Since(begun) > 0 {
			t.Errorf("a write did not take it along: ran %v after %v", ran.Load(), time.Since(begun))
		}
		queue()
		must(t, s.Flush(t.Context()))
		if !ran.Load() || time.Since(begun) > 0 {
			t.Errorf("a flush did not take it along: ran %v after %v", ran.Load(), time.Since(begun))
		}
	})
}

// Background work runs when nobody waits, in steps that end when somebody does.
func TestIdle(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	steps := make(chan int)
	n := 0
	s.Idle(func(tx *Tx) (bool, error) {
		if n++; n > 3 {
			return false, nil
		}
		steps <- n
		for n == 2 && !tx.Waiting() {
			time.Sleep(time.Millisecond)
		}
		return true, note("idle")(tx)
	})
	must(t, s.Write(t.Context(), note("a")))
	<-steps
	<-steps                                  // the second one now runs until it sees
	must(t, s.Write(t.Context(), note("b"))) // this write
	<-steps
	must(t, s.Flush(t.Context()))
	must(t, s.Write(t.Context(), note("c")))
	expect(t, s, "a", "idle", "idle", "b", "idle", "c")
}

func TestFailedIdleLeavesNothing(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	ran := make(chan struct{}, 100)
	s.Idle(func(tx *Tx) (bool, error) {
		ran <- struct{}{}
		return true, errors.Join(note("lost")(tx), errors.New("boom"))
	})
	<-ran
	must(t, s.Write(t.Context(), note("a")))
	expect(t, s, "a")
}

// A disk that is full fails every waiter and is told by Healthy until a write succeeds again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	must(t, s.Write(t.Context(), note("a")))
	limit := func(sql string) {
		must(t, s.Write(t.Context(), func(tx *Tx) error { return tx.QueryRow(sql).Scan(new(int)) }))
	}
	limit("PRAGMA max_page_count = 1")
	big := string(make([]byte, 1<<20))
	release := hold(t, s)
	errs := make(chan error, 2)
	for _, text := range []string{"small", big} {
		go func() { errs <- s.Write(context.Background(), note(text)) }()
	}
	queued(t, s, 2)
	release()
	for range 2 {
		if err := <-errs; !fault.Is(err, catalog.StoreUnavailable) || sqliteCode(err) == 0 {
			t.Errorf("got %v", err)
		}
	}
	if err := s.Healthy(); !fault.Is(err, catalog.StoreUnavailable) {
		t.Errorf("healthy: %v", err)
	}
	expect(t, s, "a")
	limit("PRAGMA max_page_count = 100000")
	must(t, s.Write(t.Context(), note("b")))
	must(t, s.Healthy())
	expect(t, s, "a", "b")
}
