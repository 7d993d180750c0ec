package search

import (
	"bytes"
	"iter"
)

// Match is a line that matches.
type Match struct {
	Line       int // from 1
	Start, End int // bytes of the line in the text, without its end
	Column     int // byte of the line at which the first match begins, from 1
}

// Lines gives the matching lines of a text, which is UTF-8, in order.
func (p *Pattern) Lines(text []byte) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		switch {
		case bytes.IndexByte(text, '\r') < 0 && (p.text != nil || len(p.needles) > 0):
			p.jump(text, yield)
		case !p.Misses(text):
			p.each(text, yield)
		}
	}
}

// jump goes from one line that may match to the next, in a text whose lines end with LF only.
func (p *Pattern) jump(text []byte, yield func(Match) bool) {
	candidate := p.candidates(text)
	line, counted := 1, 0 // line is the number of the line in which counted lies
	for pos := 0; pos < len(text); {
		at := candidate(pos)
		if at < 0 {
			return
		}
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if column, ok := p.matches(text[start:end], at-start); ok {
			line += bytes.Count(text[counted:start], []byte{'\n'})
			counted = start
			if !yield(Match{Line: line, Start: start, End: end, Column: column}) {
				return
			}
		}
		pos = end + 1
	}
}

// candidates gives a function that says where the next line that may match is touched, or -1, from the beginning of a line on.
func (p *Pattern) candidates(text []byte) func(pos int) int {
	if len(p.needles) > 0 {
		return p.finder(text).from
	}
	return func(pos int) int {
		loc := p.text.FindIndex(text[pos:])
		if loc == nil {
			return -1
		}
		at := pos + loc[0]
		if at == len(text) && text[at-1] == '\n' {
			return -1 // an empty match behind the last line break, where no line is
		}
		return at
	}
}

// matches judges a line, and says where its first match begins. hint is where the first needle was found.
func (p *Pattern) matches(line []byte, hint int) (column int, ok bool) {
	if p.exact {
		return hint + 1, true
	}
	loc := p.line.FindIndex(line)
	if loc == nil {
		return 0, false
	}
	return loc[0] + 1, true
}

// each judges every line, whatever its end is.
func (p *Pattern) each(text []byte, yield func(Match) bool) {
	line := 1
	for start := 0; start < len(text); line++ {
		end, next := lineEnd(text, start)
		if loc := p.line.FindIndex(text[start:end]); loc != nil {
			if !yield(Match{Line: line, Start: start, End: end, Column: loc[0] + 1}) {
				return
			}
		}
		start = next
	}
}

// lineEnd is where the line that begins at start ends, and where the next one begins.
func lineEnd(text []byte, start int) (end, next int) {
	i := bytes.IndexAny(text[start:], "\r\n")
	if i < 0 {
		return len(text), len(text)
	}
	end, next = start+i, start+i+1
	if text[end] == '\r' && next < len(text) && text[next] == '\n' {
		next++
	}
	return end, next
}

// Around gives up to n lines before and after the line that lies at start and end, nearest last and nearest first.
func Around(text []byte, start, end, n int) (before, after []string) {
	for pos := start; n > len(before) && pos > 0; {
		stop := pos - 1
		if text[stop] == '\n' && stop > 0 && text[stop-1] == '\r' {
			stop--
		}
		begin := bytes.LastIndexAny(text[:stop], "\r\n") + 1
		before = append([]string{string(text[begin:stop])}, before...)
		pos = begin
	}
	_, pos := lineEnd(text, end)
	for ; n > len(after) && pos < len(text); _, pos = lineEnd(text, pos) {
		stop, _ := lineEnd(text, pos)
		after = append(after, string(text[pos:stop]))
	}
	return before, after
}
