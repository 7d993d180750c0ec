package search

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

// naive splits first and matches each line by itself: what Lines must equal.
func naive(t interface{ Fatal(...any) }, pattern string, literal bool, c Case, text string) (out []Match) {
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if c == Insensitive || c == Smart && strings.ToLower(pattern) == pattern {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	line := 1
	for start := 0; start < len(text); line++ {
		end := start
		for end < len(text) && text[end] != '\n' && text[end] != '\r' {
			end++
		}
		if loc := re.FindStringIndex(text[start:end]); loc != nil {
			out = append(out, Match{line, start, end, loc[0] + 1})
		}
		start = end + 1
		if end+1 < len(text) && text[end] == '\r' && text[end+1] == '\n' {
			start++
		}
	}
	return out
}

func found(t interface{ Fatal(...any) }, pattern string, literal bool, c Case, text string) (out []Match) {
	p, err := Compile(pattern, literal, c)
	if err != nil {
		t.Fatal(err)
	}
	for m := range p.Lines([]byte(text)) {
		out = append(out, m)
	}
	return out
}

func TestLines(t *testing.T) {
	t.Parallel()
	texts := []string{"", "\n", "\n\n", "a", "a\n", "a\nb\n", "ab\r\nab\rab\n\rab", "foo\nbar foo\n\nfoofoo", "x\r\n", "Foo\nfOO\nbär\n"}
	patterns := []string{"a", "^", "$", "^$", "foo", "^foo$", "fo+", "a|b", "[^x]", ".", `\s`, `(?s).`, `\bfoo\b`, "(foo)+", "foo.*foo", `\Aa`, `a\z`, "x*", "(?i)FOO", "ä", `[\s\S]`, "a\n", `(?-m:^)b`, `b*$`, "fo{2,3}"}
	for _, text := range texts {
		for _, pattern := range patterns {
			for _, c := range []Case{Sensitive, Insensitive, Smart} {
				got, want := found(t, pattern, false, c, text), naive(t, pattern, false, c, text)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%q (%s) in %q: %v, want %v", pattern, c, text, got, want)
				}
			}
		}
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	const text = "a.b\naxb\nf(x)[0]\n\\d\n"
	for _, l := range []string{"a.b", "(x)[", `\d`, ".", "*", "A.B"} {
		for _, c := range []Case{Sensitive, Insensitive, Smart} {
			if got, want := found(t, l, true, c, text), naive(t, l, true, c, text); !reflect.DeepEqual(got, want) {
				t.Errorf("%q (%s): %v, want %v", l, c, got, want)
			}
		}
	}
}

// However pattern and text are put together, Lines finds what a line by line match finds.
func TestLinesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab .x]{0,4}(\n|\n|\r\n|\r)){0,6}[ab]{0,3}`).Draw(t, "text")
		pattern := rapid.StringMatching(`(\^|\\b)?([abx.]|\[\^a\]|\[ab\]|\(a\|b\)|\\s|ab)([*+?]|\{1,2\})?([abx.]|\\W|a\$)?(\$)?`).Draw(t, "pattern")
		if _, err := regexp.Compile(pattern); err != nil {
			return
		}
		if got, want := found(t, pattern, false, Sensitive, text), naive(t, pattern, false, Sensitive, text); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in %q: %v, want %v", pattern, text, got, want)
		}
	})
}

// Case is folded as regexp folds it, the Kelvin sign and the long s included, wherever the needle lies.
func TestFoldProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([aAkKsSxX\x{212a}ſ_.é]{0,6}(\n|\n|\r\n)){0,6}[aks]{0,3}`).Draw(t, "text")
		pattern := rapid.StringMatching(`\^?[aAkKsSxX_éÉ]{1,4}(\|[aks]x?|\.|[xX]\+|\(a\|_\))?`).Draw(t, "pattern")
		for _, c := range []Case{Insensitive, Smart, Sensitive} {
			if got, want := found(t, pattern, false, c, text), naive(t, pattern, false, c, text); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q (%s) in %q: %v, want %v", pattern, c, text, got, want)
			}
		}
	})
}

