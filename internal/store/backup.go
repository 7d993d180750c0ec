package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/filelock"
)

// Progress is told how far something is: bytes done of about so many.
type Progress func(step string, done, total int64)

// Errors of Backup and Restore that are no faults of the store.
var (
	ErrExists = errors.New("the file is there already")
	ErrInUse  = errors.New("a ctxd has the database open")
)

// lookEvery is how often the size of a growing file is looked at.
const lookEvery = 100 * time.Millisecond

// Backup copies the database in dir, as it is at one moment and while others write, into a new file with mode 0600, which
// appears only when it is whole, checked and on the disk. Fails with ErrExists, fs.ErrNotExist where there is no database, an
// *fs.PathError, store_unavailable, and the error of ctx.
func Backup(ctx context.Context, dir, file string, tell Progress) (err error) {
	if _, err := os.Lstat(file); err == nil {
		return ErrExists
	}
	size, err := bytesOf(File(dir))
	if err != nil {
		return err
	}
	d := &database{path: File(dir)}
	if d.lock, err = filelock.Open(filepath.Join(dir, lockName)); err != nil {
		return d.explain(err)
	}
	defer func() { _ = d.lock.Close() }() // it was only shared
	if !d.lock.Try(false) {
		return d.explain(fault.New(catalog.StoreUnavailable, "another ctxd keeps it to itself: it migrates or restores it"))
	}
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".part-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }() // it has another name by then, or is of no use
	stop := watch(part.Name(), size, tell)
	err = d.copyTo(ctx, part)
	stop()
	if err != nil {
		return d.explain(err)
	}
	tell("checking", 0, 0)
	if err := checked(ctx, part.Name()); err != nil {
		return err
	}
	return appear(part.Name(), file)
}

func (d *database) copyTo(ctx context.Context, f *os.File) (err error) {
	if err := d.guard(); err != nil {
		return errors.Join(err, f.Close())
	}
	c, err := dialWith(d.path, url.Values{"mode": {"rw"}, "modeof": {d.lock.Path()}, "_pragma": {"busy_timeout(5000)"}})
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer func() { err = errors.Join(err, c.close()) }()
	s, err := inspect(ctx, c)
	if err == nil {
		err = s.check(Latest())
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return vacuumInto(ctx, c, f)
}

// checked reads the whole of a file that no process has open.
func checked(ctx context.Context, path string) error {
	facts, err := InspectFile(ctx, path, Intact)
	if err == nil && facts.Schema < Latest() { // look leaves it alone
		err = (&database{path: path}).explain(intactOld(ctx, path))
	}
	return err
}

// intactOld checks a database that would be migrated when it is opened.
func intactOld(ctx context.Context, path string) (err error) {
	c, err := dialWith(path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	defer c.closeRows()
	return Intact(&Reader{ctx, c})
}

// watch tells how a file grows, until stop.
func watch(path string, total int64, tell Progress) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for t := time.NewTicker(lookEvery); ; {
			select {
			case <-done:
				t.Stop()
				return
			case <-t.C:
				if info, err := os.Stat(path); err == nil {
					tell("copying", min(info.Size(), total), total)
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

// appear gives a file its name, unless there is one of that name. The name is on the disk then.
func appear(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		err = os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	default: // the file system knows no links
		if _, lErr := os.Lstat(to); lErr == nil {
			return ErrExists
		}
		err = os.Rename(from, to)
	}
	return errors.Join(err, syncDir(filepath.Dir(to)))
}

// syncDir puts the names in a folder on the disk, as far as the system can.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = f.Sync() // not every system can
	return f.Close()
}

// Restore puts a backup into the place of the database in dir, which no process may have open. The backup is checked before
// anything changes. The database that was there stays in the folder under the name that comes back, "" where there was none.
// Fails with ErrInUse, an *fs.PathError for what cannot be read or written, store_unavailable for what is no backup of ctxd or
// damaged, and the error of ctx.
func Restore(ctx context.Context, dir, file string, now time.Time, tell Progress) (aside string, err error) {
	if _, err := InspectFile(ctx, file, nil); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := filelock.Open(filepath.Join(dir, lockName))
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // whatever comes of it, the process ends soon
	if !lock.Try(true) {
		return "", ErrInUse
	}
	part := filepath.Join(dir, fileName+".restore")
	defer func() { _ = os.Remove(part) }() // it has another name by then, or is of no use
	if err := copyFile(ctx, file, part, tell); err != nil {
		return "", err
	}
	tell("checking", 0, 0)
	if err := checked(ctx, part); err != nil {
		return "", err
	}
	if aside, err = setAside(ctx, dir, now); err != nil {
		return "", err
	}
	return aside, errors.Join(os.Rename(part, File(dir)), syncDir(dir))
}

func copyFile(ctx context.Context, from, to string, tell Progress) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	const piece = 4 << 20
	for done := int64(0); err == nil; {
		var n int64
		n, err = io.CopyN(out, in, piece)
		done += n
		tell("copying", done, info.Size())
		err = errors.Join(err, ctx.Err())
	}
	if errors.Is(err, io.EOF) && ctx.Err() == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// setAside gives the database in dir a second name, and leaves nothing beside the first that belongs to it. It does not open it:
// what is damaged stays as it is. At no time is there no database: somebody would make an empty one.
func setAside(ctx context.Context, dir string, now time.Time) (aside string, err error) {
	path := File(dir)
	name := fmt.Sprintf("%s.before-restore-%s", path, now.UTC().Format("20060102T150405.000Z"))
	if _, err := os.Lstat(path); err == nil {
		if err := double(ctx, path, name); err != nil {
			return "", err
		}
		aside = name
	}
	for _, companion := range []string{"-wal", "-shm"} { // also what a lost file has left: SQLite would take it for the new one's
		switch err := os.Rename(path+companion, name+companion); {
		case err == nil:
			aside = name
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return aside, syncDir(dir)
}

// double gives a file a second name, or else copies it.
func double(ctx context.Context, path, name string) error {
	err := os.Link(path, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return copyFile(ctx, path, name, func(string, int64, int64) {})
}
