package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
)

// WalkOptions say what a walk shows. Refused names are never shown.
type WalkOptions struct {
	Hidden     bool // names that begin with a dot too; the folder where the walk begins may always be one
	Ignored    bool // what git ignores too
	Stat       bool // fill Size, Mode and Identity of entries
	MaxDepth   int  // levels below the start; 0: all
	MaxEntries int  // entries visited; 0: all
}

// Entry is a file or folder that a walk met, or a symlink to what it did not follow. Of its Info only Path and Type are
// filled, unless WalkOptions.Stat is set.
type Entry struct {
	Info
	Link bool // a symlink: Type and the rest are those of the file it leads to, or Type is link
}

// Skips counts what a walk did not show, by reason. `.git` is not counted: every repository has one.
type Skips map[string]int

// Reasons to skip. A folder counts once, whatever it holds.
const (
	SkipIgnored    = "ignored"
	SkipHidden     = "hidden"
	SkipRefused    = "refused"    // the fault that reading it would give
	SkipLink       = "link"       // shown as an entry of type link, not followed: to a folder, to nothing, or out of the root
	SkipSpecial    = "special"    // FIFO, socket, device
	SkipUnreadable = "unreadable" // gone meanwhile, or no permission
	SkipDepth      = "depth"      // a folder at MaxDepth: shown, not opened
	SkipLimit      = "limit"      // 1 when MaxEntries ended the walk
	SkipIndex      = "index"      // repositories whose git index cannot be read: their tracked files are ignored like others
)

// Walk visits what lies below a folder: parents before children, the names of a folder in the order of their bytes. It holds
// one listing per level in memory, never the tree. Symlinked folders are not descended into; rel itself may be or contain a
// symlink. A repository inside the workspace (a nested one, a submodule, a worktree) is walked by its own ignore rules.
//
// visit may return fs.SkipDir to leave a folder out, or the rest of the folder that a file lies in, and fs.SkipAll to end the
// walk; any other error ends it and is returned, as is that of ctx. The skips count what came before.
//
// Fault reasons: those of Stat, not_a_folder.
func (w *Workspace) Walk(ctx context.Context, rel string, o WalkOptions, visit func(Entry) error) (Skips, error) {
	rel, err := w.Resolve(rel)
	if err != nil {
		return Skips{}, err
	}
	p, err := w.locate(rel)
	if err != nil {
		return Skips{}, err
	}
	defer p.close()
	if !p.mode.IsDir() {
		return Skips{}, fault.Tool(NotAFolder, "%s is no folder; read it, or name the folder that it lies in", quote(rel))
	}
	k := &walker{w: w, ctx: ctx, o: o, visit: visit, skips: Skips{}}
	err = k.begin(p, rel)
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return k.skips, err
}

// walker is one walk.
type walker struct {
	w     *Workspace
	ctx   context.Context
	o     WalkOptions
	visit func(Entry) error
	take  func(*level, met) error // instead of visit, for files that are no links; nil: visit gets them
	rules *rules                  // nil where ignored entries are shown too
	skips Skips
	seen  int
}

// level is a folder that is being walked.
type level struct {
	folder
	open     bool
	up       *level   // the one above, which may have been closed meanwhile
	id       Identity // since it was closed
	shown    string   // its path as the caller sees it
	real     string   // and without symlinks
	scope    *scope   // of the folder above until its own is known
	excluded bool     // by patterns; it is walked for the sake of what is tracked in it
	depth    int      // below the start
}

// maxHeld is how many levels keep their folder open while one below is walked. Deeper ones open it again afterwards: a tree of
// any depth costs a bounded number of descriptors.
const maxHeld = 64

func (k *walker) begin(p place, rel string) error {
	l := &level{shown: rel, real: p.real, open: true}
	if !k.o.Ignored {
		k.rules = k.w.newRules()
		l.scope = k.rules.at(p.real)
		defer func() {
			if k.rules.blind > 0 {
				k.skips[SkipIndex] = k.rules.blind
			}
		}()
	}
	var err error
	if l.folder, err = p.sub(p.name); err != nil {
		return mend(rel, err)
	}
	return k.walk(l)
}

// walk visits what a folder holds and closes it.
func (k *walker) walk(l *level) error {
	defer l.leave()
	list, err := k.list(l)
	if err != nil {
		return err
	}
	if k.rules != nil && l.depth > 0 {
		l.scope = k.rules.enter(l.scope, l.real, l.excluded, true, l.inside(list))
	}
	for _, d := range list {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		err := k.entry(l, d)
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *level) shut() {
	if l.open {
		l.open = false
		l.close()
	}
}

// rest closes a folder for the while in which one below is walked.
func (l *level) rest() {
	if l.open {
		l.id = l.identity()
		l.shut()
	}
}

// leave closes a folder for good. If the one above rests it is opened from here: by its path that would cost a step for each
// level, and so the square of them for a deep tree.
func (l *level) leave() {
	if up := l.up; up != nil && !up.open && l.open {
		if f, err := l.above(up.id); err == nil {
			up.folder, up.open = f, true
		}
	}
	l.shut()
}

// handle is the open folder.
func (k *walker) handle(l *level) (folder, error) {
	if l.open {
		return l.folder, nil
	}
	p, err := k.w.direct(l.real)
	if err != nil {
		return folder{}, err
	}
	defer p.close()
	l.folder, err = p.sub(p.name)
	l.open = err == nil
	return l.folder, err
}

// list reads the names of a folder and sorts them. A folder that cannot be read is skipped, unless the walk began there.
func (k *walker) list(l *level) ([]fs.DirEntry, error) {
	const piece = 1024
	var list []fs.DirEntry
	for {
		if err := k.ctx.Err(); err != nil {
			return nil, err
		}
		part, err := l.read(piece)
		list = append(list, part...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && l.depth == 0 {
			return nil, mend(l.shown, err)
		}
		if err != nil {
			k.skips[SkipUnreadable]++
			break
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// inside finds what bears on ignoring in a sorted listing.
func (l *level) inside(list []fs.DirEntry) (in inside) {
	if _, ok := find(list, ".git"); ok {
		in.git = true
	}
	if d, ok := find(list, ".gitignore"); ok {
		in.ignore = func() []byte { return l.ignoreFile(d.Type()) }
	}
	return in
}

func find(list []fs.DirEntry, name string) (fs.DirEntry, bool) {
	i, ok := slices.BinarySearchFunc(list, name, func(d fs.DirEntry, s string) int { return strings.Compare(d.Name(), s) })
	if !ok {
		return nil, false
	}
	return list[i], true
}
