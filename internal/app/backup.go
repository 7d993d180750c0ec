package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/eventlog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// Copied is a backup that was made, or restored.
type Copied struct {
	DataDir     string `json:"data_dir"`
	File        string `json:"file"`
	Bytes       int64  `json:"bytes"`
	LastEventID *int64 `json:"last_event_id"`  // newest event in it; null where its schema is an older one
	Kept        string `json:"kept,omitempty"` // of a restore: where the database is that was there
}

// Backup copies the database of a configuration into a new file, while servers run. It fails with invalid_request where the
// file is there or there is nothing to copy, and with store_unavailable.
func Backup(ctx context.Context, o Options, file string, tell store.Progress) (Copied, error) {
	place, err := FindPlace(o)
	if err != nil {
		return Copied{}, err
	}
	c := Copied{DataDir: place.DataDir, File: file}
	switch err := store.Backup(ctx, place.DataDir, file, tell); {
	case errors.Is(err, store.ErrExists):
		return c, fault.New(catalog.InvalidRequest, "%s is there already, and a backup takes no file's place; name another one", file)
	case errors.Is(err, fs.ErrNotExist) && !exists(store.File(place.DataDir)):
		return c, fault.New(catalog.InvalidRequest, "there is no database in %s yet; --project-root or --data-dir lead to another one", place.DataDir)
	case err != nil:
		return c, err
	}
	return c, c.measure(ctx)
}

func (c *Copied) measure(ctx context.Context) error {
	facts, err := store.InspectFile(ctx, c.File, func(r *store.Reader) error {
		id, err := eventlog.LastID(r)
		c.LastEventID = &id
		return err
	})
	c.Bytes = facts.Bytes
	return err
}

// Restore puts a backup into the place of the database of a configuration, and keeps that beside it. It fails with
// invalid_request where there is no such file, and with store_unavailable where a ctxd has the database open or the file is no
// good backup; nothing has changed then.
func Restore(ctx context.Context, o Options, file string, tell store.Progress) (Copied, error) {
	place, err := FindPlace(o)
	if err != nil {
		return Copied{}, err
	}
	c := Copied{DataDir: place.DataDir, File: file}
	if !exists(file) {
		return c, fault.New(catalog.InvalidRequest, "there is no backup %s", file)
	}
	if err := c.measure(ctx); err != nil {
		return c, fmt.Errorf("the backup is no good: %w", err)
	}
	c.Kept, err = store.Restore(ctx, place.DataDir, file, o.now()(), tell)
	if errors.Is(err, store.ErrInUse) {
		return c, fault.New(catalog.StoreUnavailable, "%s has the database in %s open; stop it, then restore", holder(ctx, place.DataDir, o.Version), place.DataDir)
	}
	return c, err
}
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
