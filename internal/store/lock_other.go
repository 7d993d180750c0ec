//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import "os"

// fileLock keeps nobody out here: SQLite's own locks keep the database whole, only less fairly, and its transactions keep two
// migrations apart.
type fileLock struct{ f *os.File }

func openLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &fileLock{f}, nil
}

func (l *fileLock) try(bool) bool { return true }
func (l *fileLock) unlock()       {}
func (l *fileLock) close() error  { return l.f.Close() }
