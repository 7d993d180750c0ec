package eventlog

import (
	"errors"
	"strings"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// Append adds an event to the transaction of tx and gives it with its id and version. The row itself is written with those of
// the other jobs right before their common commit: queries of tx do not see it. When the job fails, neither id nor version is
// used up. Secrets in what the event tells are masked before it is stored (tools.md T9): neither the file nor the search ever
// holds them.
//
// Fails with invalid_request when workspace or channel are no ids (so that no event without them is stored, E7) or the kind is
// unknown, with internal when the arguments are no JSON, and with the errors of the store.
func (l *Log) Append(tx *store.Tx, d Draft) (Event, error) {
	b, ok := tx.Part(l, l.newBatch).(*batch)
	if !ok {
		return Event{}, errors.New("eventlog: the part of the log is another's")
	}
	if _, ok := kinds[d.Kind]; !ok {
		return Event{}, fault.New(catalog.InvalidRequest, "%q is no kind of event", d.Kind)
	}
	if d.Parent != nil && *d.Parent < 1 {
		return Event{}, fault.New(catalog.InvalidRequest, "%d is no id of an event", *d.Parent)
	}
	d.Actor = masked(d.Actor)
	payload, err := d.Payload.masked().encode()
	if err != nil {
		return Event{}, err
	}
	s, err := b.stream(tx, key{d.Workspace, d.Channel})
	if err != nil {
		return Event{}, err
	}
	return b.add(s, Event{
		ID: b.lastID + 1, Workspace: d.Workspace, Channel: d.Channel, Kind: d.Kind, Actor: d.Actor,
		Time: time.UnixMilli(l.now().UnixMilli()).UTC(), Version: s.version + 1, Parent: d.Parent, Payload: payload,
	}), nil
}

type key struct{ workspace, channel string }

// batch holds the events of one transaction: a store.Part. What it knows of the tables is read within the transaction, since
// another process may have written before it.
type batch struct {
	l       *Log
	loaded  bool
	lastID  int64 // newest of the log
	streams map[key]*stream
	order   []*stream
	rows    []added
	tallies map[tallyKey]*tally
	args    []any // storage
}

// stream is a row of the table stream, and what is to become of it.
type stream struct {
	key
	id      int64 // 0: not in the table yet
	wasID   int64 // its newest event in the table
	lastID  int64
	was     int64 // its version in the table
	version int64
}

type tallyKey struct {
	s     *stream
	kind  catalog.EventKind
	actor string
}

type tally struct{ total, lastAt int64 }

// added is an event, and how its stream and tally were before.
type added struct {
	Event
	s       *stream
	t       *tally
	lastID  int64
	tallyAt int64
}

// newBatch gives an empty batch, in the storage of the last one if that has ended: only the writer calls it.
func (l *Log) newBatch() store.Part {
	b := l.spare
	l.spare = nil
	if b == nil {
		b = &batch{l: l, streams: map[key]*stream{}, tallies: map[tallyKey]*tally{}}
	}
	return b
}

func (b *batch) stream(tx *store.Tx, k key) (*stream, error) {
	if s := b.streams[k]; s != nil {
		return s, nil
	}
	if err := checkScope(k.workspace, k.channel); err != nil {
		return nil, err
	}
	if !b.loaded {
		if err := tx.QueryRow("SELECT last_id FROM event_log").Scan(&b.lastID); err != nil {
			return nil, err
		}
		b.loaded = true
	}
	s := &stream{key: k}
	err := tx.QueryRow("SELECT id, version, last_id FROM stream WHERE workspace = ? AND channel = ?", k.workspace, k.channel).
		Scan(&s.id, &s.was, &s.wasID)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return nil, err
	}
	s.version, s.lastID = s.was, s.wasID
	b.streams[k] = s
	b.order = append(b.order, s)
	return s, nil
}

