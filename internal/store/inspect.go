package store

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/filelock"
)

// File is where the database of a data folder lies.
func File(dir string) string { return filepath.Join(dir, fileName) }

// Facts are what is known of a database from the outside.
type Facts struct {
	Bytes  int64 // of the file and its write-ahead log
	Schema int   // version; Latest() is the newest that this program knows
	InUse  bool  // some process has it open
}

// Latest is the version of the schema that this program makes.
func Latest() int {
	steps, err := migrations(embedded)
	if err != nil {
		return 0 // tests read them, too
	}
	return len(steps)
}

// Inspect looks at the database in dir from beside the processes that have it open, and runs fn on a snapshot of it where its
// schema is the current one. Nothing is made, migrated or written. Fails with fs.ErrNotExist where there is none, and with
// store_unavailable where Open would.
func Inspect(ctx context.Context, dir string, fn func(*Reader) error) (facts Facts, err error) {
	path := File(dir)
	if facts.Bytes, err = bytesOf(path); err != nil {
		return facts, err
	}
	d := &database{path: path}
	if d.lock, err = filelock.Open(filepath.Join(dir, lockName)); err != nil {
		return facts, d.explain(err)
	}
	defer func() { _ = d.lock.Close() }() // it was only shared
	facts.InUse = !d.lock.Try(true)
	if !d.lock.Try(false) {
		return facts, d.explain(fault.New(catalog.StoreUnavailable, "another ctxd keeps it to itself: it migrates or restores it"))
	}
	if err = d.guard(); err != nil {
		return facts, d.explain(err)
	}
	c, err := dialWith(path, url.Values{"mode": {"rw"}, "modeof": {d.lock.Path()}, "_pragma": {"busy_timeout(5000)", "query_only(1)"}})
	if err != nil {
		return facts, d.explain(err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	facts.Schema, err = look(ctx, c, fn)
	return facts, d.explain(err)
}

// InspectFile is Inspect for a file that no process has open and that stays as it is, such as a backup.
func InspectFile(ctx context.Context, path string, fn func(*Reader) error) (facts Facts, err error) {
	if facts.Bytes, err = bytesOf(path); err != nil {
		return facts, err
	}
	d := &database{path: path}
	if err = d.guard(); err != nil {
		return facts, d.explain(err)
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return facts, d.explain(fault.New(catalog.StoreUnavailable, "a write-ahead log lies beside it, so it is no backup: it was copied while a ctxd wrote; make one with ctxd backup"))
	}
	c, err := dialWith(path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return facts, d.explain(err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	facts.Schema, err = look(ctx, c, fn)
	return facts, d.explain(err)
}

// look judges a database and runs fn on a snapshot of a current one.
func look(ctx context.Context, c *conn, fn func(*Reader) error) (version int, err error) {
	if err := c.script(ctx, "BEGIN"); err != nil {
		return 0, err
	}
	defer func() {
		c.closeRows()
		_ = c.script(context.Background(), "ROLLBACK") // nothing was written
	}()
	s, err := inspect(ctx, c)
	if err != nil {
		return 0, err
	}
	latest := Latest()
	if err := s.check(latest); err != nil {
		return s.version, err
	}
	if s.application != applicationID {
		return s.version, fault.New(catalog.StoreUnavailable, "it is empty")
	}
	if s.version < latest || fn == nil {
		return s.version, nil
	}
	return s.version, fn(&Reader{ctx, c})
}

// Intact reads the whole of the database of a snapshot: every page, index and reference. It takes about as long as reading the
// file does. Fails with store_unavailable.
func Intact(r *Reader) error {
	var said string
	if err := r.QueryRow("PRAGMA integrity_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return fault.New(catalog.StoreUnavailable, "it is damaged: %s", said)
	}
	rows, err := r.Query("PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		return fault.New(catalog.StoreUnavailable, "it is damaged: a row refers to one that is not there")
	}
	return rows.Err()
}

func bytesOf(path string) (int64, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, &fs.PathError{Op: "open", Path: path, Err: errors.New("is no file")}
	}
	n := info.Size()
	if wal, err := os.Stat(path + "-wal"); err == nil {
		n += wal.Size()
	}
	return n, nil
}
