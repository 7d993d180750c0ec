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

// Pattern is a compiled pattern, or several of which a line must match one. It may be used by several goroutines.
type Pattern struct {
	line    *regexp.Regexp   // judges one line
	text    *regexp.Regexp   // finds the next line that may match, in a text whose lines end with LF; nil: there is none
	needles []needle         // every matching line holds one of them; none: nothing is known
	exact   bool             // and every line that holds one matches
	parts   []*regexp.Regexp // the patterns one by one, where there are several
}

// Compile compiles a regular expression in the syntax of RE2, or a literal. Fault reasons: bad_pattern.
func Compile(pattern string, literal bool, c Case) (*Pattern, error) {
	tree, expr, err := parse(pattern, literal, c)
	if err != nil {
		return nil, err
	}
	return build(tree, expr)
}

// CompileAny compiles patterns of which a line must match at least one. Fault reasons: bad_pattern, which names the pattern.
func CompileAny(patterns []string, literal bool, c Case) (*Pattern, error) {
	var parts []*regexp.Regexp
	var exprs []string
	for i, text := range patterns {
		tree, expr, err := parse(text, literal, c)
		if err != nil {
			return nil, fault.Tool("bad_pattern", "queries[%d]: %w", i, err)
		}
		part, err := regexp.Compile(expr)
		if err != nil {
			return nil, fault.Tool("bad_pattern", "queries[%d] is no regular expression (RE2): %w", i, err)
		}
		parts, exprs = append(parts, part), append(exprs, "(?:"+tree.String()+")") // the tree closes what the text may leave open
	}
	expr := strings.Join(exprs, "|")
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fault.Tool("bad_pattern", "the queries are too large to be searched at once: %w", err)
	}
	p, err := build(tree, expr)
	if err != nil {
		return nil, err
	}
	p.parts = parts
	return p, nil
}

// Which tells which of several patterns a line matches, by their places from 0.
func (p *Pattern) Which(line []byte) (list []int) {
	for i, re := range p.parts {
		if re.Match(line) {
			list = append(list, i)
		}
	}
	return list
}

func parse(pattern string, literal bool, c Case) (tree *syntax.Regexp, expr string, err error) {
	if pattern == "" || utf8.RuneCountInString(pattern) > MaxPattern {
		return nil, "", fault.Tool("bad_pattern", "a pattern has 1 to %d characters", MaxPattern)
	}
	expr = pattern
	if literal {
		expr = regexp.QuoteMeta(pattern)
	}
	if c == Insensitive || c == Smart && strings.IndexFunc(pattern, unicode.IsUpper) < 0 {
		expr = "(?i)" + expr
	}
	tree, err = syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, "", fault.Tool("bad_pattern", "the pattern is no regular expression (RE2): %w; literal=true takes it as it is", err)
	}
	return tree, expr, nil
}

func build(tree *syntax.Regexp, expr string) (p *Pattern, err error) {
	p = &Pattern{text: withinLines(tree)}
	if p.line, err = regexp.Compile(expr); err != nil {
		return nil, fault.Tool("bad_pattern", "the pattern is no regular expression (RE2): %w", err)
	}
	p.needles, p.exact = required(tree.Simplify())
	for _, n := range p.needles {
		p.exact = p.exact && !strings.ContainsAny(n.text, "\r\n")
	}
	return p, nil
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