func (b *batch) add(s *stream, e Event) Event {
	tk := tallyKey{s: s, kind: e.Kind}
	if e.Actor != nil {
		tk.actor = *e.Actor
	}
	t := b.tallies[tk]
	if t == nil {
		t = &tally{}
		b.tallies[tk] = t
	}
	b.rows = append(b.rows, added{e, s, t, s.lastID, t.lastAt})
	b.lastID, s.lastID, s.version = e.ID, e.ID, e.Version
	t.total, t.lastAt = t.total+1, max(t.lastAt, e.Time.UnixMilli())
	return e
}

// Mark implements store.Part.
func (b *batch) Mark() int { return len(b.rows) }

// Rewind implements store.Part.
func (b *batch) Rewind(mark int) {
	for i := len(b.rows) - 1; i >= mark; i-- {
		r := &b.rows[i]
		b.lastID--
		r.s.version--
		r.s.lastID = r.lastID
		r.t.total--
		r.t.lastAt = r.tallyAt
	}
	clear(b.rows[mark:])
	b.rows = b.rows[:mark]
}

// Done implements store.Part.
func (b *batch) Done(committed bool) {
	if committed && len(b.rows) > 0 {
		b.l.appended.Add(int64(len(b.rows)))
		b.l.feeds.deliver(b.rows)
	}
	clear(b.rows)
	clear(b.streams)
	clear(b.order)
	clear(b.tallies)
	b.loaded, b.rows, b.order = false, b.rows[:0], b.order[:0]
	b.l.spare = b
}

const (
	eventRow  = "(?,?,?,?,?,?,?,?)"
	chunkRows = 16
	insertOne = "INSERT INTO event (id, stream, version, kind, actor, at, parent, payload) VALUES " + eventRow
)

// insertMany costs a fifth less per row than insertOne.
var insertMany = insertOne + strings.Repeat(","+eventRow, chunkRows-1)

// Flush implements store.Part.
func (b *batch) Flush(tx *store.Tx) error {
	if len(b.rows) == 0 {
		return nil
	}
	if err := b.flushStreams(tx); err != nil {
		return err
	}
	if b.args == nil {
		b.args = make([]any, 0, chunkRows*8)
	}
	for rows := b.rows; len(rows) > 0; {
		n, sql := 1, insertOne
		if len(rows) >= chunkRows {
			n, sql = chunkRows, insertMany
		}
		args := b.args
		for i := range rows[:n] {
			args = rows[i].args(args)
		}
		if _, err := tx.Exec(sql, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	_, err := tx.Exec("UPDATE event_log SET last_id = ?", b.lastID)
	return err
}

func (a *added) args(dst []any) []any {
	var actor, parent any
	if a.Actor != nil {
		actor = *a.Actor
	}
	if a.Parent != nil {
		parent = *a.Parent
	}
	return append(dst, a.ID, a.s.id, a.Version, string(a.Kind), actor, a.Time.UnixMilli(), parent, []byte(a.Payload))
}

// flushStreams writes the streams and tallies that changed.
func (b *batch) flushStreams(tx *store.Tx) error {
	for _, s := range b.order {
		switch {
		case s.version == s.was: // its jobs failed
		case s.id == 0:
			r, err := tx.Exec("INSERT INTO stream (workspace, channel, version, last_id) VALUES (?,?,?,?)",
				s.workspace, s.channel, s.version, s.lastID)
			if err != nil {
				return err
			}
			s.id = r.LastID
		default:
			if _, err := tx.Exec("UPDATE stream SET version = ?, last_id = ? WHERE id = ?", s.version, s.lastID, s.id); err != nil {
				return err
			}
		}
	}
	for k, t := range b.tallies {
		if t.total == 0 {
			continue
		}
		_, err := tx.Exec(`INSERT INTO tally (stream, kind, actor, total, last_at) VALUES (?,?,?,?,?)
			ON CONFLICT DO UPDATE SET total = total + excluded.total, last_at = max(last_at, excluded.last_at)`,
			k.s.id, string(k.kind), k.actor, t.total, t.lastAt)
		if err != nil {
			return err
		}
	}
	return nil
}
