package workspace

import "strings"

// byteSet is what a bracket expression matches.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

// parseSet reads a bracket expression from behind its "[" and gives the index behind its "]"; nil where it is malformed.
func parseSet(s string, i int, fold bool) (*byteSet, int) {
	var set byteSet
	negate := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negate {
		i++
	}
	low := -1 // the byte that a "-" behind it would start a range from; -1 for none
	for first := true; ; first = false {
		if i >= len(s) {
			return nil, 0
		}
		if s[i] == ']' && !first {
			break
		}
		if i, low = setItem(&set, s, i, low); i < 0 {
			return nil, 0
		}
	}
	if fold {
		set.foldCase()
	}
	if negate {
		for k := range set {
			set[k] = ^set[k]
		}
	}
	set['/'>>6] &^= 1 << ('/' & 63)
	return &set, i + 1
}

// setItem reads one byte, range or class of a bracket expression and gives the index behind it; -1 where it is malformed.
func setItem(set *byteSet, s string, i, low int) (next, nextLow int) {
	switch {
	case s[i] == '-' && low >= 0 && i+1 < len(s) && s[i+1] != ']':
		i++
		if s[i] == '\\' {
			i++
		}
		if i >= len(s) {
			return -1, -1
		}
		for b := low; b <= int(s[i]); b++ {
			set.add(byte(b))
		}
		return i + 1, -1
	case strings.HasPrefix(s[i:], "[:"):
		return setClass(set, s, i)
	case s[i] == '\\':
		if i++; i >= len(s) {
			return -1, -1
		}
	}
	set.add(s[i])
	return i + 1, int(s[i])
}

// setClass reads "[:name:]"; what only starts like one is a plain "[".
func setClass(set *byteSet, s string, i int) (next, nextLow int) {
	name, _, closed := strings.Cut(s[i+2:], "]")
	if !closed {
		return -1, -1
	}
	word, isClass := strings.CutSuffix(name, ":")
	if !isClass {
		set.add('[')
		return i + 1, '['
	}
	in, known := classes[word]
	if !known {
		return -1, -1
	}
	for b := range byte(128) {
		if in(b) {
			set.add(b)
		}
	}
	return i + 2 + len(name) + 1, -1
}

// classes are git's: ASCII only, and its own idea of a space.
var classes = map[string]func(byte) bool{
	"alnum":  func(b byte) bool { return isUpper(b) || isLower(b) || isDigit(b) },
	"alpha":  func(b byte) bool { return isUpper(b) || isLower(b) },
	"blank":  func(b byte) bool { return b == ' ' || b == '\t' },
	"cntrl":  func(b byte) bool { return b < ' ' || b == 0x7f },
	"digit":  isDigit,
	"graph":  func(b byte) bool { return b > ' ' && b < 0x7f },
	"lower":  isLower,
	"print":  func(b byte) bool { return b >= ' ' && b < 0x7f },
	"punct":  func(b byte) bool { return b > ' ' && b < 0x7f && !isUpper(b) && !isLower(b) && !isDigit(b) },
	"space":  func(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' },
	"upper":  isUpper,
	"xdigit": func(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' },
}

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }
func isLower(b byte) bool { return b >= 'a' && b <= 'z' }
func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func (s *byteSet) foldCase() {
	for b := byte('a'); b <= 'z'; b++ {
		if up := b - 'a' + 'A'; s.has(b) || s.has(up) {
			s.add(b)
			s.add(up)
		}
	}
}
