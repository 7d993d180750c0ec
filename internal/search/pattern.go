// Package search finds the lines of a text that match a pattern.
//
// It sees one text at a time: walking files, totals and pages are the caller's. A pattern never matches across lines, which
// end with LF, CRLF or CR and do not belong to the line. It imports only fault.
package search

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/internal/fault"
)

// MaxPattern bounds a pattern, in characters.
const MaxPattern = 1024

// Case says how letters are compared.
type Case string

// Cases. Smart is insensitive unless the pattern holds an upper-case letter.
const (
	Sensitive   Case = "sensitive"
	Insensitive Case = "insensitive"
	Smart       Case = "smart"
)

// Pattern is a compiled pattern. It may be used by several goroutines.
type Pattern struct {
	line    *regexp.Regexp // judges one line
	text    *regexp.Regexp // finds the next line that may match, in a text whose lines end with LF; nil: there is none
	literal string         // every matching line holds it; "": nothing is known
	exact   bool           // and every line that holds it matches
}

// Compile compiles a regular expression in the syntax of RE2, or a literal. Fault reasons: bad_pattern.
func Compile(pattern string, literal bool, c Case) (*Pattern, error) {
	if pattern == "" || utf8.RuneCountInString(pattern) > MaxPattern {
		return nil, fault.Tool("bad_pattern", "a pattern has 1 to %d characters", MaxPattern)
	}
	expr := pattern
	if literal {
		expr = regexp.QuoteMeta(pattern)
	}
	if c == Insensitive || c == Smart && strings.IndexFunc(pattern, unicode.IsUpper) < 0 {
		expr = "(?i)" + expr
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fault.Tool("bad_pattern", "the pattern is no regular expression (RE2): %w; literal=true takes it as it is", err)
	}
	p := &Pattern{}
	if p.line, err = regexp.Compile(expr); err != nil {
		return nil, fault.Tool("bad_pattern", "the pattern is no regular expression (RE2): %w", err)
	}
	p.literal, p.exact = required(tree.Simplify())
	p.exact = p.exact && !strings.ContainsAny(p.literal, "\r\n")
	p.text = withinLines(tree)
	return p, nil
}

// required gives the longest literal that every match must hold, and whether the pattern is that literal and nothing else.
func required(re *syntax.Regexp) (literal string, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return "", false
		}
		return string(re.Rune), true
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		literal, _ = required(re.Sub[0])
		return literal, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			literal, _ = required(re.Sub[0])
		}
		return literal, false
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if l, _ := required(sub); len(l) > len(literal) {
				literal = l
			}
		}
		return literal, false
	default:
		return "", false
	}
}

// withinLines compiles the pattern so that it can be run over a whole text and finds only what lies within a line: every
// class loses its line break, and the ends of the text are the ends of a line. nil where that cannot be said.
func withinLines(tree *syntax.Regexp) *regexp.Regexp {
	re, err := syntax.Parse(tree.String(), syntax.Perl)
	if err != nil || !confine(re) {
		return nil
	}
	out, err := regexp.Compile(re.String())
	if err != nil {
		return nil
	}
	return out
}

func confine(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == '\n' {
				return false
			}
		}
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpCharClass:
		re.Rune = without(re.Rune, '\n')
		return len(re.Rune) > 0
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op, re.Flags = syntax.OpEndLine, re.Flags&^syntax.WasDollar
	case syntax.OpEmptyMatch:
		return true
	}
	for _, sub := range re.Sub {
		if !confine(sub) {
			return false
		}
	}
	return true
}

// without takes one character out of the pairs of a class.
func without(pairs []rune, r rune) []rune {
	var out []rune
	for i := 0; i+1 < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if r < lo || r > hi {
			out = append(out, lo, hi)
			continue
		}
		if lo < r {
			out = append(out, lo, r-1)
		}
		if r < hi {
			out = append(out, r+1, hi)
		}
	}
	return out
}
