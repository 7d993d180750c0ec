package socket

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

const nobody = 65534

// A process of another user is sent away, though the modes of folder and socket would let him in. The kernel says who he is.
func TestForeignUser(t *testing.T) {
	t.Parallel()
	if err := judge(uint32(os.Geteuid() + 1)); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	dir, err := os.MkdirTemp("", "s") // the folders of the test framework are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := listen(t, dir)
	for path, mode := range map[string]os.FileMode{dir: 0o711, l.Path(): 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	as(t, nobody, func() {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err == nil {
			defer syscall.Close(fd)
			err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: l.Path()})
		}
		if err != nil {
			t.Error(err)
		}
	})
	if c, err := l.Accept(); !errors.Is(err, ErrForeign) {
		t.Errorf("%v %v", c, err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if c, err := Dial(t.Context(), dir); !errors.Is(err, ErrForeign) {
		t.Errorf("a folder of somebody else: %v %v", c, err)
	}
}

// as runs fn in a thread of another user, which ends with it.
func as(t *testing.T, uid uintptr, fn func()) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread() // and never unlocks it: the thread is thrown away
		keep := ^uintptr(0)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uid, keep); errno != 0 {
			t.Error(errno)
			return
		}
		fn()
	})
	wg.Wait()
}
