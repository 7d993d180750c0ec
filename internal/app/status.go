package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/eventlog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/socket"
	"github.com/ctxd/ctxd/internal/store"
)

// State is what runs on a data folder, and what lies in it.
type State struct {
	DataDir  string         `json:"data_dir"`
	Running  bool           `json:"running"`           // a server answers on the socket
	Server   *ServerState   `json:"server,omitempty"`  // where it says how it is
	Problem  string         `json:"problem,omitempty"` // why a server that may be there was not heard
	Database *DatabaseState `json:"database,omitempty"`
}

// ServerState is a running server.
type ServerState struct {
	PID           int                `json:"pid"`
	Version       string             `json:"version"`
	URL           string             `json:"url"`
	Started       time.Time          `json:"started"`
	UptimeSeconds int64              `json:"uptime_seconds"`
	Workspaces    []socket.Workspace `json:"workspaces"`
	Streams       int64              `json:"streams"`  // open event streams
	Attached      int                `json:"attached"` // agents that speak through it
	Events        int64              `json:"events"`   // that it has written since it runs
}

// DatabaseState is the database of a data folder.
type DatabaseState struct {
	File        string `json:"file"`
	Bytes       int64  `json:"bytes"`
	Schema      int    `json:"schema"`
	LastEventID *int64 `json:"last_event_id"` // null where it cannot be read
	InUse       bool   `json:"in_use"`        // some process has it open
	Problem     string `json:"problem,omitempty"`
}

// Status says what runs on the data folder of a configuration. It fails where the configuration leads to none, and makes
// nothing.
func Status(ctx context.Context, o Options) (State, error) {
	place, err := FindPlace(o)
	if err != nil {
		return State{}, err
	}
	s := State{DataDir: place.DataDir, Database: database(ctx, place.DataDir)}
	r, err := status(ctx, place.DataDir, o.Version)
	switch {
	case errors.Is(err, socket.ErrNone) || errors.Is(err, socket.ErrUnsupported):
	case err != nil:
		s.Problem = err.Error()
	default:
		s.Running = true
		s.Server = &ServerState{
			PID: r.PID, Version: r.Version, URL: r.Server.URL, Started: r.Server.Started,
			UptimeSeconds: max(0, int64(o.now()().Sub(r.Server.Started)/time.Second)),
			Workspaces:    r.Server.Workspaces, Streams: r.Server.Streams, Attached: r.Server.Attached, Events: r.Server.Events,
		}
	}
	return s, nil
}

// database is nil where there is none.
func database(ctx context.Context, dir string) *DatabaseState {
	var last *int64
	facts, err := store.Inspect(ctx, dir, func(r *store.Reader) error {
		id, err := eventlog.LastID(r)
		last = &id
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d := &DatabaseState{File: store.File(dir), Bytes: facts.Bytes, Schema: facts.Schema, LastEventID: last, InUse: facts.InUse}
	if err != nil {
		d.Problem = said(err)
	}
	return d
}

// said is an error for who runs the program.
func said(err error) string {
	if f := fault.From(err); f.Code != catalog.Internal {
		return f.Message
	}
	return err.Error()
}

// holder says who has a data folder open, for people.
func holder(ctx context.Context, dir, version string) string {
	if r, err := status(ctx, dir, version); err == nil {
		return fmt.Sprintf("the server with the process id %d", r.PID)
	}
	return "another ctxd, perhaps the ctxd mcp of an agent,"
}
