package eventlog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// eventColumns is what scanEvent reads.
const eventColumns = "e.id, e.kind, e.actor, e.at, e.version, e.parent, e.payload"

// Page gives the events of q after q.Since, oldest first, with what this process had queued before (E2). It is empty, not nil,
// when there are none. Fails with invalid_request, store_unavailable, overloaded when the store is closed, and the error of
// ctx.
func (l *Log) Page(ctx context.Context, q Query) ([]Event, error) {
	p, err := l.read(ctx, q, q.Since, false)
	return p.events, err
}

// Tail gives the newest events of q after q.Since, oldest first, and fails like Page.
func (l *Log) Tail(ctx context.Context, q Query) ([]Event, error) {
	p, err := l.read(ctx, q, q.Since, true)
	return p.events, err
}

// page is a piece of a stream as one snapshot holds it.
type page struct {
	events []Event
	full   bool  // there may be more
	last   int64 // newest id of the stream
}

func (l *Log) read(ctx context.Context, q Query, since int64, tail bool) (page, error) {
	p := page{events: []Event{}}
	if err := errors.Join(checkScope(q.Workspace, q.Channel), checkKinds(q.Kinds)); err != nil {
		return p, err
	}
	if err := l.flush(ctx); err != nil {
		return p, err
	}
	err := l.s.Read(ctx, func(r *store.Reader) (err error) {
		p, err = readPage(r, q, since, tail)
		return err
	})
	return p, err
}

// flush waits for what this process has queued. When that cannot be written, what is committed can still be read.
func (l *Log) flush(ctx context.Context) error {
	err := l.s.Flush(ctx)
	if fault.Is(err, catalog.StoreUnavailable) {
		return nil
	}
	return err
}

func readPage(r *store.Reader, q Query, since int64, tail bool) (page, error) {
	n := limit(q.Limit, DefaultLimit, MaxLimit)
	p := page{events: []Event{}}
	var id int64
	err := r.QueryRow("SELECT id, last_id FROM stream WHERE workspace = ? AND channel = ?", q.Workspace, q.Channel).
		Scan(&id, &p.last)
	if errors.Is(err, store.ErrNoRows) || (err == nil && p.last <= since) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	sql, args := "SELECT "+eventColumns+" FROM event e WHERE stream = ? AND id > ?", []any{id, since}
	if len(q.Kinds) > 0 {
		sql += " AND kind IN (?" + strings.Repeat(",?", len(q.Kinds)-1) + ")"
		for _, k := range q.Kinds {
			args = append(args, string(k))
		}
	}
	sql += " ORDER BY id"
	if tail {
		sql += " DESC"
	}
	rows, err := r.Query(sql+" LIMIT ?", append(args, n)...)
	if err != nil {
		return p, err
	}
	for rows.Next() {
		e := Event{Workspace: q.Workspace, Channel: q.Channel}
		if err := scanEvent(rows, &e); err != nil {
			return p, err
		}
		p.events = append(p.events, e)
	}
	if tail {
		slices.Reverse(p.events)
	}
	p.full = len(p.events) == n
	return p, rows.Err()
}

// scanEvent reads eventColumns, and further columns into more.
func scanEvent(rows *store.Rows, e *Event, more ...any) error {
	var payload []byte
	err := rows.Scan(append([]any{&e.ID, &e.Kind, &e.Actor, &e.Time, &e.Version, &e.Parent, &payload}, more...)...)
	e.Payload = payload
	return err
}
