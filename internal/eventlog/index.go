package eventlog

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/ctxd/ctxd/internal/store"
)

// indexStep is how many events one transaction indexes. Who waits for the writer waits for the index to be written out, some
// milliseconds; a four times larger step would save a sixth of the time.
const indexStep = 256

// indexIdle indexes what is committed, until somebody waits for the writer.
func (l *Log) indexIdle(tx *store.Tx) (more bool, err error) {
	return indexText(tx, indexStep, tx.Waiting)
}

// indexAll indexes all that was committed when it was called.
func (l *Log) indexAll(ctx context.Context) error {
	if err := l.flush(ctx); err != nil {
		return err
	}
	var last, indexed int64
	err := l.s.Read(ctx, func(r *store.Reader) error {
		return r.QueryRow("SELECT last_id, indexed_id FROM event_log").Scan(&last, &indexed)
	})
	for err == nil && indexed < last {
		err = l.s.Write(ctx, func(tx *store.Tx) error {
			if _, err := indexText(tx, indexStep, func() bool { return false }); err != nil {
				return err
			}
			return tx.QueryRow("SELECT indexed_id FROM event_log").Scan(&indexed)
		})
	}
	return err
}

// indexText adds the text of up to n events to the index, and its new position. It ends early when stop says so; more says
// whether there may be more to do.
func indexText(tx *store.Tx, n int, stop func() bool) (more bool, err error) {
	var from int64
	if err := tx.QueryRow("SELECT indexed_id FROM event_log").Scan(&from); err != nil {
		return false, err
	}
	rows, err := tx.Query(`SELECT e.id, e.stream, s.workspace, e.kind, e.payload
		FROM event e JOIN stream s ON s.id = e.stream WHERE e.id > ? ORDER BY e.id LIMIT ?`, from, n)
	if err != nil {
		return false, err
	}
	at, done := from, 0
	for !(done > 0 && stop()) && rows.Next() {
		var stream int64
		var workspace, kind string
		var payload []byte
		if err := rows.Scan(&at, &stream, &workspace, &kind, &payload); err != nil {
			return false, err
		}
		t := textOf(kind, payload)
		_, err := tx.Exec("INSERT INTO event_text (rowid, scope, refs, detail, sealed) VALUES (?,?,?,?,?)",
			at, workspaceTerm(workspace)+" "+streamTerm(stream), string(t.refs), string(t.detail), string(t.sealed))
		if err != nil {
			return false, err
		}
		done++
	}
	if err := rows.Err(); err != nil || at == from {
		return false, err
	}
	_, err = tx.Exec("UPDATE event_log SET indexed_id = ?", at)
	return done == n || stop(), err
}

// workspaceTerm is one term for the tokenizer, whatever letters and signs the id has.
func workspaceTerm(workspace string) string { return "w" + hex.EncodeToString([]byte(workspace)) }

func streamTerm(id int64) string { return "s" + strconv.FormatInt(id, 10) }

// text is what an event can be found by, by who may see it.
type text struct {
	refs   []byte // at every level
	detail []byte // from summary on
	sealed []byte // at full only
}

// textOf collects the values of a payload, not its keys.
func textOf(kind string, payload []byte) text {
	var t text
	t.refs = append(t.refs, kind...)
	members(payload, func(key, value []byte) {
		switch {
		case string(key) == "tool":
			t.refs = appendStrings(t.refs, value, false)
		case isSensitive(string(key)):
			t.sealed = appendStrings(t.sealed, value, true)
		default:
			t.detail = appendStrings(t.detail, value, false)
		}
	})
	return t
}

// appendStrings appends the strings in a JSON value but its keys, and its numbers if wanted, each after a line end.
func appendStrings(dst, raw []byte, numbers bool) []byte {
	for i := 0; i < len(raw); {
		b := raw[i]
		switch {
		case b == '"':
			end := skipString(raw, i)
			if end < 0 {
				return dst
			}
			if after := skipSpace(raw, end); after >= len(raw) || raw[after] != ':' {
				dst = append(append(dst, '\n'), unquote(raw[i:end])...)
			}
			i = end
		case numbers && (b == '-' || '0' <= b && b <= '9'):
			end := skipScalar(raw, i)
			dst = append(append(dst, '\n'), raw[i:end]...)
			i = end
		default:
			i++
		}
	}
	return dst
}
