package tool

import (
	"unicode/utf8"

	"github.com/ctxd/ctxd/internal/workspace"
)

// piece is what a text may be cut between: a line with its end, or a part of a line that is very long.
type piece struct {
	start, end int // bytes in the content
	line       int // from 1
	opens      bool
}

// maxPiece is how long a line may be before it is several pieces, in bytes.
const maxPiece = 4096

// split gives the pieces of a text, and how many lines it has.
func split(content string) (pieces []piece, lines int) {
	for l := range workspace.Lines(content) {
		lines = l.Number
		pieces = appendLine(pieces, content, l.Start, l.Start+len(l.Text)+len(l.End), l.Number)
	}
	return pieces, lines
}

func appendLine(pieces []piece, content string, start, end, line int) []piece {
	opens := true
	for end-start > maxPiece {
		cut := start + maxPiece
		for cut > start+maxPiece-utf8.UTFMax && !utf8.RuneStart(content[cut]) {
			cut--
		}
		pieces = append(pieces, piece{start, cut, line, opens})
		start, opens = cut, false
	}
	return append(pieces, piece{start, end, line, opens})
}

// bare is the text of a piece without the end of its line.
func (p piece) bare(content string) string {
	s := content[p.start:p.end]
	for len(s) > 0 && (s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}