// Several patterns find the lines that each of them finds, and say which.
func TestAnyProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([abAx .]{0,5}(\n|\n|\r\n|\r)){0,6}[ab]{0,3}`).Draw(t, "text")
		pattern := rapid.SampledFrom([]string{"a", "ab", "a|b", "^a", "b$", "x+", `\Qa.`, "A", "(?i)AB", "^$", "(a)(b)", `[^a]x`, ".", "bx|ab", "(?s)a.b"})
		patterns := rapid.SliceOfN(pattern, 1, 4).Draw(t, "patterns")
		c := rapid.SampledFrom([]Case{Sensitive, Insensitive, Smart}).Draw(t, "case")
		want := map[Match][]int{}
		for i, pattern := range patterns {
			for _, m := range found(t, pattern, false, c, text) {
				m.Column = 0
				want[m] = append(want[m], i)
			}
		}
		p, err := CompileAny(patterns, false, c)
		if err != nil {
			t.Fatal(err)
		}
		got, last := map[Match][]int{}, 0
		for m := range p.Lines([]byte(text)) {
			if m.Line <= last {
				t.Fatalf("line %d after %d", m.Line, last)
			}
			last = m.Line
			which := p.Which([]byte(text[m.Start:m.End]))
			m.Column = 0
			got[m] = which
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q (%s) in %q: %v, want %v", patterns, c, text, got, want)
		}
	})
}

func TestRequired(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"foo": "foo=", "fo+bar": "bar", "(foo)+": "foo", "foo|bars": "foo bars=", "(foo|ba)rs": "foors bars=", "Err(Short|Long)|Hi": "ErrShort ErrLong Hi=", "a(b|c).(de|fg)hij": "dehij fghij", "ab(?i)cd": "ab", "a*": "", "x?foo{2}": "fooo", "foo|b*": "",
		"(?i)Handle": "~handle=", "(?i)task": "~ta", "(?i)ks": "", "(?i)é_x": "~_x", `\bfunc\b`: "func", "func|(?i)VAR": "func ~var=", "a\n": "a\n", "[Ff]oo": "oo",
	} {
		p, err := Compile(pattern, false, Sensitive)
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, n := range p.needles {
			parts = append(parts, map[bool]string{true: "~"}[n.fold]+n.text)
		}
		if got := strings.Join(parts, " ") + map[bool]string{true: "="}[p.exact]; got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

func TestRealText(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(goroot.Src(t), "net", "http", "server.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"^func ", `\bServer\b`, "(?i)handler", `[A-Z]\w+\(`, `//.*$`, "Hijack"} {
		if got, want := found(t, pattern, false, Sensitive, string(b)), naive(t, pattern, false, Sensitive, string(b)); !reflect.DeepEqual(got, want) || len(got) == 0 {
			t.Errorf("%q: %d lines, want %d", pattern, len(got), len(want))
		}
	}
}

func TestRefusedPatterns(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"", "(", "a**", `\p{Nope}`, "(?=x)", `(a)\1`, strings.Repeat("x", MaxPattern+1), strings.Repeat("(", 1000), "a{1001}"} {
		_, err := Compile(p, false, Sensitive)
		if f := fault.From(err); f == nil || f.Code != catalog.ToolError || f.Reason() != "bad_pattern" {
			t.Errorf("%.20q: %v", p, err)
		}
	}
	if _, err := Compile("(", true, Sensitive); err != nil {
		t.Errorf("a literal is refused: %v", err)
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	const text = "1\n2\r\n3\r4\n\n6"
	p, err := Compile("3", false, Sensitive)
	if err != nil {
		t.Fatal(err)
	}
	for m := range p.Lines([]byte(text)) {
		for n, want := range map[int][2][]string{0: {nil, nil}, 1: {{"2"}, {"4"}}, 9: {{"1", "2"}, {"4", "", "6"}}} {
			before, after := Around([]byte(text), m.Start, m.End, n)
			if !reflect.DeepEqual(before, want[0]) || !reflect.DeepEqual(after, want[1]) {
				t.Errorf("%d: %q %q, want %q", n, before, after, want)
			}
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("a+b", "xaab\n", false)
	f.Add(`(?s:.)\z`, "\r\n", true)
	f.Fuzz(func(t *testing.T, pattern, text string, literal bool) {
		if len(text) > 1<<12 {
			return
		}
		p, err := Compile(pattern, literal, Sensitive)
		if err != nil {
			if !fault.Is(err, catalog.ToolError) {
				t.Fatal(err)
			}
			return
		}
		var got []Match
		for m := range p.Lines([]byte(text)) {
			got = append(got, m)
		}
		if want := naive(t, pattern, literal, Sensitive, text); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in %q: %v, want %v", pattern, text, got, want)
		}
	})
}
