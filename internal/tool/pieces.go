package tool

import "unicode/utf8"

// piece is what a text may be cut between: a line with its end, or a part of a line that is very long.
type piece struct {
	start, end int // bytes in the content
	line       int // from 1
	opens      bool
}

// maxPiece is how long a line may be before it is several pieces, in bytes.
const maxPiece = 4096

// split gives the pieces of a text, and how many lines it has. Lines end with LF, CRLF or CR; a last line without an end
// counts.
func split(content string) (pieces []piece, lines int) {
	for start := 0; start < len(content); {
		lines++
		end := lineEnd(content, start)
		pieces = appendLine(pieces, content, start, end, lines)
		start = end
	}
	return pieces, lines
}

// lineEnd is where the line that begins at start ends, with its end.
func lineEnd(content string, start int) int {
	for i := start; i < len(content); i++ {
		switch content[i] {
		case '\n':
			return i + 1
		case '\r':
			if i+1 < len(content) && content[i+1] == '\n' {
				return i + 2
			}
			return i + 1
		}
	}
	return len(content)
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
