package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxRules bounds an ignore file in bytes; git has such a bound too, and ignores the file beyond it.
const maxRules = 16 << 20

// repo is a git repository as far as ignoring goes, or the lack of one.
type repo struct {
	dir     string    // its own git folder: the index lies there; "" where there is no repository
	base    int       // bytes of a walk's path before what its top is
	exclude []pattern // of info/exclude, in the folder that worktrees share
	global  []pattern

	index  *index
	opened bool
}

// Repository says where git keeps what belongs to a folder. All paths are absolute.
type Repository struct {
	Top    string // the folder that holds `.git`
	Dir    string // its own git folder: HEAD and the index lie there
	Common string // the folder that worktrees share, with objects, refs and config; mostly Dir
}

// Repository finds the repository that the root lies in, be it deeper than its top. Only the likeness of one is judged: what
// lies there is whoever's who made it.
func (w *Workspace) Repository() (Repository, bool) {
	for dir := w.resolved; ; dir = filepath.Dir(dir) {
		if found, ok := findRepo(filepath.Join(dir, ".git")); ok {
			return found, true
		}
		if dir == filepath.Dir(dir) {
			return Repository{}, false
		}
	}
}

// openRepo opens the repository that a `.git` belongs to. Nothing is trusted but where ignore rules and the index are; a
// hostile one could hide files of its own folder, as it can anyway.
func openRepo(dotGit string) (*repo, bool) {
	found, ok := findRepo(dotGit)
	if !ok {
		return nil, false
	}
	r := &repo{dir: found.Dir}
	if b, err := readSmall(filepath.Join(found.Common, "info", "exclude"), maxRules); err == nil {
		r.exclude = parseIgnore(b)
	}
	return r, true
}

// findRepo finds what a `.git` is: a folder, or a file that names one (worktrees, submodules).
func findRepo(dotGit string) (Repository, bool) {
	dir := dotGit
	if fi, err := os.Stat(dotGit); err != nil {
		return Repository{}, false
	} else if !fi.IsDir() {
		b, err := readSmall(dotGit, maxPath)
		target, isLink := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), "gitdir: ")
		if err != nil || !isLink {
			return Repository{}, false
		}
		dir = from(filepath.Dir(dotGit), target)
	}
	common := dir
	if b, err := readSmall(filepath.Join(dir, "commondir"), maxPath); err == nil {
		common = from(dir, strings.TrimRight(string(b), "\r\n"))
	}
	return Repository{Top: filepath.Dir(dotGit), Dir: dir, Common: common}, isGitDir(dir, common)
}

func from(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// isGitDir is git's own test: a HEAD that could be one, objects and refs.
func isGitDir(dir, common string) bool {
	return isHead(filepath.Join(dir, "HEAD")) && isDir(filepath.Join(common, "objects")) && isDir(filepath.Join(common, "refs"))
}

func isHead(p string) bool {
	if target, err := os.Readlink(p); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	b, err := readSmall(p, maxPath)
	if err != nil {
		return false
	}
	if ref, ok := strings.CutPrefix(string(b), "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(ref, " \t\n\r"), "refs/")
	}
	return len(b) >= 40 && strings.Trim(string(b[:40]), "0123456789abcdefABCDEF") == ""
}

func isDir(p string) bool {
	fi, err := os.Stat(p)
	return err == nil && fi.IsDir()
}

// readSmall reads a regular file of git's, outside the jail.
func readSmall(p string, limit int64) ([]byte, error) {
	fi, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRules(f, limit)
}

// readRules reads an open file, if it is a regular one within the limit.
func readRules(f *os.File, limit int64) ([]byte, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > limit {
		return nil, fs.ErrInvalid
	}
	b := make([]byte, fi.Size())
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // cut short meanwhile
	}
	return b[:n], err
}
