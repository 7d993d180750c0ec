package workspace

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// op is a kind of piece of a pattern.
type op uint8

const (
	opByte op = iota // one byte
	opAny            // ?: any byte but a slash
	opSet            // [...]: one of a set of bytes, never a slash
	opStar           // *: any run without a slash
	opDeep           // ** as a whole name: any run
	opDirs           // **/: nothing, or any run that ends in a slash
)

type piece struct {
	op  op
	lit byte
	set *byteSet
}

// pattern is one line of an ignore file, made ready to match. Matching is by bytes, as git's is.
type pattern struct {
	negate   bool    // "!": what matches is allowed again
	dirOnly  bool    // slash at the end: folders only
	nameOnly bool    // no other slash: the last name of a path is judged, at any depth
	never    bool    // malformed: git takes such a line and matches nothing with it
	prefix   string  // what the name starts with
	tail     []piece // and goes on with; empty: nothing more
}

// compile reads a pattern. fold matches without regard to letter case; the caller then lowers names with foldCase.
func compile(line string, fold bool) pattern {
	var p pattern
	line, p.negate = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.nameOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if fold {
		line = foldCase(line)
	}
	p.prefix = line
	if i := strings.IndexAny(line, `*?[\`); i >= 0 {
		// git hands only what follows the literal start to its matcher, so that "**" right there counts as a whole name:
		// "/a**/b" matches ab.
		p.prefix = line[:i]
		p.tail, p.never = parse(line[i:], fold)
	}
	return p
}

// parse cuts a pattern into pieces. bad means that it can match nothing: an open bracket, an unknown class, a lone backslash.
func parse(s string, fold bool) (ps []piece, bad bool) {
	for i := 0; i < len(s); {
		switch s[i] {
		case '*':
			end := i
			for end < len(s) && s[end] == '*' {
				end++
			}
			kind, next := star(s, i, end)
			ps, i = append(ps, piece{op: kind}), next
		case '?':
			ps, i = append(ps, piece{op: opAny}), i+1
		case '[':
			set, next := parseSet(s, i+1, fold)
			if set == nil {
				return nil, true
			}
			ps, i = append(ps, piece{op: opSet, set: set}), next
		case '\\':
			if i++; i == len(s) {
				return nil, true
			}
			fallthrough
		default:
			ps, i = append(ps, piece{op: opByte, lit: s[i]}), i+1
		}
	}
	return ps, false
}

// star says what the stars in s[from:end] are and where to go on. Two or more count only as a whole name.
func star(s string, from, end int) (op, int) {
	rest := s[end:]
	whole := end-from > 1 && (from == 0 || s[from-1] == '/')
	switch {
	case whole && strings.HasPrefix(rest, "/"):
		return opDirs, end + 1
	case whole && (rest == "" || strings.HasPrefix(rest, `\/`)):
		return opDeep, end
	default:
		return opStar, end
	}
}

// match says whether a name (relative to the folder of the pattern's file, or only the last name for nameOnly) matches.
func (p *pattern) match(name string) bool {
	if p.never || !strings.HasPrefix(name, p.prefix) {
		return false
	}
	name = name[len(p.prefix):]
	if len(p.tail) == 0 {
		return name == ""
	}
	return matchPieces(p.tail, name)
}

// matchPieces needs no recursion: of the stars that it could widen after a mismatch, only the last one that stops at a slash
// and the last one that does not can still matter. So a hostile pattern costs time, but not exponential time.
func matchPieces(ps []piece, s string) bool {
	near, far := retry{at: -1}, retry{at: -1}
	for i, j := 0, 0; ; {
		switch {
		case i == len(ps) && j == len(s):
			return true
		case i == len(ps):
		case ps[i].op == opStar:
			near = retry{i, j}
			i++
			continue
		case ps[i].op >= opDeep:
			near, far = retry{at: -1}, retry{i, j}
			i++
			continue
		case j < len(s) && ps[i].takes(s[j]):
			i, j = i+1, j+1
			continue
		}
		switch {
		case near.widen(s):
			i, j = near.at+1, near.from
		case far.at >= 0 && far.jump(s, ps[far.at].op):
			near = retry{at: -1}
			i, j = far.at+1, far.from
		default:
			return false
		}
	}
}

func (p piece) takes(b byte) bool {
	switch p.op {
	case opAny:
		return b != '/'
	case opSet:
		return p.set.has(b)
	default:
		return b == p.lit
	}
}

// retry is a star and where in the name what follows it was last tried.
type retry struct{ at, from int }

// widen lets a star take one byte more, unless that is a slash.
func (r *retry) widen(s string) bool {
	if r.at < 0 || r.from == len(s) || s[r.from] == '/' {
		return false
	}
	r.from++
	return true
}

// jump lets a star that crosses slashes take more: one byte, or all up to the next slash where it stands for folders.
func (r *retry) jump(s string, kind op) bool {
	step := 1
	if kind == opDirs {
		step = strings.IndexByte(s[r.from:], '/') + 1
	}
	if step == 0 || r.from+step > len(s) {
		return false
	}
	r.from += step
	return true
}

// foldCase lowers letters of any script; bytes that are no UTF-8 stay.
func foldCase(s string) string {
	if utf8.ValidString(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(s[0])
		} else {
			b.WriteRune(unicode.ToLower(r))
		}
		s = s[n:]
	}
	return b.String()
}
