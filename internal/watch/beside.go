package watch

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/internal/workspace"
)

// maxLinks is how many symlinks are looked at again and again.
const maxLinks = 2000

var errLinks = errors.New("there are more symlinks than can be looked at all the time")

// beside is what no event tells of, since it lies in no watched folder: repositories, where symlinks lead, the root itself.
type beside struct {
	w     *workspace.Workspace
	repos map[string]*repository // by the folder that holds them; "." always
	links map[string]target
}

// repository is what was seen of one last.
type repository struct {
	mark    workspace.Mark
	tracked workspace.Tracked
}

// target is what a symlink led to last.
type target struct {
	kind     workspace.Type
	identity workspace.Identity // of a file
	settled  bool               // an equal identity proves an equal file
}

func newBeside(w *workspace.Workspace) *beside {
	b := &beside{w: w, repos: map[string]*repository{}, links: map[string]target{}}
	b.see(".")
	return b
}

// see remembers the repository of a folder as it is.
func (b *beside) see(rel string) {
	r := &repository{mark: b.w.Mark(rel)} // before the index is read: should it change meanwhile, the mark will
	r.tracked = b.w.Tracked(rel)
	b.repos[rel] = r
}

// folder is told of each folder that a walk shows, and says whether it has a repository that was not known.
func (b *beside) folder(rel string) bool {
	if rel == "." || b.repos[rel] != nil {
		return false
	}
	_, err := os.Lstat(filepath.Join(b.w.Root(), filepath.FromSlash(rel), ".git"))
	if err == nil {
		b.see(rel)
	}
	return err == nil
}

// link is told of each symlink.
func (b *beside) link(rel string) error {
	if _, ok := b.links[rel]; !ok && len(b.links) >= maxLinks {
		return errLinks
	}
	b.links[rel] = b.targetOf(rel)
	return nil
}

// gone is told of each folder that is removed.
func (b *beside) gone(rel string) {
	if rel != "." {
		delete(b.repos, rel)
	}
}

func (b *beside) targetOf(rel string) target {
	at := clock()
	info, err := b.w.Stat(rel)
	switch {
	case err != nil:
		return target{settled: true}
	case info.Type != workspace.TypeFile:
		return target{kind: info.Type, settled: true} // what is in a folder is no matter of the symlink
	default:
		return target{info.Type, info.Identity, info.Identity.Settled(at, 0)}
	}
}

// look adds to c what changed since the last look. errRules says that a walk would show other files than before.
func (b *beside) look(c *changes) error {
	if b.moved() {
		return errGone
	}
	for rel, r := range b.repos {
		if err := b.lookAt(rel, r, c); err != nil {
			return err
		}
	}
	for rel, before := range b.links {
		now := b.targetOf(rel)
		if now.kind != before.kind || now.identity != before.identity || !before.settled {
			c.add(rel)
		}
		b.links[rel] = now
		if fi, err := os.Lstat(filepath.Join(b.w.Root(), filepath.FromSlash(rel))); err != nil || fi.Mode()&os.ModeSymlink == 0 {
			delete(b.links, rel) // an event tells of it
		}
	}
	return nil
}

var errRules = errors.New("other ignore rules count")

func (b *beside) lookAt(rel string, r *repository, c *changes) error {
	before := r.mark
	r.mark = b.w.Mark(rel)
	if r.mark.Rules != before.Rules {
		c.revision = true
		return errRules
	}
	if r.mark == before && before.Settled {
		return nil
	}
	if r.mark.Revision != before.Revision || r.mark.Index != before.Index {
		c.revision = true
	}
	tracked := r.tracked
	r.tracked = b.w.Tracked(rel)
	return b.visible(r.tracked.Differ(tracked), c)
}

// visible adds paths that became tracked or are no more, which matters where they are ignored. A folder with nothing tracked in
// it comes and goes with them, so the topmost ignored one is told. Many are as good as other rules.
func (b *beside) visible(paths []string, c *changes) error {
	const many = 1000
	if len(paths) > many {
		return errRules
	}
	for _, p := range paths {
		c.add(b.topIgnored(p))
	}
	return nil
}

func (b *beside) topIgnored(p string) string {
	for i := range p {
		if p[i] != '/' {
			continue
		}
		if ignored, err := b.w.Ignored(p[:i]); err != nil || ignored {
			return p[:i]
		}
	}
	return p
}

// moved says whether the path of the root leads to another folder than the workspace has open.
func (b *beside) moved() bool {
	fi, err := os.Lstat(b.w.Root())
	if err != nil || !fi.IsDir() {
		return true
	}
	info, err := b.w.Stat(".")
	id := workspace.IdentityOf(fi)
	return err != nil || info.Identity.Dev != id.Dev || info.Identity.Ino != id.Ino
}
