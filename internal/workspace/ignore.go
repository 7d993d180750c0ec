package workspace

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// rules answer what git would ignore, for one walk. Their paths are relative to the top of the repository that the root lies
// in, which may be above the root, and else to the root.
type rules struct {
	w      *Workspace
	top    *scope // of the folder above the root, or an empty one
	prefix string // the root's path in those of the rules, with a slash behind it; "" for the top itself
	global []pattern
	blind  int // repositories whose index could not be read
}

// scope is what holds in one folder. Folders that add nothing share that of the folder above.
type scope struct {
	up       *scope // the folder above; nil at the top of a repository, where rules from further up end
	repo     *repo
	list     []pattern // of the folder's .gitignore
	base     int       // bytes of a path before what list judges
	excluded bool      // the folder is: whatever lies in it is too, and its .gitignore does not count
}

// excludes says whether the patterns exclude a path in the folder. The nearest file that has a say decides.
func (s *scope) excludes(full string, isDir bool) bool {
	if s.excluded {
		return true
	}
	base := baseName(full)
	for at := s; at != nil; at = at.up {
		if found, excluded := judge(at.list, full[at.base:], base, isDir); found {
			return excluded
		}
	}
	rel := full[s.repo.base:]
	if found, excluded := judge(s.repo.exclude, rel, base, isDir); found {
		return excluded
	}
	_, excluded := judge(s.repo.global, rel, base, isDir)
	return excluded
}

// ignores says whether git would leave a path out: excluded, and neither tracked nor a folder with tracked files.
func (r *rules) ignores(s *scope, full string, isDir bool) bool {
	return s.excludes(full, isDir) && !r.tracks(s, full, isDir)
}

func (r *rules) tracks(s *scope, full string, isDir bool) bool {
	return r.indexOf(s.repo).tracks(full[s.repo.base:], isDir)
}

// indexOf reads the index of a repository when it is first asked for.
func (r *rules) indexOf(p *repo) *index {
	if p.opened || p.dir == "" {
		return p.index
	}
	p.opened = true
	var err error
	if p.index, err = r.w.readIndex(filepath.Join(p.dir, "index")); err != nil {
		r.blind++
	}
	return p.index
}

// newRules reads what holds at the root: the global file, and the rules of a repository that the root lies in. Where those
// exclude the root itself, and nothing in it is tracked, they cannot be meant for it: it stands alone.
func (w *Workspace) newRules() *rules {
	r := &rules{w: w}
	if w.excludes != "" {
		if b, err := readSmall(w.excludes, maxRules); err == nil {
			r.global = parseIgnore(b)
		}
	}
	r.top = &scope{repo: &repo{global: r.global}}
	if top, outer, ok := w.outerRepo(); ok {
		outer.global = r.global
		r.above(top, outer)
	}
	return r
}

// outerRepo finds the repository that the root lies in without being its top.
func (w *Workspace) outerRepo() (top string, outer *repo, ok bool) {
	dir := w.resolved
	if _, ok := openRepo(filepath.Join(dir, ".git")); ok {
		return "", nil, false
	}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if outer, ok := openRepo(filepath.Join(dir, ".git")); ok {
			return dir, outer, true
		}
	}
	return "", nil, false
}

// above takes the rules of the folders from the top of a repository down to the root.
func (r *rules) above(top string, outer *repo) {
	rel, _ := below(top, r.w.resolved)
	names := strings.Split(filepath.ToSlash(rel), "/")
	s, full := (&scope{repo: outer}).with(ignoreFileOf(top), 0), ""
	for i, name := range names {
		full += name
		excluded := s.excludes(full, true)
		if excluded && !r.tracks(s, full, true) {
			return
		}
		full += "/"
		switch {
		case excluded:
			s = &scope{repo: outer, excluded: true}
		case i < len(names)-1: // the root's own file is read like every one inside it
			s = s.with(ignoreFileOf(filepath.Join(top, filepath.FromSlash(full))), len(full))
		}
	}
	r.top, r.prefix = s, full
}

// ignoreFileOf reads the .gitignore of a folder above the root; git does not follow a symlink there.
func ignoreFileOf(dir string) []byte {
	p := filepath.Join(dir, ".gitignore")
	if fi, err := os.Lstat(p); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	b, _ := readSmall(p, maxRules) // unreadable: no rules, as for git
	return b
}

func (s *scope) with(ignoreFile []byte, base int) *scope {
	list := parseIgnore(ignoreFile)
	if len(list) == 0 {
		return s
	}
	return &scope{up: s, repo: s.repo, list: list, base: base}
}

// inside is what a folder holds that bears on ignoring.
type inside struct {
	git    bool          // a name `.git`
	ignore func() []byte // reads its .gitignore; nil where it has none
}

// enter gives the scope of a folder in the root, which its parent's patterns exclude or not. A folder with a repository of its
// own starts anew: its rules count from its top, and those outside do not count in it; git itself would not look into it. It
// does so only where the outer rules show it, so that what is asked for by name is what a walk from the root would find.
func (r *rules) enter(parent *scope, real string, excluded, shown bool, in inside) *scope {
	s, base := parent, len(r.prefix)
	if real != "." {
		base += len(real) + 1
	}
	if nested, ok := r.nested(real, in.git && shown); ok {
		nested.base, nested.global = base, r.global
		s = &scope{repo: nested}
	} else if excluded {
		return &scope{repo: s.repo, excluded: true}
	}
	if in.ignore == nil {
		return s
	}
	return s.with(in.ignore(), base)
}

func (r *rules) nested(real string, maybe bool) (*repo, bool) {
	if !maybe {
		return nil, false
	}
	return openRepo(filepath.Join(r.w.resolved, filepath.FromSlash(real), ".git"))
}

// at gives the scope of a folder inside the root, by a path without symlinks.
func (r *rules) at(real string) *scope {
	s := r.enter(r.top, ".", r.top.excluded, true, r.look("."))
	if real == "." {
		return s
	}
	for i := 0; i <= len(real); i++ {
		if i == len(real) || real[i] == '/' {
			full := r.prefix + real[:i]
			excluded := s.excludes(full, true)
			shown := !excluded || r.tracks(s, full, true)
			s = r.enter(s, real[:i], excluded, shown, r.look(real[:i]))
		}
	}
	return s
}

// look finds what bears on ignoring in a folder that is not being listed.
func (r *rules) look(real string) inside {
	_, err := r.w.root.Lstat(path.Join(real, ".git"))
	return inside{git: err == nil, ignore: func() []byte {
		p, err := r.w.direct(path.Join(real, ".gitignore"))
		if err != nil {
			return nil
		}
		defer p.close()
		return p.ignoreFile(p.mode.Type())
	}}
}

// ignoreFile reads the .gitignore of an open folder; nil where it is no regular file or cannot be read.
func (d folder) ignoreFile(t fs.FileMode) []byte {
	if !t.IsRegular() {
		return nil
	}
	f, err := d.open(".gitignore")
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := readRules(f, maxRules)
	return b
}

// Ignored says whether git would leave a path out: excluded by ignore rules, itself or a folder that it lies in, and not
// tracked. A path where nothing is yet is judged as a file.
//
// Fault reasons: those of Resolve.
func (w *Workspace) Ignored(rel string) (bool, error) {
	rel, err := w.Resolve(rel)
	if err != nil || rel == "." {
		return false, err
	}
	isDir := false
	if fi, err := w.root.Lstat(rel); err == nil {
		isDir = fi.IsDir()
	}
	r := w.newRules()
	return r.ignores(r.at(path.Dir(rel)), r.prefix+rel, isDir), nil
}
