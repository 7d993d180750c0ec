//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"syscall"
)

// Try takes the lock, or changes the one that is held, unless others forbid it. On a file system without locks it always
// succeeds: who asks needs another safeguard there.
func (l *Lock) Try(exclusive bool) bool {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(l.f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return !errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}

// Unlock releases the lock and keeps the file open.
func (l *Lock) Unlock() { _ = syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN) }
