package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/filelock"
)

const (
	fileName = "ctxd.db"
	lockName = "ctxd.lock" // held shared by every process that has the database open, exclusively by the one that migrates
	turnName = "ctxd.turn" // held by the process that writes next

	openLimit = 10 * time.Second // how long Open waits for other processes
	openPause = 20 * time.Millisecond
	busyLimit = 5 * time.Second // how long a transaction waits for other processes
	busyPause = 500 * time.Microsecond
)

// database is the file, its locks and the connection that writes.
type database struct {
	path  string
	steps []migration
	lock  *filelock.Lock
	turn  *filelock.Lock
	c     *conn
}

// openDatabase opens or makes the database in dir. Every failure but an ended ctx is a fault store_unavailable that names the
// file; the file is never removed or replaced.
func openDatabase(ctx context.Context, dir string, steps []migration) (*database, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := &database{path: filepath.Join(dir, fileName), steps: steps}
	if err = d.prepare(dir); err == nil {
		err = d.admit(ctx)
	}
	if err != nil {
		_ = d.close() // the first failure is the one to tell
		return nil, d.explain(err)
	}
	return d, nil
}

func (d *database) prepare(dir string) (err error) {
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err = os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if d.lock, err = filelock.Open(filepath.Join(dir, lockName)); err != nil {
		return err
	}
	d.turn, err = filelock.Open(filepath.Join(dir, turnName))
	return err
}

// admit waits until this process may have the database open. Alone, it migrates what is old. Beside others it takes only what
// is current: migrating under the feet of an older program would break it.
func (d *database) admit(ctx context.Context) error {
	kept := false // by a process that is alone with it
	ok, err := until(ctx, openLimit, openPause, func() (bool, error) {
		alone := d.lock.Try(true)
		if kept = !alone && !d.lock.Try(false); kept {
			return false, nil
		}
		ok, err := d.open(ctx, alone)
		if ok && alone && !d.lock.Try(false) { // the system lets the lock go before it takes it anew: somebody came between
			ok, err = false, d.c.close()
			d.c = nil
		}
		if !ok {
			d.lock.Unlock()
			return false, err
		}
		return true, nil
	})
	switch {
	case err != nil || ok:
		return err
	case kept:
		return fault.New(catalog.StoreUnavailable, "another ctxd has kept it to itself for %v: it migrates or restores it", openLimit)
	}
	return fault.New(catalog.StoreUnavailable, "another ctxd has it open, and it needs a migration: stop that one first")
}

// open makes the writing connection; false when the schema is old and this process is not alone.
func (d *database) open(ctx context.Context, alone bool) (ok bool, err error) {
	if err := d.guard(); err != nil {
		return false, err
	}
	c, err := dial(d.path, d.lock.Path())
	if err != nil {
		return false, err
	}
	defer func() {
		if !ok {
			_ = c.close()
		}
	}()
	s, err := inspect(ctx, c)
	if err != nil {
		return false, err
	}
	if err := s.check(len(d.steps)); err != nil {
		return false, err
	}
	if s.version < len(d.steps) && !alone {
		return false, nil
	}
	if err := d.settle(ctx, c, s.version); err != nil {
		return false, err
	}
	d.c = c
	return true, nil
}

// settle brings file and connection into the state in which they are used.
func (d *database) settle(ctx context.Context, c *conn, version int) error {
	if err := os.Chmod(d.path, 0o600); err != nil {
		return err
	}
	var mode string
	if err := row(c.query(ctx, "PRAGMA journal_mode = WAL")).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fault.New(catalog.StoreUnavailable, "its file system does not allow a write-ahead log")
	}
	if err := touch(ctx, c); err != nil {
		return err
	}
	if err := migrate(ctx, c, d.path, version, d.steps); err != nil {
		return err
	}
	// The writer waits for other processes by itself, in turns: see begin.
	return c.script(ctx, "PRAGMA busy_timeout = 0")
}

// guard refuses what SQLite would take for a new database and overwrite: a file too short for a header, and one that was
// emptied or lost while its write-ahead log still holds data.
func (d *database) guard() error {
	size := func(path string) int64 {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
		return 0
	}
	switch n := size(d.path); {
	case 0 < n && n < 512:
		return fault.New(catalog.StoreUnavailable, "it is no database; it is kept as it is")
	case n == 0 && size(d.path+"-wal") > 0:
		return fault.New(catalog.StoreUnavailable, "it is empty or gone, but its write-ahead log %s-wal is not: restore it", fileName)
	}
	return nil
}

func (d *database) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	reason := "it cannot be opened"
	var f *fault.Fault
	var p *fs.PathError
	switch {
	case errors.As(err, &f):
		reason = f.Message
	case errors.As(err, &p):
		reason = p.Err.Error()
	}
	return fault.New(catalog.StoreUnavailable, "database %s: %s", d.path, reason).With(err)
}

// close may be called on what was opened in part.
func (d *database) close() error {
	var errs []error
	if d.c != nil {
		errs = append(errs, d.c.close())
	}
	for _, l := range []*filelock.Lock{d.turn, d.lock} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the database: %w", err)
	}
	return nil
}

// until calls try until it succeeds or fails, with pauses between as long as limit in all. It says whether try succeeded.
func until(ctx context.Context, limit, pause time.Duration, try func() (bool, error)) (bool, error) {
	for waited := time.Duration(0); ; waited += pause {
		if ok, err := try(); ok || err != nil {
			return ok, err
		}
		if waited >= limit {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pause):
		}
	}
}
