package workspace

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

const (
	maxLinks = 40 // symlinks followed for one path, as Linux does
	maxTries = 8  // rounds that swapped names may cost
)

// place is where a path really leads: a name, which is no symlink, in an open folder.
type place struct {
	folder
	name string // in the folder; "." for the root
	real string // path relative to the root, without symlinks
	node
}

// locate follows a clean relative path inside the root and judges it and where it leads. The caller closes the place.
func (w *Workspace) locate(rel string) (place, error) {
	p, err := w.follow(rel)
	if err == nil && p.real != rel && w.isRefused(p.real, p.mode.IsDir()) {
		err = errRefused
	}
	if err == nil && p.mode.IsDir() && w.isRefused(rel, true) {
		err = refused(rel)
	}
	if err != nil {
		p.close()
		return place{}, mend(rel, err)
	}
	return p, nil
}

// follow takes the way without symlinks first, which is nearly always right, and resolves them only where it fails.
func (w *Workspace) follow(rel string) (place, error) {
	real := rel
	for range maxTries {
		p, err := w.direct(real)
		if err == nil && p.mode&fs.ModeSymlink == 0 {
			return p, nil
		}
		p.close()
		if err != nil && !errors.Is(err, errNoWay) && !errors.Is(err, errSwapped) {
			return place{}, err
		}
		if real, err = w.unlink(real); err != nil {
			return place{}, err
		}
	}
	return place{}, errSwapped
}

// direct opens the folder of a path name by name. No name on the way may be a symlink; the last one is only looked at.
func (w *Workspace) direct(real string) (place, error) {
	dir, err := openTop(w.root)
	if err != nil {
		return place{}, err
	}
	name := real
	if i := strings.LastIndexByte(real, '/'); i >= 0 {
		way, err := dir.through(real[:i])
		dir.close()
		if err != nil {
			return place{}, err
		}
		dir, name = way, real[i+1:]
	}
	n, err := dir.stat(name)
	if err != nil {
		dir.close()
		return place{}, err
	}
	return place{folder: dir, name: name, real: real, node: n}, nil
}

// unlink resolves the symlinks of a path, name by name: ".." in a target goes up from where the symlinks before it led. It
// only computes names; direct opens them, and finds out if they changed meanwhile.
func (w *Workspace) unlink(rel string) (string, error) {
	done, todo := ".", strings.Split(rel, "/")
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", errEscapes
			}
			done = path.Dir(done)
			continue
		}
		here := path.Join(done, name)
		if w.isRefused(here, len(todo) > 0) {
			return "", errRefused // before it is known whether anything is there
		}
		target, err := w.linkAt(here)
		if err != nil {
			return "", err
		}
		if target == "" {
			done = here
			continue
		}
		if links++; links > maxLinks {
			return "", errLoop
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, nil
}

// linkAt reads a symlink; "" where the name is none. Absolute targets are not followed, as os.Root does not.
func (w *Workspace) linkAt(here string) (string, error) {
	info, err := w.root.Lstat(here)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	target, err := w.root.Readlink(here)
	if err == nil && filepath.IsAbs(target) {
		err = errEscapes
	}
	return filepath.ToSlash(target), err
}
