package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/token"
)

// render cuts the sections to the budget and gives both renderings of them.
func (r *reading) render(ctx context.Context, sections []section, at cursor, query string) (*readAnswer, error) {
	var parts []place
	for i, s := range sections {
		if len(s.pieces) == s.from {
			parts = append(parts, place{i, s.from, true}) // a section with nothing to cut is one part
		}
		for j := s.from; j < len(s.pieces); j++ {
			parts = append(parts, place{i, j, j == s.from})
		}
	}
	last := sections[len(sections)-1].item == len(r.paths)-1
	d := &drawing{r: r, sections: sections, parts: parts, last: last, query: query}
	if r.mode.name == "reference" {
		if err := d.fallBack(ctx); err != nil {
			return nil, err
		}
	}
	k, err := fit(ctx, len(d.parts), 1, r.budget, func(k int) (string, any) {
		a := d.draw(k)
		return a.Text, &a.Output
	})
	if err != nil {
		return nil, err
	}
	a := d.draw(k)
	return a, d.count(ctx, a)
}

// place is a part of an answer: a piece of a section, or a section without pieces.
type place struct {
	section, piece int
	opens          bool // begins its section
}

// drawing renders the first parts of an answer.
type drawing struct {
	r        *reading
	sections []section
	parts    []place
	last     bool // no file comes after the sections
	query    string
}

// draw gives the answer that holds the first k parts.
func (d *drawing) draw(k int) *readAnswer {
	var text, content strings.Builder
	a := &readAnswer{Output: tool.CtxReadOutput{Files: []tool.CtxReadOutputFilesElem{}}}
	endFile := func() {
		if n := len(a.Output.Files); n > 0 && a.Output.Files[n-1].Content != nil {
			*a.Output.Files[n-1].Content = content.String()
		}
		content.Reset()
	}
	for i, p := range d.parts[:k] {
		s := &d.sections[p.section]
		if p.opens {
			if i > 0 {
				if !strings.HasSuffix(text.String(), "\n") {
					text.WriteByte('\n')
				}
				text.WriteString("---\n")
			}
			text.WriteString(d.header(s))
			endFile()
			a.Output.Files = append(a.Output.Files, d.r.file(s))
			if s.err != nil {
				a.Output.Failed++
			}
		}
		if p.piece < len(s.pieces) {
			out := d.r.piece(s, p)
			text.WriteString(out)
			content.WriteString(out)
		}
	}
	endFile()
	d.finish(a, &text, k)
	return a
}

// header is the line above a section.
func (d *drawing) header(s *section) string {
	switch {
	case s.err != nil:
		return oneLine(s.path) + ": " + strings.TrimPrefix(s.err.Message, s.path+": ") + "\n"
	case s.sum != "":
		return s.sum + "\n"
	}
	h := fmt.Sprintf("%s %dL", oneLine(s.path), s.doc.lines)
	switch s.mode.name {
	case "lines":
		h += " " + s.mode.shown
	case "diff":
		h += " " + s.head
	}
	if s.doc.encoding != "utf-8" {
		h += " [" + s.doc.encoding + "]"
	}
	if s.from > 0 {
		h += fmt.Sprintf(" from line %d", s.pieces[s.from].line)
	}
	return h + "\n"
}

// file is the section as data, without its content.
func (r *reading) file(s *section) tool.CtxReadOutputFilesElem {
	f := tool.CtxReadOutputFilesElem{Path: s.path, Mode: s.mode.shown}
	if s.err != nil {
		f.Error = &tool.CtxReadOutputFilesElemError{Code: string(s.err.Code), Reason: s.err.Reason(), Message: s.err.Message}
		return f
	}
	language, pointer := s.doc.language(), s.doc.pointer(1, s.doc.lines)
	f.Language, f.Encoding, f.Sha256, f.Pointer, f.Lines = &language, &s.doc.encoding, &s.doc.sha256, &pointer, &s.doc.lines
	if n, counted := s.doc.price.known(); counted && s.sum != "" {
		f.Tokens = &n
	}
	if s.sum == "" {
		f.Content = new(string)
	}
	if s.since != "" {
		f.Since = &s.since
	}
	return f
}

