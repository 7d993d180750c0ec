package eventlog

import (
	"context"
	"errors"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// Bounds of a search (E10).
const (
	DefaultSearchLimit = 20
	MaxSearchLimit     = 100
	candidates         = 20000 // newest matches that are ranked
)

// SearchQuery asks for the events of a workspace that hold a text.
type SearchQuery struct {
	Text      string
	Workspace string
	Channel   *string // nil: all
	Limit     int     // 20 when below 1, at most 100
	// Level is the highest one that the caller may see, whatever it shows: text that is hidden at that level is not searched.
	Level Level
}

// Search gives the best of the newest 20 000 events that match, best first and then newest first; truncated says that more
// match. All that was committed before the call is searched. See parseQuery for what the text may say; a text without words
// finds nothing. Fails with invalid_request when the text is blank or too long, and like Page.
func (l *Log) Search(ctx context.Context, q SearchQuery) (results []Event, truncated bool, err error) {
	results = []Event{}
	words, err := parseQuery(q.Text)
	if err != nil {
		return results, false, err
	}
	if !isID(q.Workspace) || (q.Channel != nil && !isID(*q.Channel)) {
		return results, false, fault.New(catalog.InvalidRequest, "the workspace or channel is no id")
	}
	if words == "" {
		return results, false, nil
	}
	if err := l.indexAll(ctx); err != nil {
		return results, false, err
	}
	err = l.s.Read(ctx, func(r *store.Reader) error {
		scope, err := scopeTerm(r, q)
		if err != nil || scope == "" {
			return err
		}
		match := `scope : "` + scope + `" AND ` + columns(q.Level) + " : " + words
		results, truncated, err = search(r, q, match)
		return err
	})
	return results, truncated, err
}

// columns are those of event_text that a level may search.
func columns(level Level) string {
	switch level {
	case Full:
		return "{refs detail sealed}"
	case Summary:
		return "{refs detail}"
	default:
		return "{refs}"
	}
}

// scopeTerm is the term that restricts a search to its workspace or channel; "" when that has no events.
func scopeTerm(r *store.Reader, q SearchQuery) (string, error) {
	if q.Channel == nil {
		return workspaceTerm(q.Workspace), nil
	}
	var id int64
	err := r.QueryRow("SELECT id FROM stream WHERE workspace = ? AND channel = ?", q.Workspace, *q.Channel).Scan(&id)
	if errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	return streamTerm(id), err
}

// search runs the query. The scope weighs nothing; the workspace is compared once more, so that no index decides who sees
// what.
func search(r *store.Reader, q SearchQuery, match string) ([]Event, bool, error) {
	results := []Event{}
	n := limit(q.Limit, DefaultSearchLimit, MaxSearchLimit)
	rows, err := r.Query(`WITH
		found AS MATERIALIZED (SELECT rowid AS id, bm25(event_text, 0, 1, 1, 1) AS score
			FROM event_text WHERE event_text MATCH ? ORDER BY rowid DESC LIMIT ?),
		best AS MATERIALIZED (SELECT id, score FROM found ORDER BY score, id DESC LIMIT ?)
		SELECT `+eventColumns+`, s.channel, (SELECT count(*) FROM found)
		FROM best JOIN event e ON e.id = best.id JOIN stream s ON s.id = e.stream
		WHERE s.workspace = ? ORDER BY best.score, best.id DESC`, match, candidates, n, q.Workspace)
	if err != nil {
		return results, false, err
	}
	var total int
	for rows.Next() {
		e := Event{Workspace: q.Workspace}
		if err := scanEvent(rows, &e, &e.Channel, &total); err != nil {
			return results, false, err
		}
		results = append(results, e)
	}
	return results, total > len(results), rows.Err()
}
