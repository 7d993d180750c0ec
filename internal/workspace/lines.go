package workspace

import (
	"iter"
	"strings"
)

// Line is one line of a text.
type Line struct {
	Number int    // from 1
	Start  int    // byte offset of Text in the content
	Text   string // without its end
	End    string // "\n", "\r\n", "\r", or "" for a last line that has none
}

// Lines gives the lines of a content, whichever ends they have, mixed too. Text and End of all of them put together are the
// content. An end at the very end opens no further line, and an empty content has none.
func Lines(content string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		ends := ender{s: content}
		for start, n := 0, 1; start < len(content); n++ {
			at, next := ends.next(start)
			if !yield(Line{n, start, content[start:at], content[at:next]}) {
				return
			}
			start = next
		}
	}
}

// CountLines is how many lines Lines gives.
func CountLines(content string) int {
	n := strings.Count(content, "\n") + strings.Count(content, "\r") - strings.Count(content, "\r\n")
	if content != "" && !strings.HasSuffix(content, "\n") && !strings.HasSuffix(content, "\r") {
		n++
	}
	return n
}

// ender finds line ends. It keeps where the next LF and the next CR are, so that a text with one kind only is scanned once.
type ender struct {
	s      string
	lf, cr int // at or behind the start asked for last; len(s) for none
	ready  bool
}

func (e *ender) next(start int) (at, next int) {
	if !e.ready || e.lf < start {
		e.lf = indexFrom(e.s, '\n', start)
	}
	if !e.ready || e.cr < start {
		e.cr = indexFrom(e.s, '\r', start)
	}
	e.ready = true
	at = min(e.lf, e.cr)
	switch {
	case at == len(e.s):
		return at, at
	case at == e.cr && e.lf == at+1 && e.lf < len(e.s):
		return at, at + 2
	default:
		return at, at + 1
	}
}

func indexFrom(s string, b byte, start int) int {
	if i := strings.IndexByte(s[start:], b); i >= 0 {
		return start + i
	}
	return len(s)
}
