package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

func open(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// Many share it, or one has it for itself; it goes with whoever closes it.
func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	a, b, c := open(t, path), open(t, path), open(t, path)
	if !a.Try(false) || !b.Try(false) || c.Try(true) {
		t.Error("a shared lock is not shared, or no lock")
	}
	b.Unlock()
	if !a.Try(true) || b.Try(false) {
		t.Error("the last one that shares it cannot have it alone")
	}
	if err := a.Close(); err != nil || !b.Try(true) {
		t.Errorf("it outlives its owner: %v", err)
	}
	info, err := os.Stat(c.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if l, err := Open(filepath.Join(path, "below")); err == nil {
		t.Errorf("%s is locked", l.Path())
	}
}
