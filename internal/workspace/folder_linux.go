//go:build linux && !portable

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// oPath is O_PATH, which package syscall lacks: a descriptor of the name itself, with nothing opened, so that looking at a
// FIFO or a device has no effect on it.
const oPath = 0x200000

// folder is an open folder at or below the root. Its methods never follow a symlink.
type folder struct{ f *os.File }

func openTop(r *os.Root) (folder, error) {
	f, err := r.Open(".")
	return folder{f}, err
}

// through opens the folder at the end of a path of folders; errNoWay where a name on it is none.
func (d folder) through(way string) (folder, error) {
	fd, err := d.fd(), error(nil)
	for name := range strings.SplitSeq(way, "/") {
		var next int
		next, err = openat(fd, name, oPath|syscall.O_DIRECTORY)
		if fd != d.fd() {
			_ = syscall.Close(fd)
		}
		if err != nil {
			break
		}
		fd = next
	}
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		err = errNoWay
	}
	if err != nil {
		return folder{}, err
	}
	return folder{os.NewFile(uintptr(fd), way)}, nil
}

// sub opens a folder in this one to be listed.
func (d folder) sub(name string) (folder, error) {
	fd, err := openat(d.fd(), name, syscall.O_DIRECTORY)
	if err != nil {
		return folder{}, err
	}
	return folder{os.NewFile(uintptr(fd), name)}, nil
}

// identity tells the folder from others; zero where it cannot be told.
func (d folder) identity() Identity {
	var st syscall.Stat_t
	if err := syscall.Fstat(d.fd(), &st); err != nil {
		return Identity{}
	}
	return identityOfStat(&st)
}

// above opens the folder that this one lies in, if that is the one of this identity: this one may have been moved, even out of
// the root.
func (d folder) above(is Identity) (folder, error) {
	up, err := d.sub("..")
	if err != nil {
		return folder{}, err
	}
	if now := up.identity(); now.Ino != is.Ino || now.Dev != is.Dev || is.Ino == 0 {
		up.close()
		return folder{}, errSwapped
	}
	return up, nil
}

// stat looks at a name in the folder; a symlink is told as such.
func (d folder) stat(name string) (node, error) {
	fd, err := openat(d.fd(), name, oPath)
	if err != nil {
		return node{}, err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return node{}, &fs.PathError{Op: "fstat", Path: name, Err: err}
	}
	return node{modeOf(st.Mode), identityOfStat(&st)}, nil
}

// open opens a file in the folder for reading and never waits for whoever is at the other end of it.
func (d folder) open(name string) (*os.File, error) {
	fd, err := openat(d.fd(), name, syscall.O_NONBLOCK|syscall.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d folder) read(n int) ([]fs.DirEntry, error) { return d.f.ReadDir(n) }

func (d folder) fd() int { return int(d.f.Fd()) }

func (d folder) close() {
	if d.f != nil {
		_ = d.f.Close() // nothing was written
	}
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := syscall.Openat(dir, name, flags|syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		if err == nil {
			return fd, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return -1, &fs.PathError{Op: "openat", Path: name, Err: err}
		}
	}
}

func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	for _, b := range []struct {
		bits, of uint32
		is       fs.FileMode
	}{
		{syscall.S_IFDIR, syscall.S_IFMT, fs.ModeDir},
		{syscall.S_IFLNK, syscall.S_IFMT, fs.ModeSymlink},
		{syscall.S_IFIFO, syscall.S_IFMT, fs.ModeNamedPipe},
		{syscall.S_IFSOCK, syscall.S_IFMT, fs.ModeSocket},
		{syscall.S_IFBLK, syscall.S_IFMT, fs.ModeDevice},
		{syscall.S_IFCHR, syscall.S_IFMT, fs.ModeDevice | fs.ModeCharDevice},
		{syscall.S_ISUID, syscall.S_ISUID, fs.ModeSetuid},
		{syscall.S_ISGID, syscall.S_ISGID, fs.ModeSetgid},
		{syscall.S_ISVTX, syscall.S_ISVTX, fs.ModeSticky},
	} {
		if m&b.of == b.bits {
			mode |= b.is
		}
	}
	return mode
}
