package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/fault"
)

// CtxRead reads one file, or several.
func (t *Tools) CtxRead(ctx context.Context, call *action.Call, in tool.CtxReadInput) (*readAnswer, error) {
	mode, err := parseMode(in.Mode, in.StartLine, in.EndLine)
	if err != nil {
		return nil, err
	}
	r := reading{call: call, mode: mode, fresh: in.Fresh, budget: in.MaxTokens, cursor: in.Cursor, tool: "ctx_read"}
	switch {
	case in.Path != nil && in.Paths != nil:
		return nil, fault.Tool("bad_path", "give either path or paths")
	case in.Path != nil:
		r.paths, r.single = []string{*in.Path}, true
	case len(in.Paths) > 0:
		r.paths = in.Paths
	default:
		return nil, fault.Tool("bad_path", "no path was given; ctx_tree lists the files that there are")
	}
	return t.read(ctx, r)
}

// CtxMultiRead reads several files.
func (t *Tools) CtxMultiRead(ctx context.Context, call *action.Call, in tool.CtxMultiReadInput) (*readAnswer, error) {
	mode, err := parseMode(in.Mode, nil, nil)
	if err != nil {
		return nil, err
	}
	return t.read(ctx, reading{call: call, paths: in.Paths, mode: mode, fresh: in.Fresh, budget: in.MaxTokens, cursor: in.Cursor, tool: "ctx_multi_read"})
}

// CtxSmartRead reads one file in mode auto.
func (t *Tools) CtxSmartRead(ctx context.Context, call *action.Call, in tool.CtxSmartReadInput) (*readAnswer, error) {
	mode, err := parseMode("auto", nil, nil)
	if err != nil {
		return nil, err
	}
	return t.read(ctx, reading{call: call, paths: []string{in.Path}, single: true, mode: mode, fresh: in.Fresh, budget: in.MaxTokens, cursor: in.Cursor, tool: "ctx_smart_read"})
}

// reading is one read of files.
type reading struct {
	call   *action.Call
	tool   string
	paths  []string
	single bool // a file that cannot be read fails the call
	mode   readMode
	fresh  bool
	budget int
	cursor *string
}

func (t *Tools) read(ctx context.Context, r reading) (*readAnswer, error) {
	paths := make([]any, len(r.paths))
	for i, p := range r.paths {
		paths[i] = p
	}
	query := queryID(r.tool, r.call.Workspace.ID(), paths, r.mode.shown)
	at, err := parseCursor(r.cursor, query)
	if err != nil {
		return nil, err
	}
	if at.Item >= len(r.paths) {
		return nil, fault.Tool("bad_cursor", "this cursor belongs to no such query; ask again without one")
	}
	sections, cached, err := t.load(ctx, &r, at)
	if err != nil {
		return nil, err
	}
	if cached && r.cursor == nil && len(r.paths) == 1 {
		if a := t.reads.answer(sections[0].doc, r.cacheKey(query)); a != nil {
			return a, nil
		}
	}
	a, err := r.render(ctx, sections, at, query)
	if err != nil {
		return nil, err
	}
	a.Source = "disk"
	if cached {
		a.Source = "cache"
		if r.cursor == nil && len(r.paths) == 1 {
			t.reads.keep(sections[0].doc, r.cacheKey(query), a)
		}
	}
	return a, nil
}

// cacheKey is what an answer about one document depends on, beside the document. The query is part of it, since the cursor
// in the answer is good for no other spelling of the path.
func (r *reading) cacheKey(query string) string {
	return fmt.Sprintf("%s %d %v", query, r.budget, r.single)
}

// section is one file of an answer, or why it is not there.
type section struct {
	item   int
	path   string
	mode   readMode
	doc    *document
	pieces []piece // what the mode gives of it
	from   int     // first piece of this part
	err    *fault.Fault
	sum    string // the line of mode reference
}

// load reads the files from the cursor on, until there is more than the budget can hold. cached says that all of them came
// from the cache.
func (t *Tools) load(ctx context.Context, r *reading, at cursor) (out []section, cached bool, err error) {
	cached = true
	size := 0
	for i := at.Item; i < len(r.paths) && size <= 16*r.budget; i++ {
		s, hit, err := t.section(ctx, r, i)
		if err != nil {
			f := fault.From(err)
			if r.single || !errors.As(err, &f) || len(f.Reason()) == 0 {
				return nil, false, err
			}
			s = section{item: i, path: r.paths[i], mode: r.mode, err: f}
		}
		if i == at.Item && at.Hash != "" {
			if s.doc == nil || short(s.doc.sha256) != at.Hash || at.At > len(s.pieces) {
				return nil, false, fault.Tool("stale_cursor", "%s has changed since the part before; read it again without a cursor", oneLine(r.paths[i]))
			}
			s.from = at.At
		}
		cached = cached && hit
		for _, p := range s.pieces[s.from:] {
			size += p.end - p.start
		}
		out = append(out, s)
	}
	return out, cached, nil
}

// section reads one file and chooses what the mode gives of it.
func (t *Tools) section(ctx context.Context, r *reading, item int) (section, bool, error) {
	rel, want, err := r.resolve(r.paths[item])
	if err != nil {
		return section{}, false, err
	}
	doc, hit, err := t.reads.load(ctx, r.call.Workspace, rel, r.fresh)
	if err != nil {
		return section{}, false, err
	}
	s := section{item: item, path: rel, doc: doc, mode: r.mode}
	if want != nil {
		if short(doc.sha256) != want.hash {
			return section{}, false, fault.Tool("changed", "%s has changed since that pointer was given; it is now %s", oneLine(rel), oneLine(doc.pointer(1, doc.lines)))
		}
		if s.mode.name == "full" && (want.lines.first > 1 || want.lines.last < doc.lines) {
			ranges := []lineRange{want.lines}
			s.mode = readMode{name: "lines", shown: showLines(ranges), ranges: ranges}
		}
	}
	switch s.mode.name {
	case "lines":
		if s.pieces = doc.choose(s.mode.ranges); len(s.pieces) == 0 {
			return section{}, false, fault.Tool("no_such_lines", "%s has %s; none of %s is there", oneLine(rel), plural(doc.lines, "line"), s.mode.shown)
		}
	case "reference":
		tokens, err := doc.tokens(ctx)
		if err != nil {
			return section{}, false, err
		}
		s.sum = fmt.Sprintf("%s: %s, %d tok (%s) %s", oneLine(rel), plural(doc.lines, "line"), tokens, doc.language(), oneLine(doc.pointer(1, doc.lines)))
	default:
		s.pieces = doc.pieces
	}
	return s, hit, nil
}

// choose gives the pieces of some lines, in the order of the ranges.
func (d *document) choose(ranges []lineRange) []piece {
	var out []piece
	for _, r := range ranges {
		for _, p := range d.pieces {
			if p.line >= r.first && (r.last == 0 || p.line <= r.last) {
				out = append(out, p)
			}
		}
	}
	return out
}

// plural is a count of things.
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}

// fidelity of the whole answer: the worst of its parts.
func (r *reading) fidelity(sections []section, cut bool) answer.Fidelity {
	worst := answer.Lossless
	if cut {
		worst = answer.Partial
	}
	for _, s := range sections {
		switch {
		case s.sum != "" || s.doc != nil && !s.doc.lossless:
			return answer.Lossy
		case s.err != nil || s.from > 0 || s.mode.name == "lines":
			worst = answer.Partial
		}
	}
	return worst
}
