package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// WalkAt visits what a walk of the root would show at a path and below it, the path itself first: for whoever learns that
// something changed there. Where nothing is, or what a walk would not show, nothing is visited; the skips say why if they can.
// MaxDepth counts the path as the first level. For the root it is Walk.
//
// Fault reasons: invalid_path, outside_workspace.
func (w *Workspace) WalkAt(ctx context.Context, rel string, o WalkOptions, visit func(Entry) error) (Skips, error) {
	rel, err := w.Resolve(rel)
	switch {
	case reasonIs(err, Refused):
		return Skips{SkipRefused: 1}, nil
	case err != nil:
		return Skips{}, err
	case rel == ".":
		return w.Walk(ctx, rel, o, visit)
	}
	k := &walker{w: w, ctx: ctx, o: o, visit: visit, skips: Skips{}}
	if !o.Hidden && hasHidden(path.Dir(rel)) {
		k.skips[SkipHidden]++
		return k.skips, nil
	}
	err = k.beginAt(rel)
	if errors.Is(err, fs.SkipAll) || errors.Is(err, fs.SkipDir) {
		err = nil
	}
	return k.skips, err
}

// beginAt judges one name of a folder as if the folder was being walked.
func (k *walker) beginAt(rel string) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	p, err := k.w.direct(rel) // a walk follows no symlink on the way either
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoWay) || errors.Is(err, errSwapped) {
		return nil
	}
	if err != nil {
		return k.unreadable(met{shown: rel}, err)
	}
	dir := path.Dir(rel)
	l := &level{folder: p.folder, open: true, shown: dir, real: dir}
	defer l.shut()
	if !k.o.Ignored {
		k.rules = k.w.newRules()
		l.scope = k.rules.at(dir)
	}
	err = k.entry(l, named{p.name, p.mode})
	if k.rules != nil && k.rules.blind > 0 {
		k.skips[SkipIndex] = k.rules.blind
	}
	return err
}

func hasHidden(dir string) bool {
	return dir != "." && (strings.HasPrefix(dir, ".") || strings.Contains(dir, "/."))
}

// named is a name as a listing would give it.
type named struct {
	name string
	mode fs.FileMode
}

func (n named) Name() string               { return n.name }
func (n named) IsDir() bool                { return n.mode.IsDir() }
func (n named) Type() fs.FileMode          { return n.mode.Type() }
func (n named) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
