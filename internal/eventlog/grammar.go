package eventlog

import (
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// Bounds of a search text.
const (
	MaxSearchText  = 4096 // bytes
	MaxSearchTerms = 64   // words; src/main.go has three
)

// parseQuery makes an FTS5 expression of what a user typed (E10): words that must all occur, "phrases", word* for what starts
// with it, -word for what must not occur, OR between alternatives, which hold as many words as stand between two ORs. Every
// word is quoted, so that nothing else has a meaning; punctuation within a word only separates its parts, which are found as a
// phrase. The expression is empty when there is nothing to look for. Fails with invalid_request.
func parseQuery(text string) (string, error) {
	switch {
	case len(text) > MaxSearchText:
		return "", fault.New(catalog.InvalidRequest, "the search text is longer than %d bytes", MaxSearchText)
	case strings.TrimSpace(text) == "":
		return "", fault.New(catalog.InvalidRequest, "the search text is empty")
	}
	p := parser{rest: []rune(strings.ToValidUTF8(text, " "))}
	for p.next() {
	}
	if p.terms > MaxSearchTerms {
		return "", fault.New(catalog.InvalidRequest, "the search text has more than %d words", MaxSearchTerms)
	}
	return p.expression(), nil
}

type parser struct {
	rest  []rune
	terms int
	all   []string // of the alternative that is being read
	any   []string
	not   []string
}

// next reads one word or phrase; false at the end.
func (p *parser) next() bool {
	for len(p.rest) > 0 && isSpace(p.rest[0]) {
		p.rest = p.rest[1:]
	}
	if len(p.rest) == 0 {
		return false
	}
	negated := p.rest[0] == '-'
	if negated {
		p.rest = p.rest[1:]
	}
	word, quoted := p.word()
	if word == "OR" && !quoted && !negated {
		p.alternative()
		return true
	}
	prefix := strings.HasSuffix(word, "*")
	if quoted {
		prefix = len(p.rest) > 0 && p.rest[0] == '*'
	}
	n := countTerms(word)
	p.terms += n
	if n == 0 {
		return true // noise
	}
	phrase := `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	if prefix {
		phrase += "*"
	}
	if negated {
		p.not = append(p.not, phrase)
	} else {
		p.all = append(p.all, phrase)
	}
	return true
}

// word takes what stands up to the next space, or between quotes.
func (p *parser) word() (word string, quoted bool) {
	end := isSpace
	if len(p.rest) > 0 && p.rest[0] == '"' {
		quoted, p.rest = true, p.rest[1:]
		end = func(r rune) bool { return r == '"' }
	}
	n := 0
	for n < len(p.rest) && !end(p.rest[n]) {
		n++
	}
	word = strings.Map(func(r rune) rune {
		if r == 0 {
			return ' ' // ends an expression for FTS5
		}
		return r
	}, string(p.rest[:n]))
	p.rest = p.rest[n:]
	if quoted && len(p.rest) > 0 {
		p.rest = p.rest[1:]
	}
	return word, quoted
}

// alternative ends the list of words that must all occur.
func (p *parser) alternative() {
	if len(p.all) > 0 {
		p.any = append(p.any, "("+strings.Join(p.all, " AND ")+")")
	}
	p.all = nil
}

func (p *parser) expression() string {
	p.alternative()
	if len(p.any) == 0 {
		return ""
	}
	e := "(" + strings.Join(p.any, " OR ") + ")"
	for _, n := range p.not {
		e += " NOT " + n
	}
	return "(" + e + ")"
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == 0 }

// countTerms counts what the tokenizer makes terms of: runs of letters, numbers and private characters.
func countTerms(word string) int {
	n, in := 0, false
	for _, r := range word {
		is := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r) || (in && unicode.IsMark(r))
		if is && !in {
			n++
		}
		in = is
	}
	return n
}
