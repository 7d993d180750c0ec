//go:build linux && !portable

package workspace

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// rawFile is an open file that one goroutine reads once. It is not an os.File: that would be entered in the poller and given
// a finalizer, which costs more than reading a small file.
type rawFile struct{ fd int } // 1 more than the descriptor, so that the zero value is none

func (d folder) raw(name string) (rawFile, error) {
	fd, err := openat(d.fd(), name, syscall.O_NONBLOCK|syscall.O_NOCTTY)
	return rawFile{fd + 1}, err
}

// rawOf takes over an open file.
func rawOf(f *os.File) rawFile {
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return rawFile{}
	}
	syscall.CloseOnExec(fd)
	return rawFile{fd + 1}
}

func (f rawFile) stat() (node, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(f.fd-1, &st); err != nil {
		return node{}, err
	}
	return node{modeOf(st.Mode), identityOfStat(&st)}, nil
}

// Read implements io.Reader.
func (f rawFile) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(f.fd-1, b)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (f rawFile) close() {
	if f.fd > 0 {
		_ = syscall.Close(f.fd - 1) // nothing was written
	}
}
