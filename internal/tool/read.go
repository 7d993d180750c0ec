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
	r := reading{call: call, mode: mode, since: value(in.Since), fresh: in.Fresh, budget: in.MaxTokens, cursor: in.Cursor, tool: "ctx_read"}
	if in.Since != nil {
		if mode.name != "auto" && mode.name != "diff" {
			return nil, fault.Tool("bad_mode", "since goes with mode diff, not with %q", in.Mode)
		}
		r.mode = readMode{name: "diff", shown: "diff"}
	}
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
	since  string // revision that mode diff compares with; "": what the conversation got last
	fresh  bool
	budget int
	cursor *string
}

func (t *Tools) read(ctx context.Context, r reading) (*readAnswer, error) {
	paths := make([]any, len(r.paths))
	for i, p := range r.paths {
		paths[i] = p
	}
	query := queryID(r.tool, r.call.Workspace.ID(), paths, r.mode.shown, r.since)
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
	key := r.cacheKey(query, sections)
	if cached && key != "" {
		if a := t.reads.answer(sections[0].doc, key); a != nil {
			t.settled(&r, sections, a)
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
		if key != "" {
			t.reads.keep(sections[0].doc, key, a)
		}
	}
	t.settled(&r, sections, a)
	return a, nil
}

// settled remembers what the conversation got of each file, once the answer is on its way.
func (t *Tools) settled(r *reading, sections []section, a *readAnswer) {
	if r.call.Conversation == "" {
		return
	}
	end := cursor{Item: len(r.paths)} // nothing comes after it
	if a.Next != "" {
		end = readCursor(a.Next)
	}
	r.call.Unit.Settled(func() {
		for _, s := range sections {
			if s.mode.name != "full" || s.doc == nil || !s.doc.lossless || s.item > end.Item || s.item == end.Item && end.At == 0 {
				continue
			}
			to := len(s.pieces)
			if s.item == end.Item {
				to = end.At
			}
			t.delivered.add(keyOf(r.call, s.path), s.doc, s.from, to)
		}
	})
}

// cacheKey is what an answer about one document depends on, beside the document; "" where it depends on more. The query is
// part of it, since the cursor in the answer is good for no other spelling of the path.
func (r *reading) cacheKey(query string, sections []section) string {
	s := &sections[0]
	if r.cursor != nil || len(r.paths) != 1 || s.doc == nil || s.mode.name == "diff" {
		return ""
	}
	return fmt.Sprintf("%s %s %d %v", query, s.mode.name, r.budget, r.single)
}

// section is one file of an answer, or why it is not there.
type section struct {
	item   int
	path   string
	mode   readMode
	doc    *document
	text   string  // what the mode gives of it: its content, or how that changed
	lines  int     // of text
	hash   string  // that a cursor into text must name
	pieces []piece // of text
	from   int     // first piece of this part
	err    *fault.Fault
	sum    string // the line that stands for the file: mode reference, or that it is unchanged
	stands bool   // auto chose it instead of the whole text
	head   string // what mode diff says above it
	since  string // hash of what mode diff compares with
}

// load reads the files from the cursor on, until there is more than the budget can hold. cached says that all of them came
// from the cache.
func (t *Tools) load(ctx context.Context, r *reading, at cursor) (out []section, cached bool, err error) {
	cached = true
	size := 0
	for i := at.Item; i < len(r.paths) && size <= 16*r.budget; i++ {
		var part cursor
		if i == at.Item {
			part = at
		}
		s, hit, err := t.section(ctx, r, i, part)
		if err != nil {
			f := fault.From(err)
			if r.single || !errors.As(err, &f) || len(f.Reason()) == 0 {
				return nil, false, err
			}
			s = section{item: i, path: r.paths[i], mode: r.mode, err: f}
		}
		if part.Hash != "" {
			if s.hash != part.Hash || part.At > len(s.pieces) {
				return nil, false, fault.Tool("stale_cursor", "%s has changed since the part before; read it again without a cursor", oneLine(r.paths[i]))
			}
			s.from = part.At
		}
		cached = cached && hit
		for _, p := range s.pieces[s.from:] {
			size += p.end - p.start
		}
		out = append(out, s)
	}
	return out, cached, nil
}

// section reads one file and chooses what the mode gives of it. part is the cursor that leads into it, if one does.
func (t *Tools) section(ctx context.Context, r *reading, item int, part cursor) (section, bool, error) {
	rel, want, err := r.resolve(r.paths[item])
	if err != nil {
		return section{}, false, err
	}
	if s, ok, err := t.stub(ctx, r, rel); ok && want == nil && part.Hash == "" {
		s.item = item
		return s, true, err
	}
	doc, hit, err := t.reads.load(ctx, r.call.Workspace, rel, r.fresh)
	if err != nil {
		return section{}, false, err
	}
	s := section{item: item, path: rel, doc: doc, mode: r.mode, text: doc.content, lines: doc.lines, hash: short(doc.sha256), pieces: doc.pieces}
	if want != nil {
		if short(doc.sha256) != want.hash {
			return section{}, false, fault.Tool("changed", "%s has changed since that pointer was given; it is now %s", oneLine(rel), oneLine(doc.pointer(1, doc.lines)))
		}
		s.mode = want.mode(s.mode, doc)
	}
	return s, hit, t.apply(ctx, r, &s, part)
}

// mode is how a pointer is read: what it promises is sent, whatever was sent before.
func (p *pointed) mode(m readMode, doc *document) readMode {
	if m.name != "full" && m.name != "auto" {
		return m
	}
	if p.lines.first > 1 || p.lines.last < doc.lines {
		ranges := []lineRange{p.lines}
		return readMode{name: "lines", shown: showLines(ranges), ranges: ranges}
	}
	return readMode{name: "full", shown: "full"}
}

// apply makes a section what its mode gives.
func (t *Tools) apply(ctx context.Context, r *reading, s *section, part cursor) error {
	switch name := s.mode.name; {
	case name == "lines":
		if s.pieces = s.doc.choose(s.mode.ranges); len(s.pieces) == 0 {
			return fault.Tool("no_such_lines", "%s has %s; none of %s is there", oneLine(s.path), plural(s.doc.lines, "line"), s.mode.shown)
		}
	case name == "reference":
		tokens, err := s.doc.tokens(ctx)
		if err != nil {
			return err
		}
		s.sum = fmt.Sprintf("%s: %s, %d tok (%s) %s", oneLine(s.path), plural(s.doc.lines, "line"), tokens, s.doc.language(), oneLine(s.doc.pointer(1, s.doc.lines)))
		s.pieces = nil
	case name == "diff" || part.Mode == "diff":
		return t.diff(ctx, r, s)
	case name == "auto" && part.Hash == "":
		return t.auto(ctx, r, s)
	case name == "auto": // a text that is being handed out goes on
		s.mode = readMode{name: "full", shown: "full"}
	}
	return nil
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
		case s.err != nil || s.from > 0 || s.mode.name == "lines" || s.mode.name == "diff":
			worst = answer.Partial
		}
	}
	return worst
}
