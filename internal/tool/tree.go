package tool

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/workspace"
)

// maxTree bounds how many entries of a tree are held and counted; a tree that has more says so.
const maxTree = 500_000

// CtxTree lists a folder.
func (t *Tools) CtxTree(ctx context.Context, call *action.Call, in tool.CtxTreeInput) (*answer.Answer[tool.CtxTreeOutput], error) {
	rel, err := call.Workspace.Resolve(in.Path)
	if err != nil {
		return nil, err
	}
	query := queryID("ctx_tree", call.Workspace.ID(), rel, in.Depth, in.ShowHidden, in.RespectGitignore)
	at, err := parseCursor(in.Cursor, query)
	if err != nil {
		return nil, err
	}
	tr := &tree{root: rel, depth: in.Depth, query: query, folders: map[string]int{}}
	if err := tr.walk(ctx, call.Workspace, in); err != nil {
		return nil, err
	}
	if at.At > len(tr.entries) || at.At > 0 && tr.entries[at.At-1].Path != at.Path {
		return nil, fault.Tool("stale_cursor", "the folder has changed since the part before; list it again without a cursor")
	}
	tr.from = at.At
	k, err := fit(ctx, len(tr.entries)-tr.from, min(1, len(tr.entries)-tr.from), in.MaxTokens, func(k int) (string, any) {
		a := tr.draw(k)
		return a.Text, &a.Output
	})
	if err != nil {
		return nil, err
	}
	a := tr.draw(k)
	a.Source = "disk"
	return a, nil
}

// tree is what a walk has found.
type tree struct {
	root    string
	depth   int
	query   string
	entries []workspace.Entry // in the order of the walk
	folders map[string]int    // files that lie directly in a folder
	skips   workspace.Skips
	from    int
}

// walk looks one level deeper than it shows, to count what the last folders hold.
func (tr *tree) walk(ctx context.Context, ws *workspace.Workspace, in tool.CtxTreeInput) error {
	skips, err := ws.Walk(ctx, tr.root, workspace.WalkOptions{
		Hidden: in.ShowHidden, Ignored: !in.RespectGitignore, Stat: true, MaxDepth: in.Depth + 1, MaxEntries: maxTree,
	}, func(e workspace.Entry) error {
		if e.Type != workspace.TypeFolder {
			tr.folders[path.Dir(e.Path)]++
		}
		if tr.level(e.Path) < tr.depth {
			tr.entries = append(tr.entries, e)
		}
		return nil
	})
	delete(skips, workspace.SkipDepth)
	tr.skips = skips
	return err
}

// level is how deep a path lies below the root of the tree, from 0.
func (tr *tree) level(p string) int {
	below := p
	if tr.root != "." {
		below = strings.TrimPrefix(p, tr.root+"/")
	}
	return strings.Count(below, "/")
}

// draw gives the answer that holds k entries.
func (tr *tree) draw(k int) *answer.Answer[tool.CtxTreeOutput] {
	a := &answer.Answer[tool.CtxTreeOutput]{}
	a.Output = tool.CtxTreeOutput{
		Path: tr.root, Depth: tr.depth, TotalEntries: len(tr.entries), Entries: []tool.CtxTreeOutputEntriesElem{}, Skipped: map[string]int{},
	}
	for reason, n := range tr.skips {
		a.Output.Skipped[reason] = n
	}
	var text strings.Builder
	for _, e := range tr.entries[tr.from : tr.from+k] {
		tr.line(&text, e)
		a.Output.Entries = append(a.Output.Entries, tr.entry(e))
	}
	if len(tr.entries) == 0 {
		text.WriteString("(empty)\n")
	}
	if said := skipped(tr.skips); said != "" {
		text.WriteString("[not shown: " + said + "]\n")
	}
	if left := len(tr.entries) - tr.from - k; left > 0 {
		next := cursor{Query: tr.query, At: tr.from + k, Path: tr.entries[tr.from+k-1].Path}.String()
		a.Truncated, a.Next, a.Omitted, a.Fidelity = true, next, fmt.Sprintf("%d of %d entries", left, len(tr.entries)), answer.Partial
		a.Output.Next = &next
		text.WriteString(more(fmt.Sprintf("cut to max_tokens: %d of %d entries left", left, len(tr.entries)), next))
	}
	a.Text = text.String()
	return a
}

func (tr *tree) line(b *strings.Builder, e workspace.Entry) {
	for range tr.level(e.Path) {
		b.WriteString("  ")
	}
	b.WriteString(oneLine(path.Base(e.Path)))
	switch e.Type {
	case workspace.TypeFolder:
		fmt.Fprintf(b, "/ (%d)", tr.folders[e.Path])
	case workspace.TypeLink:
		b.WriteString(" (link)")
	case workspace.TypeOther:
		b.WriteString(" (special)")
	}
	b.WriteByte('\n')
}

func (tr *tree) entry(e workspace.Entry) tool.CtxTreeOutputEntriesElem {
	out := tool.CtxTreeOutputEntriesElem{Path: e.Path, Type: string(e.Type)}
	switch e.Type {
	case workspace.TypeFolder:
		n := tr.folders[e.Path]
		out.Files = &n
	case workspace.TypeFile:
		n := int(e.Size)
		out.Size = &n
	}
	return out
}
