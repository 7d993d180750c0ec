package revision

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/workspace"
)

// layout is where the parts of a repository lie, and what of its configuration counts.
type layout struct {
	workspace.Repository
	prefix string // the workspace's root relative to Top, with slashes; "." for the top itself
	config config
}

// layout finds the repository and judges whether it may be read.
func (r *Repo) layout() (*layout, error) {
	found, ok := r.w.Repository()
	if !ok {
		return nil, r.none()
	}
	l := &layout{Repository: found}
	prefix, err := filepath.Rel(l.Top, r.w.Root())
	if err != nil {
		return nil, failed("the root and its repository have no path in common").With(err)
	}
	l.prefix = filepath.ToSlash(prefix)
	if err := l.configure(); err != nil {
		return nil, failed("the repository's configuration cannot be read; see `git config --list`").With(err)
	}
	return l, l.judge()
}

// configure reads the configuration, and what a worktree of its own says of a sparse checkout.
func (l *layout) configure() error {
	b, err := readFile(filepath.Join(l.Common, "config"), maxConfig)
	if err != nil {
		return err
	}
	if l.config, err = parseConfig(b); err != nil || !isTrue(l.config["extensions.worktreeconfig"]) {
		return err
	}
	b, err = readFile(filepath.Join(l.Dir, "config.worktree"), maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	own, err := parseConfig(b)
	for name, v := range own {
		if strings.Contains(name, "sparse") {
			l.config[name] = v
		}
	}
	return err
}

// none says why there is no repository.
func (r *Repo) none() error {
	root := r.w.Root()
	_, headErr := os.Lstat(filepath.Join(root, "HEAD"))
	if _, err := os.Lstat(filepath.Join(root, "objects")); err == nil && headErr == nil {
		return fault.Tool(NoRepository, "the workspace is a bare repository; make a working tree of it with `git worktree add`")
	}
	return fault.Tool(NoRepository, "the workspace lies in no git repository; make one with `git init`, or ask for nothing of the past")
}

// bare says that the repository has no working tree: its worktrees elsewhere may have one.
func (l *layout) bare() bool { return l.Dir == l.Common && isTrue(l.config["core.bare"]) }

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true
	default:
		return false
	}
}

// judge refuses what would let a repository that came with a workspace's files read another one of the same user, whose
// objects nobody meant to give out. A git folder may lie elsewhere if it names the workspace back, as those of worktrees and
// submodules do; from there on nothing may lead out of it.
//
// Names of single objects may still be links: whoever can name another's object by its hash knows it already.
func (l *layout) judge() error {
	dir, common, top := real(l.Dir), real(l.Common), real(l.Top)
	switch {
	case dir == "" || common == "" || top == "":
		return failed("the repository is being moved; try again")
	case !inside(top, dir) && !l.namesBack(top):
		return foreign("the git folder")
	case dir != common && !inside(filepath.Join(common, "worktrees"), dir):
		return foreign("the shared git folder")
	}
	for _, p := range []string{"objects", "refs", "packed-refs", "shallow", "reftable", "logs", "info", "info/exclude", "info/attributes"} {
		if !staysIn(common, filepath.Join(common, p)) {
			return foreign(p)
		}
	}
	for _, p := range []string{"HEAD", "index", "logs", "reftable", "info", "info/sparse-checkout"} {
		if !staysIn(dir, filepath.Join(dir, p)) {
			return foreign(p)
		}
	}
	return l.judgeObjects(common)
}

// judgeObjects looks for folders of objects that lie elsewhere.
func (l *layout) judgeObjects(common string) error {
	objects := filepath.Join(common, "objects")
	list, err := os.ReadDir(objects)
	if err != nil {
		return failed("the repository's objects cannot be read").With(err)
	}
	for _, d := range list {
		if d.Type()&fs.ModeSymlink != 0 && !staysIn(common, filepath.Join(objects, d.Name())) {
			return foreign("a folder of objects")
		}
	}
	b, err := readFile(filepath.Join(objects, "info", "alternates"), maxConfig)
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '"' || !staysIn(common, from(objects, line)) {
			return foreign("a store of objects that it borrows from")
		}
	}
	return nil
}

// namesBack says whether the git folder names the working tree: in a file `gitdir`, or as core.worktree.
func (l *layout) namesBack(top string) bool {
	if b, err := readFile(filepath.Join(l.Dir, "gitdir"), maxConfig); err == nil {
		dotGit := from(l.Dir, strings.TrimRight(string(b), "\r\n"))
		return real(filepath.Dir(dotGit)) == top
	}
	tree := l.config["core.worktree"]
	return tree != "" && real(from(l.Dir, tree)) == top
}

func from(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// real is a path without symlinks; "" where nothing is.
func real(p string) string {
	p, err := filepath.EvalSymlinks(p)
	if err != nil {
		return ""
	}
	return p
}

// staysIn says whether a path, as far as anything is there, leads to something in a folder. The folder has no symlinks.
func staysIn(dir, p string) bool {
	if _, err := os.Lstat(p); err != nil {
		return true
	}
	return inside(dir, real(p))
}

// inside says whether a path is a folder or lies in it; whole names are compared. Both are clean.
func inside(dir, p string) bool {
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}

// readFile reads a small regular file of a repository; it never waits for a FIFO.
func readFile(p string, most int64) ([]byte, error) {
	fi, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > most {
		return nil, fs.ErrInvalid
	}
	f, err := os.OpenFile(p, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
