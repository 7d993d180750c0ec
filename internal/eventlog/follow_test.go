package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/store"
)

// watch follows in a goroutine, and checks that ids only rise. The slow ones sleep at random.
type watch struct {
	ids      []int64
	live     int
	backfill []Backfill
	ended    chan error
}

func (l *Log) watch(ctx context.Context, t testing.TB, q Query, pause func(), until int) *watch {
	w := &watch{ended: make(chan error, 1)}
	go func() {
		w.ended <- l.Follow(ctx, q, Full, func(b Batch) error {
			pause()
			if b.Backfill != nil {
				w.backfill = append(w.backfill, *b.Backfill)
			}
			if len(b.Frames) > limit(q.Limit, DefaultLimit, MaxLimit) {
				t.Errorf("a batch of %d frames", len(b.Frames))
			}
			for _, f := range b.Frames {
				var e struct {
					ID   int64
					Kind catalog.EventKind
				}
				if err := json.Unmarshal(f.Data, &e); err != nil || e.ID != f.ID || e.Kind != f.Kind {
					t.Errorf("frame %d %s holds %s", f.ID, f.Kind, f.Data)
				}
				if n := len(w.ids); n > 0 && f.ID <= w.ids[n-1] {
					t.Errorf("id %d after %d", f.ID, w.ids[n-1])
				}
				w.ids = append(w.ids, f.ID)
				if b.Live {
					w.live++
				}
			}
			if len(w.ids) >= until {
				return errDone
			}
			return nil
		})
	}()
	return w
}

var errDone = errors.New("done")

