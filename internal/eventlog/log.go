// Package eventlog is the log of what happened in each workspace and channel: append, page, follow, search, lineage and
// summary, and the redaction of what each reader may see (spec/http.md, E).
//
// It keeps events in the tables stream, event, event_log, tally and event_text of the store and is the only writer of them. It
// knows no HTTP: rest frames what Follow gives as SSE. It does not decide who may read what: callers say the workspace and the
// redaction level. Tools, action, rest and mcpserver may import it.
package eventlog

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// Event is one entry of the log (schemas/event.schema.json).
type Event struct {
	ID                 int64 // rises over the whole log in the order of the commits; never given out twice
	Workspace, Channel string
	Kind               catalog.EventKind
	Actor              *string // label of who caused it
	Time               time.Time
	Version            int64           // counts per workspace and channel from 1, without hole or repeat
	Parent             *int64          // the event that caused this one
	Payload            json.RawMessage // unredacted; must not be changed
}

// Draft is an event to append. Workspace and channel must match the grammar of ids (A3).
type Draft struct {
	Workspace, Channel string
	Kind               catalog.EventKind
	Actor              *string
	Parent             *int64
	Payload            Payload
}

// Query selects events of one workspace and channel.
type Query struct {
	Workspace, Channel string
	Since              int64               // only later ids
	Kinds              []catalog.EventKind // none: all
	Limit              int                 // 200 when below 1, at most 1 000
	Tail               bool                // Follow: start with the newest Limit events instead of Since
}

// Bounds of Query.Limit (E5).
const (
	DefaultLimit = 200
	MaxLimit     = 1000
)

// Log is the event log of a store. There must be one per open store: it tells its followers what it appends.
type Log struct {
	s        *store.Store
	now      func() time.Time
	feeds    feeds
	appended atomic.Int64
	spare    *batch // owned by the writer
}

// New gives the log of s. The clock is the server's.
func New(s *store.Store, now func() time.Time) *Log {
	l := &Log{s: s, now: now}
	s.Idle(l.indexIdle)
	return l
}

// Appended counts the events that this process has committed.
func (l *Log) Appended() int64 { return l.appended.Load() }

// Following counts the calls of Follow that run now.
func (l *Log) Following() int64 { return l.feeds.following() }

// kinds are the rows of the catalogue by kind.
var kinds = func() map[catalog.EventKind]catalog.EventRow {
	m := make(map[catalog.EventKind]catalog.EventRow, len(catalog.Events))
	for _, r := range catalog.Events {
		m[r.Kind] = r
	}
	return m
}()

// isID says whether s is an id of a workspace or channel (A3).
func isID(s string) bool {
	if s == "" || len(s) > 64 || s == "." || s == ".." {
		return false
	}
	for _, b := range []byte(s) {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '.', b == '_', b == '-':
		default:
			return false
		}
	}
	return true
}

func checkScope(workspace, channel string) error {
	if !isID(workspace) || !isID(channel) {
		return fault.New(catalog.InvalidRequest, "%q and %q are no ids of a workspace and a channel", workspace, channel)
	}
	return nil
}

func checkKinds(list []catalog.EventKind) error {
	for _, k := range list {
		if _, ok := kinds[k]; !ok {
			return fault.New(catalog.InvalidRequest, "%q is no kind of event", k)
		}
	}
	return nil
}

// limit clamps n to 1..most, with a default below 1.
func limit(n, otherwise, most int) int {
	if n < 1 {
		return otherwise
	}
	return min(n, most)
}
