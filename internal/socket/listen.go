package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/ctxd/ctxd/internal/filelock"
)

// Listener owns the socket of a data folder.
type Listener struct {
	l     *net.UnixListener
	lock  *filelock.Lock
	path  string
	made  os.FileInfo // of the socket
	once  sync.Once
	error error
}

// Listen makes the socket of a data folder, which must be there, with mode 0600. One that a killed server has left is taken
// over. It fails with ErrTaken where another server has it, and with ErrUnsupported.
func Listen(ctx context.Context, dir string) (*Listener, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	lock, err := filelock.Open(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("the lock of the socket: %w", err)
	}
	l := &Listener{lock: lock, path: Path(dir)}
	if err := l.listen(ctx, dir); err != nil {
		_ = lock.Close() // the first failure is the one to tell
		return nil, err
	}
	return l, nil
}

// listen makes the socket under another name and moves it into its place: there it is never without its permissions, and
// whoever connects meets either the old one or the new one.
func (l *Listener) listen(ctx context.Context, dir string) (err error) {
	if !l.lock.Try(true) {
		return ErrTaken
	}
	// Where files cannot be locked, a server that answers is the sign.
	if c, err := Dial(ctx, dir); err == nil {
		_ = c.Close() // nothing was said
		return ErrTaken
	}
	made := filepath.Join(dir, newName)
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	path, done, err := reach(dir, newName)
	if err != nil {
		return err
	}
	defer done()
	if l.l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
		return fmt.Errorf("the socket %s: %w", l.path, err)
	}
	l.l.SetUnlinkOnClose(false) // its name changes, and later it may be another server's
	defer func() {
		if err != nil {
			_ = l.l.Close()
			_ = os.Remove(made)
		}
	}()
	if err = os.Chmod(made, 0o600); err != nil {
		return err
	}
	if l.made, err = os.Lstat(made); err != nil {
		return err
	}
	return os.Rename(made, l.path)
}

// Path is where the socket lies.
func (l *Listener) Path() string { return l.path }

// Accept waits for the next connection. The error is ErrForeign for one of another user, which is closed and spoils nothing,
// and net.ErrClosed after Close.
func (l *Listener) Accept() (*Conn, error) {
	c, err := l.l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	if err := samePeer(c); err != nil {
		_ = c.Close() // nothing was said
		return nil, err
	}
	return newConn(c), nil
}

// Close takes the socket away and lets another server make one. Connections live on. Twice is fine.
func (l *Listener) Close() error {
	l.once.Do(func() {
		if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.made) {
			l.error = os.Remove(l.path)
		}
		l.error = errors.Join(l.error, l.l.Close(), l.lock.Close())
	})
	return l.error
}
