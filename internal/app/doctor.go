package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/revision"
	"github.com/ctxd/ctxd/internal/store"
)

// Check is one thing that Diagnose looked at.
type Check struct {
	Name string
	Says string // what is there; "" where Err says what is not
	Warn string // what works, but should be mended, and how
	Err  error  // what does not work, and how to mend it
}

// leastFree is how much room a data folder needs, in bytes: what a busy day of events takes, and its write-ahead log.
const leastFree = 256 << 20

// Diagnose tries what a server needs: folders, git, database, tools and address. It goes on after what fails, as far as the rest
// does not depend on it.
func Diagnose(ctx context.Context, o Options) []Check {
	place, err := FindPlace(o)
	if err != nil {
		return []Check{{Name: "folders", Err: err}}
	}
	state, err := Status(ctx, o)
	if err != nil {
		return []Check{{Name: "folders", Err: err}}
	}
	checks := []Check{dataFolder(place.DataDir), o.server(state), intact(ctx, place.DataDir, state)}
	sound := true
	for _, c := range checks {
		sound = sound && c.Err == nil
	}
	if sound { // else it would fail for the same reason
		checks = append(checks, o.engine(ctx)...)
	}
	return append(checks, o.address(ctx, state))
}

// dataFolder is where the database lies, or will lie.
func dataFolder(dir string) Check {
	c := Check{Name: "data folder", Says: dir}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Says += " (not there yet)"
		for dir != filepath.Dir(dir) && errors.Is(err, fs.ErrNotExist) {
			dir = filepath.Dir(dir)
			_, err = os.Stat(dir)
		}
	case err != nil:
		c.Err = fault.New(catalog.StoreUnavailable, "%s cannot be looked at (%v); make it yours, or name another folder with --data-dir", dir, errors.Unwrap(err))
		return c
	case !info.IsDir():
		c.Err = fault.New(catalog.StoreUnavailable, "%s is no folder; move it away, or name another one with --data-dir", dir)
		return c
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		c.Warn = "others can write in it; chmod 700 " + dir + " closes it"
	}
	if free, known := freeBytes(dir); known && free < leastFree {
		c.Err = fault.New(catalog.StoreUnavailable, "%d MiB are left on the disk of %s, and %d are wanted; make room, or name another folder with --data-dir", free>>20, dir, int64(leastFree)>>20)
	}
	return c
}

// server is what answers on the socket of the data folder.
func (o Options) server(s State) Check {
	c := Check{Name: "server", Says: "none runs; ctxd serve starts one"}
	switch {
	case s.Problem != "":
		c.Warn = s.Problem + "; agents serve themselves meanwhile. Stop that process if it hangs"
	case s.Running:
		c.Says = fmt.Sprintf("ctxd %s runs as process %d on %s", s.Server.Version, s.Server.PID, s.Server.URL)
		if s.Server.Version != o.Version {
			c.Warn = "this is ctxd " + o.Version + "; restart the server"
		}
	}
	return c
}

// intact reads the whole database, beside whoever has it open.
func intact(ctx context.Context, dir string, s State) Check {
	c := Check{Name: "database"}
	if s.Database == nil {
		c.Says = "none yet"
		return c
	}
	facts, err := store.Inspect(ctx, dir, store.Intact)
	if err != nil {
		c.Err = fault.New(catalog.StoreUnavailable, "%s; ctxd never deletes it: keep a copy, then ctxd restore a backup, or name another folder with --data-dir", said(err))
		return c
	}
	c.Says = fmt.Sprintf("%s, %d KiB, every page of it sound", s.Database.File, (facts.Bytes+1023)>>10)
	return c
}

// engine opens what a server opens, and tries it.
func (o Options) engine(ctx context.Context) (checks []Check) {
	e, err := OpenEngine(ctx, o)
	if err != nil {
		return []Check{{Name: "engine", Err: err}}
	}
	git := revision.New(revision.Options{})
	for _, id := range e.Workspaces.IDs() {
		ws := e.Workspaces.Get(id)
		c := Check{Name: "workspace", Says: fmt.Sprintf("%s is %s", id, ws.Root())}
		if _, err := os.ReadDir(ws.Root()); err != nil {
			c.Err = fault.New(catalog.InvalidRequest, "%s cannot be listed (%v); make it readable for you", ws.Root(), errors.Unwrap(err))
		}
		commit, branch, err := git.Of(ws).Head(ctx)
		switch f := fault.From(err); {
		case err == nil && commit == "":
			c.Says += ", a git repository without a commit"
		case err == nil:
			c.Says += fmt.Sprintf(", at %s %s", branch, commit[:12])
		case f.Reason() == revision.NoRepository:
			c.Says += ", no git repository"
		default:
			c.Warn = "differences from git revisions cannot be had: " + f.Message
		}
		checks = append(checks, c)
	}
	checks = append(checks,
		Check{Name: "store", Says: "can be written in " + e.DataDir, Err: e.Store.Probe(ctx)},
		Check{Name: "tools", Says: fmt.Sprintf("%d admitted", len(e.Pipeline.Specs()))})
	if err := e.Close(); err != nil {
		checks = append(checks, Check{Name: "close", Err: err})
	}
	return checks
}

func (o Options) address(ctx context.Context, s State) Check {
	c := Check{Name: "address", Says: fmt.Sprintf("%s port %d can be bound", o.Config.Host, o.Config.Port)}
	l, err := listen(ctx, o.Config.Host, o.Config.Port)
	if err == nil {
		err = l.Close()
	}
	if c.Err = err; err != nil && s.Running {
		c.Err, c.Says = nil, fmt.Sprintf("%s port %d is taken, as it is while a server runs", o.Config.Host, o.Config.Port)
	}
	return c
}
