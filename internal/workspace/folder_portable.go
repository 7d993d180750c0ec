//go:build !linux || portable

package workspace

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// folder is an open folder at or below the root. Its methods never follow a symlink:
// os.Root would, inside the root, so what was opened is compared with what the name was before. The tag "portable" builds
// this on Linux too, for its tests.
type folder struct {
	r    *os.Root
	list *os.File
}

func openTop(r *os.Root) (folder, error) { return openFolder(r, ".") }

func openFolder(r *os.Root, name string) (folder, error) {
	sub, err := r.OpenRoot(name)
	if err != nil {
		return folder{}, err
	}
	f, err := sub.Open(".")
	if err != nil {
		_ = sub.Close()
	}
	return folder{sub, f}, err
}

// through opens the folder at the end of a path of folders; errNoWay where a name on it is none.
func (d folder) through(way string) (folder, error) {
	at := d
	for name := range strings.SplitSeq(way, "/") {
		next, err := at.sub(name)
		if at != d {
			at.close()
		}
		if err != nil {
			return folder{}, err
		}
		at = next
	}
	return at, nil
}

// sub opens a folder in this one to be listed.
func (d folder) sub(name string) (folder, error) {
	before, err := d.r.Lstat(name)
	if err != nil {
		return folder{}, err
	}
	if !before.IsDir() {
		return folder{}, errNoWay
	}
	sub, err := openFolder(d.r, name)
	if err != nil {
		return folder{}, err
	}
	if now, err := sub.list.Stat(); err != nil || !os.SameFile(before, now) {
		sub.close()
		return folder{}, errSwapped
	}
	return sub, nil
}

// identity is not told here, and no folder is opened from one below: a root does not go up.
func (d folder) identity() Identity { return Identity{} }

func (d folder) above(Identity) (folder, error) { return folder{}, errSwapped }

// stat looks at a name in the folder; a symlink is told as such.
func (d folder) stat(name string) (node, error) {
	fi, err := d.r.Lstat(name)
	if err != nil {
		return node{}, err
	}
	return node{fi.Mode(), IdentityOf(fi)}, nil
}

// open opens a file in the folder for reading and never waits for whoever is at the other end of it.
func (d folder) open(name string) (*os.File, error) {
	before, err := d.r.Lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := d.r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(before, now) {
		_ = f.Close()
		return nil, errSwapped
	}
	return f, nil
}

func (d folder) read(n int) ([]fs.DirEntry, error) { return d.list.ReadDir(n) }

func (d folder) close() {
	if d.r != nil {
		_, _ = d.r.Close(), d.list.Close() // nothing was written
	}
}
