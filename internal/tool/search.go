package tool

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/search"
	"github.com/ctxd/ctxd/internal/workspace"
)

// maxSearched is the largest file that is searched, in bytes; larger ones are counted as too_large.
const maxSearched = 16 << 20

// maxLine is how much of a long line is shown, in bytes.
const maxLine = 400

// CtxSearch searches the files of the workspace by walking them.
func (t *Tools) CtxSearch(ctx context.Context, call *action.Call, in tool.CtxSearchInput) (*answer.Answer[tool.CtxSearchOutput], error) {
	rel, err := call.Workspace.Resolve(in.Path)
	if err != nil {
		return nil, err
	}
	pattern, err := compile(in)
	if err != nil {
		return nil, err
	}
	query := queryID("ctx_search", call.Workspace.ID(), rel, value(in.Pattern), in.Queries, in.Literal, string(in.Case), in.Include, in.Exclude, in.Context)
	at, err := parseCursor(in.Cursor, query)
	if err != nil {
		return nil, err
	}
	s := &scan{ws: call.Workspace, pattern: pattern, queries: len(in.Queries), root: rel, context: in.Context, most: in.MaxResults, after: at}
	if s.include, err = globs("include", in.Include); err != nil {
		return nil, err
	}
	if s.exclude, err = globs("exclude", in.Exclude); err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	least := min(1, len(s.page))
	k, err := fit(ctx, len(s.page), least, in.MaxTokens, func(k int) (string, any) {
		a := s.draw(k, in.Queries, query)
		return a.Text, &a.Output
	})
	if err != nil {
		return nil, err
	}
	a := s.draw(k, in.Queries, query)
	a.Source = "disk"
	return a, nil
}

// compile takes the one pattern, or the several.
func compile(in tool.CtxSearchInput) (*search.Pattern, error) {
	switch {
	case in.Pattern != nil && in.Queries != nil:
		return nil, fault.Tool("bad_pattern", "give either pattern or queries")
	case in.Pattern != nil:
		return search.Compile(*in.Pattern, in.Literal, search.Case(in.Case))
	case len(in.Queries) > 0:
		return search.CompileAny(in.Queries, in.Literal, search.Case(in.Case))
	default:
		return nil, fault.Tool("bad_pattern", "no pattern was given; pattern takes one, queries several at once")
	}
}

// value is what an argument holds; "" where it was left out.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// globs compiles the globs of a parameter; nil where there are none.
func globs(parameter string, patterns []string) (*workspace.Globs, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	g, err := workspace.CompileGlobs(patterns)
	if err != nil {
		return nil, fault.Tool("bad_glob", "%s: %w", parameter, err)
	}
	return g, nil
}

// found is a matching line, ready to be shown.
type found struct {
	path          string
	line, column  int
	text          string
	cut           bool
	before, after []string
	queries       []int // of several patterns those that match, from 1
}

// show takes what is shown of a match out of its text, which is not kept.
func (s *scan) show(path string, text []byte, m search.Match) found {
	f := found{path: path, line: m.Line, column: m.Column}
	f.text, f.cut = excerpt(text[m.Start:m.End], m.Column-1)
	if s.context > 0 {
		before, after := search.Around(text, m.Start, m.End, s.context)
		for _, l := range before {
			l, _ = excerpt([]byte(l), 0)
			f.before = append(f.before, l)
		}
		for _, l := range after {
			l, _ = excerpt([]byte(l), 0)
			f.after = append(f.after, l)
		}
	}
	return f
}

// excerpt is a line, or the part of a long one around a byte of it.
func excerpt(line []byte, at int) (text string, cut bool) {
	if len(line) <= maxLine {
		return string(line), false
	}
	start := max(0, min(at-maxLine/4, len(line)-maxLine))
	end := start + maxLine
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return string(line[start:end]), true
}

// draw gives the answer that holds the first k matches of the page.
func (s *scan) draw(k int, queries []string, query string) *answer.Answer[tool.CtxSearchOutput] {
	a := &answer.Answer[tool.CtxSearchOutput]{}
	a.Output = tool.CtxSearchOutput{
		Matches: []tool.CtxSearchOutputMatchesElem{}, TotalMatches: s.sum.total, FilesMatched: s.sum.files, FilesSearched: s.filesSearched,
		FilesSkipped: map[string]int{}, Remaining: s.sum.total - s.sum.passed - k,
	}
	for reason, n := range s.skips {
		a.Output.FilesSkipped[reason] = n
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s in %s (%d searched", plural(s.sum.total, "match"), plural(s.sum.files, "file"), s.filesSearched)
	if said := skipped(s.skips); said != "" {
		text.WriteString("; not searched: " + said)
	}
	text.WriteString(")\n")
	for i, q := range queries {
		a.Output.Queries = append(a.Output.Queries, tool.CtxSearchOutputQueriesElem{Query: q, TotalMatches: s.sum.byQuery[i], FilesMatched: s.sum.inFiles[i]})
		fmt.Fprintf(&text, "%d. %s: %s in %s\n", i+1, oneLine(q), plural(s.sum.byQuery[i], "match"), plural(s.sum.inFiles[i], "file"))
	}
	for i, f := range s.page[:k] {
		f.write(&text, s.context > 0 && i > 0)
		a.Output.Matches = append(a.Output.Matches, f.data())
		if f.cut {
			a.Fidelity = answer.Partial
		}
	}
	if left := a.Output.Remaining; left > 0 && k > 0 {
		last := s.page[k-1]
		next := cursor{Query: query, Path: last.path, At: last.line}.String()
		a.Next, a.Omitted, a.Fidelity = next, plural(left, "match"), answer.Partial
		a.Truncated = k < len(s.page)
		a.Output.Next = &next
		text.WriteString(more(plural(left, "match")+" left", next))
	}
	a.Text = text.String()
	return a
}

func (f found) write(b *strings.Builder, apart bool) {
	if apart {
		b.WriteString("--\n")
	}
	path := oneLine(f.path)
	for i, l := range f.before {
		fmt.Fprintf(b, "%s-%d- %s\n", path, f.line-len(f.before)+i, l)
	}
	fmt.Fprintf(b, "%s:%d", path, f.line)
	if f.queries != nil {
		fmt.Fprintf(b, " %d", f.queries) // as [1 3]
	}
	b.WriteString(": " + f.text)
	if f.cut {
		b.WriteString(" [cut]")
	}
	b.WriteByte('\n')
	for i, l := range f.after {
		fmt.Fprintf(b, "%s-%d- %s\n", path, f.line+1+i, l)
	}
}

func (f found) data() tool.CtxSearchOutputMatchesElem {
	m := tool.CtxSearchOutputMatchesElem{Path: f.path, Line: f.line, Column: f.column, Text: f.text, Before: f.before, After: f.after, Queries: f.queries}
	if f.cut {
		m.Cut = &f.cut
	}
	return m
}
