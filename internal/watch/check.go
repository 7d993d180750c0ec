package watch

import (
	"context"
	"errors"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/workspace"
)

// node is a name as a walk met it. A tree of them holds each name once, whatever its depth.
type node struct {
	name     string
	kind     workspace.Type
	link     bool
	settled  bool // an equal identity proves equal content
	identity workspace.Identity
	in       []node // of a folder, sorted by name
}

// checker finds changes by comparing walks.
type checker struct {
	w      *workspace.Workspace
	beside *beside
	root   *node // of the last walk; nil where there was none
}

func newChecker(w *workspace.Workspace) *checker { return &checker{w: w, beside: newBeside(w)} }

// check walks, and adds to c what differs from the walk before.
func (k *checker) check(ctx context.Context, c *changes) error {
	root, err := k.walk(ctx, c)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil || k.root == nil { // nothing to compare
		c.all()
	} else {
		diff(c, "", k.root.in, root.in)
	}
	k.root = root
	for rel, r := range k.beside.repos {
		before := r.mark
		if r.mark = k.w.Mark(rel); r.mark != before || !before.Settled {
			c.revision = true
		}
	}
	return nil
}

// walk builds a tree. A root that is gone is an empty one; where only walking fails, there is nil.
func (k *checker) walk(ctx context.Context, c *changes) (*node, error) {
	b := builder{open: []*node{{}}}
	at := clock()
	_, err := k.w.Walk(ctx, ".", workspace.WalkOptions{Hidden: true, Stat: true}, func(e workspace.Entry) error {
		b.add(e, e.Identity.Settled(at, 0))
		if e.Type == workspace.TypeFolder && k.beside.folder(e.Path) {
			c.revision = true
		}
		return nil
	})
	if f := (*fault.Fault)(nil); errors.As(err, &f) && (f.Reason() == workspace.NoSuchFile || f.Reason() == workspace.NotAFolder) {
		return &node{}, nil
	}
	if err != nil {
		return nil, err
	}
	return b.root(), nil
}

// builder makes a tree of entries in the order of a walk.
type builder struct {
	open []*node // the folders on the way to the last entry
}

func (b *builder) add(e workspace.Entry, settled bool) {
	b.shut(strings.Count(e.Path, "/") + 1)
	_, name := split(e.Path)
	n := node{name: strings.Clone(name), kind: e.Type, link: e.Link} // the path would hold all names above it
	if e.Type == workspace.TypeFolder {
		n.settled = true // its identity changes with what is in it, which says so itself
		b.open = append(b.open, &n)
		return
	}
	n.identity, n.settled = e.Identity, settled
	top := b.open[len(b.open)-1]
	top.in = append(top.in, n)
}

// shut puts folders that are complete into those above, until so many are open.
func (b *builder) shut(n int) {
	for len(b.open) > n {
		last := b.open[len(b.open)-1]
		b.open = b.open[:len(b.open)-1]
		top := b.open[len(b.open)-1]
		top.in = append(top.in, *last)
	}
}

func (b *builder) root() *node {
	b.shut(1)
	return b.open[0]
}

// diff adds to c where two trees differ. A folder that is only in one stands for all in it.
func diff(c *changes, above string, old, now []node) {
	for len(old) > 0 || len(now) > 0 {
		var order int
		switch {
		case len(old) == 0:
			order = 1
		case len(now) == 0:
			order = -1
		default:
			order = strings.Compare(old[0].name, now[0].name)
		}
		switch {
		case order < 0:
			c.add(above + old[0].name)
		case order > 0:
			c.add(above + now[0].name)
		default:
			old[0].compare(c, above, &now[0])
		}
		if order <= 0 {
			old = old[1:]
		}
		if order >= 0 {
			now = now[1:]
		}
	}
}

func (n *node) compare(c *changes, above string, now *node) {
	switch {
	case n.kind != now.kind || n.link != now.link || n.identity != now.identity || !n.settled:
		c.add(above + n.name)
	case n.kind == workspace.TypeFolder:
		diff(c, above+n.name+"/", n.in, now.in)
	}
}
