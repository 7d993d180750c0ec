// Package workspace is the only way to the files of a workspace: the jail at its root, the resolution of paths, what is
// refused, what git would ignore, walking, reading, encodings and the identity by which a changed file is known.
//
// It opens every name below an open folder and never through a symlink that it has not resolved itself, so no swap of names
// leads out of the root or to a refused file. Ignore rules are git's, read from the same files, without running git; a folder
// that is no repository has its .gitignore files honoured all the same.
//
// It does not write, does not watch (package watch does), does not parse content and keeps nothing on disk. It reads no
// environment and no flags: app and cli hand in what git would take from there. Every engine package may import it; it imports
// only fault.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Options say what to open.
type Options struct {
	ID, Label string
	Root      string // any path of an existing folder

	// Refused are patterns in the grammar of ignore files, matched without regard to letter case against the path relative
	// to the root. The last match wins and "!pattern" allows again, but what lies below a refused folder stays refused, as
	// in an ignore file. `.git` is refused whatever they say.
	Refused []string

	// DataDir is the absolute path of the data folder, which may not lie inside the root; "" where there is none.
	DataDir string

	// GlobalExcludes applies GlobalExcludesFile (git's core.excludesFile or its default place) after the repository's rules.
	GlobalExcludes     bool
	GlobalExcludesFile string
}

// Workspace is an open root. Its methods may be called from many goroutines at once.
type Workspace struct {
	id, label string
	given     string // the root as the caller named it, absolute
	resolved  string // the root with its symlinks resolved
	root      *os.Root
	refused   *Globs
	excludes  string // path of the global excludes file, "" for none

	mu      sync.Mutex
	indexes map[string]cachedIndex // by path of the git index
}

// Open opens a workspace. It does no work that grows with what the root holds.
func Open(o Options) (*Workspace, error) {
	w := &Workspace{id: o.ID, label: o.Label, indexes: map[string]cachedIndex{}}
	if o.GlobalExcludes {
		w.excludes = o.GlobalExcludesFile
	}
	var err error
	if w.refused, err = compileGlobs(o.Refused, true); err != nil {
		return nil, fmt.Errorf("workspace %q, refused: %w", o.ID, err)
	}
	if err := w.openRoot(o.Root); err != nil {
		return nil, fmt.Errorf("workspace %q: %w", o.ID, err)
	}
	if err := w.keepOut(o.DataDir); err != nil {
		return nil, errors.Join(fmt.Errorf("workspace %q: %w", o.ID, err), w.Close())
	}
	return w, nil
}

func (w *Workspace) openRoot(root string) error {
	if root == "" {
		return errors.New("the root is empty; name a folder")
	}
	var err error
	if w.given, err = filepath.Abs(root); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if w.resolved, err = filepath.EvalSymlinks(w.given); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if w.root, err = os.OpenRoot(w.resolved); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	return nil
}

// keepOut refuses a data folder inside the root: agents would read the store through the workspace.
func (w *Workspace) keepOut(dataDir string) error {
	if dataDir == "" {
		return nil
	}
	if !filepath.IsAbs(dataDir) {
		return fmt.Errorf("the data folder %q must be an absolute path", dataDir)
	}
	if _, inside := below(w.resolved, resolveExisting(filepath.Clean(dataDir))); inside {
		return fmt.Errorf("the data folder %q lies inside the root %q; move it out", dataDir, w.resolved)
	}
	return nil
}

// resolveExisting resolves the symlinks of the part of an absolute path that exists: the data folder may come later.
func resolveExisting(p string) string {
	real, err := filepath.EvalSymlinks(p)
	if err == nil {
		return real
	}
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(p) == p {
		return p
	}
	return filepath.Join(resolveExisting(filepath.Dir(p)), filepath.Base(p))
}

// Close frees the root. Calls that run may finish; later ones fail. Closing twice is fine.
func (w *Workspace) Close() error { return w.root.Close() }

// ID is the id that the workspace was opened with.
func (w *Workspace) ID() string { return w.id }

// Label is the label that the workspace was opened with.
func (w *Workspace) Label() string { return w.label }

// ExcludesFile is the absolute path of the global excludes file that counts here; "" for none.
func (w *Workspace) ExcludesFile() string { return w.excludes }

// Root is the absolute path of the root, its symlinks resolved.
func (w *Workspace) Root() string { return w.resolved }
