package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// Dial connects to the server of a data folder. It fails with ErrNone where none listens, also where one was killed and its
// socket is still there, and with ErrForeign where the folder, or who listens, belongs to somebody else.
func Dial(ctx context.Context, dir string) (*Conn, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	path, done, err := reach(dir, fileName)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTSOCK):
		return nil, ErrNone
	case err != nil:
		return nil, fmt.Errorf("the socket %s: %w", Path(dir), err)
	}
	c, ok := raw.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("the socket %s is a %T", Path(dir), raw)
	}
	if err := samePeer(c); err != nil {
		_ = c.Close() // nothing was said
		return nil, err
	}
	return newConn(c), nil
}

// private wants a folder that nobody else can put a socket into. One that is not there has no server.
func private(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNone
	case err != nil:
		return err
	case !info.IsDir():
		return ErrNone
	case !ours(info):
		return fmt.Errorf("the data folder %s: %w", dir, ErrForeign)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write into the data folder %s, which has mode %#o instead of 0700", dir, info.Mode().Perm())
	}
	return nil
}

// Stale says that the socket of a data folder is there, and nobody listens on it.
func Stale(ctx context.Context, dir string) bool {
	if info, err := os.Lstat(Path(dir)); err != nil || info.Mode()&fs.ModeSocket == 0 {
		return false
	}
	c, err := Dial(ctx, dir)
	if err != nil {
		return errors.Is(err, ErrNone)
	}
	_ = c.Close() // it was only looked for
	return false
}
