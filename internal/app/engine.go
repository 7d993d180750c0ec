// Package app is the composition root: configuration, then store, engine, pipeline and transports, run and stopped in order.
//
// It holds no behaviour of its own. Only cli imports it; nothing else may.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/capability"
	"github.com/ctxd/ctxd/internal/config"
	"github.com/ctxd/ctxd/internal/eventlog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/memory"
	"github.com/ctxd/ctxd/internal/meter"
	"github.com/ctxd/ctxd/internal/store"
	"github.com/ctxd/ctxd/internal/tool"
	"github.com/ctxd/ctxd/internal/workspace"
)

// Options are what the process gives the app.
type Options struct {
	Config  *config.Config
	Version string
	Getenv  func(string) string
	Logger  *slog.Logger
	Now     func() time.Time // time.Now when nil
}

func (o Options) now() func() time.Time {
	if o.Now != nil {
		return o.Now
	}
	return time.Now
}

// Engine is everything below the transports.
type Engine struct {
	Options
	Workspaces *workspace.Set
	Store      *store.Store
	Log        *eventlog.Log
	Meter      *meter.Meter
	Pipeline   *action.Pipeline
	DataDir    string
}

// OpenEngine opens the workspaces and the store and admits the tools. It does no work that grows with the workspaces.
func OpenEngine(ctx context.Context, o Options) (e *Engine, err error) {
	e = &Engine{Options: o, Meter: meter.New(o.now())}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
			e = nil
		}
	}()
	if err := e.openWorkspaces(); err != nil {
		return e, err
	}
	if e.Store, err = store.Open(ctx, store.Options{Dir: e.DataDir, Now: o.now()}); err != nil {
		return e, err
	}
	e.Log = eventlog.New(e.Store, o.now())
	e.Meter.Appended = e.Log.Appended
	mem := memory.New(e.Store, e.Meter, o.now())
	e.Pipeline, err = action.New(action.Config{
		Workspaces: e.Workspaces, Store: e.Store, Log: e.Log, Memory: mem, Meter: e.Meter,
		Timeout: milliseconds(o.Config.RequestTimeoutMs), Now: o.now(), NewID: NewID,
		Fault: func(callID string, err error) {
			o.Logger.Error("call failed", "call_id", callID, "cause", fmt.Sprint(errors.Unwrap(fault.From(err))))
		},
	}, tool.New(mem))
	if err != nil {
		return e, err
	}
	if presets := capability.Presets(e.Pipeline.Specs()); !slices.Contains(presets, o.Config.Preset) {
		return e, fault.New(catalog.InvalidRequest, "there is no preset %q; there are %v", o.Config.Preset, presets)
	}
	return e, nil
}

// NewID makes an id of a request or call: a UUIDv7, so that ids sort by time.
func NewID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString() // the random source of the system has failed; the library panics if it fails again
	}
	return id.String()
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (e *Engine) openWorkspaces() error {
	roots, defaultID, err := e.Config.Roots()
	if err != nil {
		return err
	}
	e.Workspaces = workspace.NewSet(defaultID)
	for _, r := range roots {
		if r.ID == defaultID {
			if e.DataDir, err = DataDir(e.Options, r.Root); err != nil {
				return err
			}
		}
	}
	excludes := globalExcludes(e.Getenv)
	for _, r := range roots {
		w, err := workspace.Open(workspace.Options{
			ID: r.ID, Label: text(r.Label), Root: r.Root, DataDir: e.DataDir,
			Refused:        refused(e.Options, r),
			GlobalExcludes: excludes != "", GlobalExcludesFile: excludes,
		})
		if err != nil {
			return fault.New(catalog.InvalidRequest, "%w", err)
		}
		e.Workspaces.Add(w)
		if rel, err := filepath.Rel(e.DataDir, w.Root()); err == nil && filepath.IsLocal(rel) {
			return fault.New(catalog.InvalidRequest, "the workspace %q lies inside the data folder %s, which no agent may read", r.ID, e.DataDir)
		}
	}
	return nil
}

// refused are the patterns of files that no door reads in a workspace.
func refused(o Options, r schema.WorkspaceConfig) []string {
	return append(slices.Clone(o.Config.RefusedFiles), r.RefusedFiles...)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// globalExcludes is git's default place for a person's own ignore rules; core.excludesFile is not asked for, since that
// would mean to run git at every start.
func globalExcludes(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "git", "ignore")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "git", "ignore")
	}
	return ""
}

// Close commits what is queued and frees everything. Twice is fine.
func (e *Engine) Close() error {
	var errs []error
	if e.Store != nil {
		errs = append(errs, e.Store.Close())
	}
	if e.Workspaces != nil {
		errs = append(errs, e.Workspaces.Close())
	}
	return errors.Join(errs...)
}
