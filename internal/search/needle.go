package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needle is a literal. Where case is folded it is ASCII in lower case and holds neither k nor s, for which other characters
// stand too (the Kelvin sign, the long s).
type needle struct {
	text  string
	fold  bool
	pivot int // its rarest byte
}

// maxNeedles is how many literals are looked for, one of which every match must hold.
const maxNeedles = 32

// required gives literals one of which every match must hold, and whether the matches are these literals and nothing else.
// None where nothing can be said.
func required(re *syntax.Regexp) (list []needle, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		list, _ = required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			list, _ = required(re.Sub[0])
		}
	case syntax.OpConcat:
		return sequence(re.Sub)
	case syntax.OpAlternate:
		return anyOf(re.Sub)
	}
	return list, false
}

func literal(re *syntax.Regexp) ([]needle, bool) {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		return []needle{newNeedle(text, false)}, true
	}
	best := ""
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) }) {
		if len(run) > len(best) {
			best = run
		}
	}
	if best == "" {
		return nil, false
	}
	return []needle{newNeedle(strings.ToLower(best), true)}, best == text
}

// sequence takes the best of what follows one another. Literals that touch become longer ones: Err(?:Short|Long) gives
// ErrShort and ErrLong.
func sequence(subs []*syntax.Regexp) (best []needle, exact bool) {
	var run []needle
	for i, sub := range subs {
		l, e := required(sub)
		var joined bool
		if exact = e && (i == 0 || exact); e {
			if run, joined = join(run, l); !joined {
				run, exact = l, i == 0
			}
			l = run
		} else {
			run = nil
		}
		if shortest(l) > shortest(best) {
			best = l
		}
	}
	return best, exact
}

// join puts each of one list before each of another; false where that are too many, or they do not compare alike.
func join(a, b []needle) (list []needle, ok bool) {
	if len(a) == 0 || len(a)*len(b) > maxNeedles {
		return nil, false
	}
	for _, x := range a {
		for _, y := range b {
			if x.fold != y.fold {
				return nil, false
			}
			list = append(list, newNeedle(x.text+y.text, x.fold))
		}
	}
	return list, true
}

func anyOf(subs []*syntax.Regexp) (list []needle, exact bool) {
	exact = true
	for _, sub := range subs {
		l, e := required(sub)
		if len(l) == 0 || len(list)+len(l) > maxNeedles {
			return nil, false
		}
		list, exact = append(list, l...), exact && e
	}
	return list, exact
}

// shortest is the length of the shortest needle, 0 where there is none: the longer it is, the fewer places must be looked at.
func shortest(list []needle) (n int) {
	for i, l := range list {
		if i == 0 || len(l.text) < n {
			n = len(l.text)
		}
	}
	return n
}

// common lists bytes of source code, the most frequent first.
const common = " etnrioasdlcupfm\tgh.,()_yb\"=v/w:x-{}0k1*>;2+[]j"

func newNeedle(text string, fold bool) needle {
	n := needle{text: text, fold: fold}
	best := -1
	for i := range len(text) {
		rank := strings.IndexByte(common, text[i])
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			best, n.pivot = rank, i
		}
	}
	return n
}

// index is where the needle lies in b from pos on, or -1.
func (n needle) index(b []byte, pos int) int {
	if !n.fold {
		if i := bytes.Index(b[pos:], []byte(n.text)); i >= 0 {
			return pos + i
		}
		return -1
	}
	lower := n.text[n.pivot]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	at := pos + n.pivot
	l, u := next(b, lower, at), next(b, upper, at)
	for {
		at = min(l, u)
		start := at - n.pivot
		if start+len(n.text) > len(b) {
			return -1
		}
		if equalFold(b[start:start+len(n.text)], n.text) {
			return start
		}
		if l == at {
			l = next(b, lower, at+1)
		}
		if u == at {
			u = next(b, upper, at+1)
		}
	}
}

// next is where a byte lies in b from pos on, or behind all that a needle could reach.
func next(b []byte, c byte, pos int) int {
	if pos < len(b) {
		if i := bytes.IndexByte(b[pos:], c); i >= 0 {
			return pos + i
		}
	}
	return len(b) + MaxPattern*utf8.UTFMax
}

// equalFold compares with ASCII in lower case.
func equalFold(b []byte, lower string) bool {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// finder finds the needles of a text one after another, each part of it looked at once for each needle.
type finder struct {
	text    []byte
	needles []needle
	next    []int // where each lies next; -1: nowhere
}

func (p *Pattern) finder(text []byte) *finder {
	f := &finder{text, p.needles, make([]int, len(p.needles))}
	for i, n := range f.needles {
		f.next[i] = n.index(text, 0)
	}
	return f
}

// from is the first place of any needle from pos on, or -1.
func (f *finder) from(pos int) int {
	first := -1
	for i, n := range f.needles {
		if f.next[i] >= 0 && f.next[i] < pos {
			f.next[i] = n.index(f.text, pos)
		}
		if at := f.next[i]; at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// Misses says that no line of a text, which is UTF-8, matches; where it says false, one may. It costs far less than Lines.
func (p *Pattern) Misses(text []byte) bool {
	for _, n := range p.needles {
		if n.index(text, 0) >= 0 {
			return false
		}
	}
	return len(p.needles) > 0
}