// done waits for the end of a watch and compares what it got.
func (w *watch) done(t testing.TB, want []int64) {
	t.Helper()
	select {
	case err := <-w.ended:
		if !errors.Is(err, errDone) {
			t.Errorf("follow ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the events never came")
	}
	if !slices.Equal(w.ids, want) {
		t.Errorf("got %d ids %v\nwant %d: %v", len(w.ids), w.ids, len(want), want)
	}
}

// Case 26: whatever is appended when, by this process or another one, each follower gets what its query asks for, in order and
// once, however slow it is.
func TestE5FollowProperty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, other := openIn(t, dir), openIn(t, dir)
	rnd := rand.New(rand.NewPCG(3, 4))
	const total = 400
	kinds := []catalog.EventKind{catalog.EventToolCallRecorded, catalog.EventSessionMutated, catalog.EventProofAdded}
	drafts := make([]Draft, total)
	for i := range drafts {
		drafts[i] = call(string(rune('a'+rnd.IntN(2))), i)
		drafts[i].Kind = kinds[rnd.IntN(len(kinds))]
	}
	l.add(t, drafts[:50]...)

	type follower struct {
		q Query
		*watch
	}
	var followers []follower
	count := func(q Query) (n int) {
		for _, d := range drafts {
			if d.Channel == q.Channel && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, d.Kind)) {
				n++
			}
		}
		return n
	}
	for i := range 8 {
		q := Query{Workspace: "w", Channel: string(rune('a' + i%2)), Limit: 1 + rnd.IntN(40)}
		if i > 3 {
			q.Kinds = kinds[:1+i%2]
		}
		slow := rand.New(rand.NewPCG(5, uint64(i)))
		pause := func() { time.Sleep(time.Duration(slow.IntN(1+i)) * time.Millisecond) }
		followers = append(followers, follower{q, l.watch(t.Context(), t, q, pause, count(q))})
	}
	var wg sync.WaitGroup
	for g := range 4 { // two writers here, two in the other store
		wg.Go(func() {
			log, rnd := []*Log{l, other}[g%2], rand.New(rand.NewPCG(6, uint64(g)))
			for i := 50 + g; i < total; i += 4 {
				if rnd.IntN(2) == 0 {
					log.add(t, drafts[i])
				} else {
					log.queue(t, drafts[i])
				}
				if rnd.IntN(20) == 0 {
					time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	must(t, other.s.Flush(t.Context()))
	for _, f := range followers {
		var ids []int64
		for _, e := range l.all(t, f.q.Channel) {
			if len(f.q.Kinds) == 0 || slices.Contains(f.q.Kinds, e.Kind) {
				ids = append(ids, e.ID)
			}
		}
		f.done(t, ids)
	}
}

// Live events come from memory, and only to those whose stream changed.
func TestLive(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	l.add(t, call("a", 0))
	ctx, cancel := context.WithCancel(t.Context())
	caughtUp := make(chan struct{})
	var once sync.Once
	a := l.watch(ctx, t, Query{Workspace: "w", Channel: "a"}, func() { once.Do(func() { close(caughtUp) }) }, 11)
	b := l.watch(ctx, t, Query{Workspace: "w", Channel: "b"}, func() { t.Error("b was told") }, 1)
	<-caughtUp
	events := l.add(t, slices.Repeat([]Draft{call("a", 1)}, 10)...)
	a.done(t, append([]int64{1}, ids(events)...))
	if a.live < 9 || len(a.backfill) > 0 { // the first may race with the end of the replay
		t.Errorf("%d of 10 were live, backfill %v", a.live, a.backfill)
	}
	if n := l.Following(); n < 1 || n > 2 {
		t.Errorf("%d follow", n)
	}
	cancel()
	if err := <-b.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := l.Following(); n != 0 || len(l.feeds.m) != 0 {
		t.Errorf("%d follow, %d feeds", n, len(l.feeds.m))
	}
}

// E6: who was too slow for the memory is told that it gets the rest from the log, and gets it.
func TestSlowFollower(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	l.add(t, call("a", 0))
	first, held, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	const late = feedEvents + 100
	batches := 0
	w := l.watch(t.Context(), t, Query{Workspace: "w", Channel: "a"}, func() {
		switch batches++; batches {
		case 1:
			close(first)
		case 2:
			close(held)
			<-release
		}
	}, late+2)
	<-first
	l.add(t, call("a", 1))
	<-held
	l.queue(t, slices.Repeat([]Draft{call("a", 2)}, late)...)
	must(t, l.s.Flush(t.Context()))
	close(release)
	w.done(t, ids(l.all(t, "a")))
	if !slices.Equal(w.backfill, []Backfill{{FromID: 3, ToID: late + 2}}) {
		t.Errorf("backfill %+v", w.backfill)
	}
}

// E6: what retention has pruned is counted, where the filter lets one count.
func TestPruned(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	events := l.add(t, slices.Repeat([]Draft{call("a", 0)}, 10)...)
	must(t, l.s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec("DELETE FROM event WHERE id IN (1, 2, 3, 6)")
		return err
	}))
	for _, c := range []struct {
		q        Query
		from     int
		backfill []Backfill
	}{
		{Query{}, 3, []Backfill{{1, 3, 3}, {6, 6, 1}}},
		{Query{Since: 5}, 6, []Backfill{{6, 6, 1}}},
		{Query{Since: 2}, 3, []Backfill{{6, 6, 1}}}, // whose own place is gone
		{Query{Tail: true, Limit: 2}, 8, nil},
		{Query{Since: 3, Kinds: []catalog.EventKind{catalog.EventToolCallRecorded}}, 3, nil},
	} {
		want := slices.DeleteFunc(ids(events[c.from:]), func(id int64) bool { return id == 6 })
		c.q.Workspace, c.q.Channel = "w", "a"
		w := l.watch(t.Context(), t, c.q, func() {}, len(want))
		w.done(t, want)
		if !slices.Equal(w.backfill, c.backfill) {
			t.Errorf("%+v: backfill %+v", c.q, w.backfill)
		}
	}
}

// A tail goes on where it ends.
func TestTailGoesOn(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	l.add(t, slices.Repeat([]Draft{call("a", 0)}, 10)...)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	w := l.watch(t.Context(), t, Query{Workspace: "w", Channel: "a", Tail: true, Limit: 3}, begin, 5)
	<-begun
	l.add(t, call("a", 1), call("a", 2))
	w.done(t, []int64{8, 9, 10, 11, 12})
}

func TestFollowEndsWithTheStore(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	w := l.watch(context.Background(), t, Query{Workspace: "w", Channel: "a"}, func() {}, 1)
	time.Sleep(20 * time.Millisecond)
	must(t, l.s.Close())
	if err := <-w.ended; err == nil || errors.Is(err, errDone) {
		t.Errorf("got %v", err)
	}
}
