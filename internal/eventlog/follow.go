package eventlog

import (
	"context"
	"errors"
	"slices"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/store"
)

// Frame is an event as its reader sees it.
type Frame struct {
	ID   int64
	Kind catalog.EventKind
	Data []byte // JSON in one line; only until emit returns
}

// Batch is what Follow gives at once: at most Query.Limit frames with rising ids.
type Batch struct {
	Frames   []Frame
	Live     bool      // from the memory of a commit; else from the log
	Backfill *Backfill // comes before the frames, if there are any; nil for none
}

// Backfill tells of events that come late, or never (E6).
type Backfill struct {
	FromID  int64 `json:"fromId"`
	ToID    int64 `json:"toId"`
	Skipped int64 `json:"skipped"` // pruned by retention: they never come
}

// Follow gives every event of q after q.Since, first from the log in pages, then as they are committed, each once and in the
// order of their ids (E5, E6, E7). Since only the id of the last delivery is kept, emit may be slow: Follow goes back to
// paging then. It returns the error of emit, that of ctx when it ends, and fails like Page.
func (l *Log) Follow(ctx context.Context, q Query, level Level, emit func(Batch) error) error {
	if err := errors.Join(checkScope(q.Workspace, q.Channel), checkKinds(q.Kinds)); err != nil {
		return err
	}
	k := key{q.Workspace, q.Channel}
	f := &follower{l: l, q: q, level: level, emit: emit, feed: l.feeds.join(k), pos: q.Since, version: -1}
	defer l.feeds.leave(k, f.feed)
	if err := f.start(ctx); err != nil {
		return err
	}
	for stale := true; ; {
		// Both are taken before looking: what is committed after the look wakes the follower.
		bell, foreign := f.feed.bell(), l.s.Foreign()
		if err := f.catchUp(ctx, stale); err != nil {
			return err
		}
		f.live = true
		select {
		case <-bell:
		case <-foreign:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-foreign: // both may have come
			stale = true
		default:
			stale = false
		}
	}
}

// follower is one call of Follow.
type follower struct {
	l       *Log
	q       Query
	level   Level
	emit    func(Batch) error
	feed    *feed
	pos     int64 // all up to here is delivered or filtered out
	version int64 // of the last event; -1: not known, or filtered and so without meaning
	live    bool  // it had caught up
	buf     []byte
	ends    []int
}

// start waits for what this process has queued, and finds where the stream is.
func (f *follower) start(ctx context.Context) error {
	if err := f.l.flush(ctx); err != nil {
		return err
	}
	if f.q.Tail {
		p, err := f.l.read(ctx, f.q, f.q.Since, true)
		if err != nil {
			return err
		}
		f.pos = max(f.pos, p.last)
		return f.deliver(p.events, Batch{})
	}
	if len(f.q.Kinds) > 0 {
		return nil
	}
	if f.pos <= 0 {
		f.version = 0
		return nil
	}
	err := f.l.s.Read(ctx, func(r *store.Reader) error {
		return r.QueryRow(`SELECT e.version FROM event e JOIN stream s ON s.id = e.stream
			WHERE e.id = ? AND s.workspace = ? AND s.channel = ?`, f.pos, f.q.Workspace, f.q.Channel).Scan(&f.version)
	})
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	return err
}

// catchUp delivers all that is committed. Stale: another process may have written, so that only the log knows.
func (f *follower) catchUp(ctx context.Context, stale bool) error {
	n := limit(f.q.Limit, DefaultLimit, MaxLimit)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !stale {
			if events, ok := f.feed.after(f.pos, n); ok {
				if len(events) == 0 {
					return nil
				}
				pos := events[len(events)-1].ID
				if err := f.deliver(events, Batch{Live: true}); err != nil {
					return err
				}
				f.pos = pos
				continue
			}
		}
		full, err := f.pageOn(ctx)
		if err != nil {
			return err
		}
		if !full {
			return nil
		}
		stale = true
	}
}

// pageOn delivers a page of the log, and says whether there may be more.
func (f *follower) pageOn(ctx context.Context) (full bool, err error) {
	var p page
	err = f.l.s.Read(ctx, func(r *store.Reader) (err error) {
		p, err = readPage(r, f.q, f.pos, false)
		return err
	})
	if err != nil {
		return false, err
	}
	b := Batch{}
	if f.live && len(p.events) > 0 && (p.full || f.feed.overran(f.pos)) {
		b.Backfill = &Backfill{FromID: f.pos + 1, ToID: p.last}
		f.live = false
	}
	if err := f.deliver(p.events, b); err != nil {
		return false, err
	}
	f.pos = max(f.pos, p.last)
	if p.full {
		f.pos = p.events[len(p.events)-1].ID
	}
	return p.full, nil
}

// deliver emits the events that pass the filter, in runs without a hole in their versions.
func (f *follower) deliver(events []Event, b Batch) error {
	if len(f.q.Kinds) > 0 {
		events = slices.DeleteFunc(events, func(e Event) bool { return !slices.Contains(f.q.Kinds, e.Kind) })
		return f.send(events, b)
	}
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].Version == events[n-1].Version+1 {
			n++
		}
		if hole := events[0].Version - f.version - 1; f.version >= 0 && hole > 0 {
			if err := f.send(nil, Batch{Backfill: &Backfill{FromID: f.pos + 1, ToID: events[0].ID - 1, Skipped: hole}}); err != nil {
				return err
			}
		}
		if err := f.send(events[:n], b); err != nil {
			return err
		}
		f.pos, f.version = max(f.pos, events[n-1].ID), events[n-1].Version
		events, b.Backfill = events[n:], nil
	}
	return nil
}

func (f *follower) send(events []Event, b Batch) error {
	if len(events) == 0 && b.Backfill == nil {
		return nil
	}
	f.buf, f.ends = f.buf[:0], f.ends[:0]
	for _, e := range events {
		f.buf = e.AppendJSON(f.buf, f.level)
		f.ends = append(f.ends, len(f.buf))
	}
	b.Frames = make([]Frame, len(events))
	start := 0
	for i, e := range events {
		b.Frames[i] = Frame{e.ID, e.Kind, f.buf[start:f.ends[i]]}
		start = f.ends[i]
	}
	return f.emit(b)
}
