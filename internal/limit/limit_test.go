package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// L1: a bucket per key, full at first, refilled by the clock.
func TestL1Rate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := NewRate(2, 3, func() time.Time { return now })
	for range 3 {
		if err := r.Take("a"); err != nil {
			t.Fatal(err)
		}
	}
	err := r.Take("a")
	if f := fault.From(err); f == nil || f.Code != catalog.RateLimited || f.RetryAfter <= 0 || f.RetryAfter > time.Second {
		t.Errorf("%v", err)
	}
	if err := r.Check("a"); err == nil {
		t.Error("Check lets through what Take refuses")
	}
	if err := r.Take("b"); err != nil {
		t.Errorf("another key pays: %v", err)
	}
	now = now.Add(500 * time.Millisecond)
	if err := r.Check("a"); err != nil {
		t.Error("Check takes")
	}
	if err := r.Take("a"); err != nil {
		t.Errorf("not refilled: %v", err)
	}
}

func TestL1ZeroIsOff(t *testing.T) {
	t.Parallel()
	for _, r := range []*Rate{NewRate(0, 5, time.Now), NewRate(5, 0, time.Now)} {
		for range 1000 {
			if err := r.Take("a"); err != nil {
				t.Fatal(err)
			}
		}
	}
	g, s := NewGate(0, 0, 0), NewStreams(0, 0)
	for range 1000 {
		if _, err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open("a"); err != nil {
			t.Fatal(err)
		}
	}
}

// A flood of addresses does not take the memory, and who waited does not come through because of it.
func TestRateForgets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := NewRate(1, 1, func() time.Time { return now })
	for i := range 3 * maxKeys {
		if i%maxKeys == 0 {
			now = now.Add(time.Hour)
		}
		if err := r.Take(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.buckets) > maxKeys {
		t.Errorf("%d buckets", len(r.buckets))
	}
}

func TestL1GateQueues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1, 1, time.Second)
		leave, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			leave, err := g.Enter(t.Context())
			if err == nil {
				leave()
			}
			got <- err
		}()
		synctest.Wait()
		if _, err := g.Enter(t.Context()); !fault.Is(err, catalog.Overloaded) || fault.From(err).RetryAfter <= 0 {
			t.Errorf("the queue has no end: %v", err)
		}
		leave()
		leave() // twice is fine
		if err := <-got; err != nil {
			t.Error(err)
		}
		if leave, err = g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := g.Enter(t.Context()); !fault.Is(err, catalog.Overloaded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Enter(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		leave()
	})
}

// However callers come and go, never more are inside than fit, and all places come back.
func TestGateProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 4).Draw(t, "size")
		g := NewGate(size, 100, time.Minute)
		var mu sync.Mutex
		inside, most := 0, 0
		var wg sync.WaitGroup
		for range rapid.IntRange(1, 20).Draw(t, "callers") {
			wg.Go(func() {
				leave, err := g.Enter(context.Background())
				if err != nil {
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				leave()
			})
		}
		wg.Wait()
		if most > size || len(g.slots) != 0 || g.queued.Load() != 0 {
			t.Fatalf("%d inside of %d, %d places and %d waiting left", most, size, len(g.slots), g.queued.Load())
		}
	})
}

func TestL1Streams(t *testing.T) {
	t.Parallel()
	s := NewStreams(1, 2)
	leave, err := s.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open("a"); !fault.Is(err, catalog.RateLimited) {
		t.Errorf("a second stream of a: %v", err)
	}
	if _, err := s.Open("b"); err != nil {
		t.Error(err)
	}
	if _, err := s.Open("c"); !fault.Is(err, catalog.RateLimited) {
		t.Errorf("a third stream: %v", err)
	}
	leave()
	leave()
	if _, err := s.Open("a"); err != nil {
		t.Error(err)
	}
	if s.all != 2 || len(s.open) != 2 {
		t.Errorf("%d, %v", s.all, s.open)
	}
}
