package workspace

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// met is a name that a walk met in a folder.
type met struct {
	name, shown, real string
	isDir             bool
	excluded          bool // by patterns, though it may be tracked
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// entry judges a name and visits what is behind it.
func (k *walker) entry(l *level, d fs.DirEntry) error {
	m := met{name: d.Name(), isDir: d.IsDir()}
	if isGitName(m.name) {
		return nil
	}
	m.shown = join(l.shown, m.name)
	m.real = m.shown
	if l.real != l.shown {
		m.real = join(l.real, m.name)
	}
	if reason := k.hides(l, &m); reason != "" {
		k.skips[reason]++
		return nil
	}
	switch typeOf(d.Type()) {
	case TypeFolder:
		return k.folder(l, m)
	case TypeFile:
		return k.emit(l, m, Entry{Info: Info{Path: m.shown, Type: TypeFile}})
	case TypeLink:
		return k.link(l, m)
	default:
		k.skips[SkipSpecial]++
		return nil
	}
}

// hides gives the reason not to show a name; "" for none. The folders above it are shown, so only the name itself is judged.
func (k *walker) hides(l *level, m *met) string {
	if k.w.refused.own(m.shown, m.isDir) || m.real != m.shown && k.w.refused.own(m.real, m.isDir) {
		return SkipRefused
	}
	if !k.o.Hidden && strings.HasPrefix(m.name, ".") {
		return SkipHidden
	}
	if k.rules == nil {
		return ""
	}
	full := k.rules.prefix + m.real
	m.excluded = l.scope.excludes(full, m.isDir)
	if m.excluded && !k.rules.tracks(l.scope, full, m.isDir) {
		return SkipIgnored
	}
	return ""
}

// folder visits a folder and what is in it.
func (k *walker) folder(l *level, m met) error {
	switch err := k.emit(l, m, Entry{Info: Info{Path: m.shown, Type: TypeFolder}}); {
	case errors.Is(err, fs.SkipDir):
		return nil
	case err != nil:
		return err
	case k.o.MaxDepth > 0 && l.depth+1 >= k.o.MaxDepth:
		k.skips[SkipDepth]++
		return nil
	}
	sub := &level{up: l, shown: m.shown, real: m.real, scope: l.scope, excluded: m.excluded, depth: l.depth + 1}
	h, err := k.handle(l)
	if err == nil {
		sub.folder, err = h.sub(m.name)
	}
	if err != nil {
		return k.unreadable(m, err)
	}
	sub.open = true
	if sub.depth >= maxHeld {
		l.rest()
	}
	return k.walk(sub)
}

// link shows a symlink as the file that it leads to, or as itself.
func (k *walker) link(l *level, m met) error {
	p, err := k.w.locate(m.real)
	if err == nil {
		defer p.close()
	}
	if reasonIs(err, Refused) {
		k.skips[SkipRefused]++
		return nil
	}
	if err == nil && p.mode.IsRegular() {
		e := Entry{Info: Info{Path: m.shown, Type: TypeFile}, Link: true}
		if k.o.Stat {
			e.Info = p.info(m.shown)
		}
		return k.show(e)
	}
	k.skips[SkipLink]++
	return k.emit(l, m, Entry{Info: Info{Path: m.shown, Type: TypeLink}, Link: true})
}

// emit visits an entry, having looked at it where the caller asked for that.
func (k *walker) emit(l *level, m met, e Entry) error {
	if k.take != nil && e.Type == TypeFile {
		return k.take(l, m)
	}
	if !k.o.Stat {
		return k.show(e)
	}
	h, err := k.handle(l)
	if err != nil {
		return k.unreadable(m, err)
	}
	n, err := h.stat(m.name)
	if err != nil || typeOf(n.mode) != e.Type {
		return k.unreadable(m, err)
	}
	e.Info = n.info(m.shown)
	return k.show(e)
}

func (k *walker) show(e Entry) error {
	if k.o.MaxEntries > 0 && k.seen == k.o.MaxEntries {
		k.skips[SkipLimit] = 1
		return fs.SkipAll
	}
	k.seen++
	return k.visit(e)
}

// unreadable skips a name that cannot be opened. Having no descriptors left is no fault of the name, and ends the walk.
func (k *walker) unreadable(m met, err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return mend(m.shown, err)
	}
	k.skips[SkipUnreadable]++
	return nil
}
