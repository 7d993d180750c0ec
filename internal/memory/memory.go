// Package memory keeps what a channel shares: its session (task, findings, decisions) and its tasks.
//
// Writes happen inside the unit of work of a call and say which event they cause; the call pipeline appends it. Which caller
// may do what is decided before. It imports store; tool and action import it.
package memory

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/internal/meter"
	"github.com/ctxd/ctxd/internal/store"
)

// Place is the workspace and channel that share a session.
type Place struct{ Workspace, Channel string }

// Memory reads and writes sessions and tasks.
type Memory struct {
	store *store.Store
	meter *meter.Meter
	now   func() time.Time
}

// New makes a Memory on a store.
func New(s *store.Store, m *meter.Meter, now func() time.Time) *Memory {
	return &Memory{store: s, meter: m, now: now}
}

// querier is a transaction of the writer or of a reader.
type querier interface {
	Query(sql string, args ...any) (*store.Rows, error)
	QueryRow(sql string, args ...any) *store.Row
}

// NoteKind tells findings from decisions.
type NoteKind string

// Kinds of notes.
const (
	Finding  NoteKind = "finding"
	Decision NoteKind = "decision"
)

// Note is a finding or a decision.
type Note struct {
	Text  string
	File  string // "" where none was named
	Line  int    // 0 where none was named
	Actor string // "" where unnamed
	At    time.Time
}

// Session is what a channel shares.
type Session struct {
	Place
	Version   int64  // counts changes; 0: nothing has happened yet
	Task      string // description of the active task; "" where there is none
	Findings  []Note // the newest, newest last
	Decisions []Note // the newest, newest last

	FindingsTotal, DecisionsTotal, TasksOpen int
}

// notesShown is how many findings and decisions a session shows of each.
const notesShown = 5

var located = regexp.MustCompile(`^(\S+?)(?::(\d{1,9}))?\s+(?:-|—|–)\s+(\S(?s:.*))$`)

// ParseNote reads `file:line - text`, where file looks like a path; any other text is a note without a place.
func ParseNote(text string) Note {
	m := located.FindStringSubmatch(text)
	if m == nil || m[2] == "" && !strings.ContainsAny(m[1], "./") {
		return Note{Text: text}
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		line = 0
	}
	return Note{Text: m[3], File: m[1], Line: line}
}

// AddNote records a note and gives the session after it. It changes the session: session_mutated.
func (m *Memory) AddNote(tx *store.Tx, p Place, kind NoteKind, n Note) (Session, error) {
	_, err := tx.Exec(`INSERT INTO session_note (workspace, channel, kind, text, file, line, actor, at) VALUES (?,?,?,?,?,?,?,?)`,
		p.Workspace, p.Channel, string(kind), n.Text, n.File, n.Line, n.Actor, m.now().UnixMilli())
	if err != nil {
		return Session{}, fmt.Errorf("memory: adding a %s: %w", kind, err)
	}
	return m.changed(tx, p)
}

// SetTask makes a task of that description the active one, unless it is already, and gives the session after it. The task
// that was active before becomes pending. It changes the session: session_mutated.
func (m *Memory) SetTask(tx *store.Tx, p Place, description, actor string) (Session, error) {
	current, err := currentTask(tx, p)
	if err != nil {
		return Session{}, err
	}
	if current != description {
		t, err := m.insertTask(tx, p, Task{Description: description, CreatedBy: actor})
		if err != nil {
			return Session{}, err
		}
		if err := m.setState(tx, p, t.Number, Active, ""); err != nil {
			return Session{}, err
		}
	}
	return m.changed(tx, p)
}

// CurrentTask is the description of the active task, or "". It reads within the transaction of a unit of work.
func (m *Memory) CurrentTask(tx *store.Tx, p Place) (string, error) { return currentTask(tx, p) }

func currentTask(q querier, p Place) (string, error) {
	var text string
	err := q.QueryRow(`SELECT description FROM task WHERE workspace=? AND channel=? AND state='active'`, p.Workspace, p.Channel).Scan(&text)
	if errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	return text, err
}

// changed counts the change and reads the session within the transaction.
func (m *Memory) changed(tx *store.Tx, p Place) (Session, error) {
	_, err := tx.Exec(`INSERT INTO session (workspace, channel, version, updated_at) VALUES (?,?,1,?)
		ON CONFLICT (workspace, channel) DO UPDATE SET version=version+1, updated_at=excluded.updated_at`,
		p.Workspace, p.Channel, m.now().UnixMilli())
	if err != nil {
		return Session{}, fmt.Errorf("memory: counting a change: %w", err)
	}
	m.meter.SessionsPersisted.Add(1)
	return readSession(tx, p)
}

func readSession(q querier, p Place) (Session, error) {
	s := Session{Place: p}
	err := q.QueryRow(`SELECT version FROM session WHERE workspace=? AND channel=?`, p.Workspace, p.Channel).Scan(&s.Version)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return s, err
	}
	if s.Task, err = currentTask(q, p); err != nil {
		return s, err
	}
	if s.Findings, s.FindingsTotal, err = notes(q, p, Finding); err != nil {
		return s, err
	}
	if s.Decisions, s.DecisionsTotal, err = notes(q, p, Decision); err != nil {
		return s, err
	}
	err = q.QueryRow(`SELECT count(*) FROM task WHERE workspace=? AND channel=? AND state IN ('pending','active')`,
		p.Workspace, p.Channel).Scan(&s.TasksOpen)
	return s, err
}

// notes are the newest notes of a kind, newest last, and how many there are in all.
func notes(q querier, p Place, kind NoteKind) (list []Note, total int, err error) {
	err = q.QueryRow(`SELECT count(*) FROM session_note WHERE workspace=? AND channel=? AND kind=?`, p.Workspace, p.Channel, string(kind)).Scan(&total)
	if err != nil {
		return nil, 0, err
	}
	rows, err := q.Query(`SELECT text, file, line, actor, at FROM
		(SELECT * FROM session_note WHERE workspace=? AND channel=? AND kind=? ORDER BY id DESC LIMIT ?) ORDER BY id`,
		p.Workspace, p.Channel, string(kind), notesShown)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var n Note
		var at int64
		if err := rows.Scan(&n.Text, &n.File, &n.Line, &n.Actor, &at); err != nil {
			return nil, 0, err
		}
		n.At = time.UnixMilli(at).UTC()
		list = append(list, n)
	}
	return list, total, rows.Err()
}
