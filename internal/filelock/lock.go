// Package filelock is an advisory lock between processes, on a file that exists for nothing else.
//
// The system releases it when the process ends, however it ends. It does not say who holds it. store and socket import it.
package filelock

import "os"

// Lock is an open lock file. It belongs to one goroutine at a time; two Locks on one path keep each other out also within a
// process.
type Lock struct{ f *os.File }

// Open opens the lock file at path, or makes it with mode 0600. Nothing is locked yet.
func Open(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &Lock{f}, nil
}

// Path is the path that the lock was opened with.
func (l *Lock) Path() string { return l.f.Name() }

// Close releases the lock and leaves the file.
func (l *Lock) Close() error { return l.f.Close() }
