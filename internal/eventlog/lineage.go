package eventlog

import (
	"context"

	"github.com/ctxd/ctxd/internal/store"
)

// Bounds of the depth of a lineage (E11).
const (
	DefaultDepth = 20
	MaxDepth     = 50
)

// Lineage gives the event of that id and what led to it, from child to root, at most depth of them (20 when below 1, at most
// 50). It stays within the workspace: an event that is unknown or another workspace's ends the chain, and so does a parent
// that is not older than its child. Fails like Page.
func (l *Log) Lineage(ctx context.Context, workspace string, id int64, depth int) ([]Event, error) {
	chain := []Event{}
	if err := l.flush(ctx); err != nil {
		return chain, err
	}
	err := l.s.Read(ctx, func(r *store.Reader) error {
		for next, left := id, limit(depth, DefaultDepth, MaxDepth); left > 0; left-- {
			e, ok, err := eventByID(r, workspace, next)
			if err != nil {
				return err
			}
			if !ok {
				return nil
			}
			chain = append(chain, e)
			if e.Parent == nil || *e.Parent >= e.ID {
				return nil
			}
			next = *e.Parent
		}
		return nil
	})
	return chain, err
}

func eventByID(r *store.Reader, workspace string, id int64) (Event, bool, error) {
	e := Event{Workspace: workspace}
	rows, err := r.Query("SELECT "+eventColumns+`, s.channel FROM event e JOIN stream s ON s.id = e.stream
		WHERE e.id = ? AND s.workspace = ?`, id, workspace)
	if err != nil {
		return e, false, err
	}
	defer func() { _ = rows.Close() }() // there is at most one row
	if !rows.Next() {
		return e, false, rows.Err()
	}
	return e, true, scanEvent(rows, &e, &e.Channel)
}