// piece is a piece as the mode shows it: as it is, or with the number of its line.
func (r *reading) piece(s *section, p place) string {
	pc := s.pieces[p.piece]
	if s.mode.name != "lines" {
		return s.text[pc.start:pc.end]
	}
	out := pc.bare(s.text)
	if pc.opens || p.opens {
		out = fmt.Sprintf("%d| %s", pc.line, out)
	}
	if p.piece+1 < len(s.pieces) && !s.pieces[p.piece+1].opens && s.pieces[p.piece+1].line == pc.line {
		return out
	}
	return out + "\n"
}

// finish says what was left out, and how to go on.
func (d *drawing) finish(a *readAnswer, text *strings.Builder, k int) {
	a.Mode = d.sections[0].mode.name
	next, omitted := d.rest(k)
	a.Fidelity = d.r.fidelity(d.sections, next != "")
	if len(d.sections) == 1 && d.sections[0].doc != nil {
		a.Revision = d.sections[0].doc.sha256
	}
	if next == "" {
		a.Text = text.String()
		return
	}
	a.Truncated, a.Next, a.Omitted = true, next, omitted
	a.Output.Next = &next
	if s := text.String(); !strings.HasSuffix(s, "\n") {
		text.WriteByte('\n')
	}
	text.WriteString(more("cut to max_tokens: "+omitted+" left", next))
	a.Text = text.String()
}

// rest is the cursor behind the first k parts and what is behind it; "" where that is nothing.
func (d *drawing) rest(k int) (next, omitted string) {
	if k == len(d.parts) {
		if d.last {
			return "", ""
		}
		item := d.sections[len(d.sections)-1].item + 1
		return cursor{Query: d.query, Item: item}.String(), plural(len(d.r.paths)-item, "file")
	}
	p := d.parts[k]
	s := d.sections[p.section]
	c := cursor{Query: d.query, Item: s.item}
	if s.doc != nil && p.piece > 0 {
		c.At, c.Hash = p.piece, s.hash
		if s.mode.name == "diff" {
			c.Mode = "diff"
		}
	}
	switch files := len(d.r.paths) - s.item; {
	case p.piece < len(s.pieces) && files == 1:
		return c.String(), fmt.Sprintf("%s from line %d of %d", oneLine(s.path), s.pieces[p.piece].line, s.lines)
	default:
		return c.String(), plural(files, "file")
	}
}

// fallBack shows small files as they are where the line about them would be dearer (tools.md T3).
func (d *drawing) fallBack(ctx context.Context) error {
	for i := range d.sections {
		s := &d.sections[i]
		if s.err != nil {
			continue
		}
		tokens, err := s.doc.tokens(ctx) // counted already: the line names them
		if err != nil {
			return err
		}
		if tokens > len(s.sum) {
			continue // a token of the line is a byte at least
		}
		raw := fmt.Sprintf("%s %dL\n%s", oneLine(s.path), s.doc.lines, s.doc.content)
		dearer, err := cheaper(ctx, raw, s.sum)
		if err != nil {
			return err
		}
		if dearer {
			// One piece, as the line would be: a cursor into it would mean nothing to the next call.
			s.sum, s.pieces = "", []piece{{0, len(s.doc.content), 1, true}}
		}
	}
	return nil
}

// count adds what the answer stands for: the whole file, where a line about it or its change was sent instead. What was cut off
// or not asked for counts as neither sent nor saved.
func (d *drawing) count(ctx context.Context, a *readAnswer) error {
	raw, stands := 0, false
	for i := range a.Output.Files {
		s := &d.sections[i]
		byName := s.doc != nil && d.r.mode.name == "reference" && a.Fidelity == answer.Lossy
		if !s.stands && !byName {
			continue
		}
		whole, err := s.doc.tokens(ctx)
		if err != nil {
			return err
		}
		raw += whole
		if s.stands {
			stands = true
			sent, err := token.Count(ctx, s.sum+s.text)
			if err != nil {
				return err
			}
			raw -= sent
		}
	}
	if stands { // beside what was sent as it is
		n, err := token.Count(ctx, a.Text)
		if err != nil {
			return err
		}
		raw += n
	}
	a.RawTokens = raw
	return nil
}
