package tool

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/token"
)

// T7: encodings and ends of lines. Text comes out as valid UTF-8 with the right numbers of lines, and says what it was.
func TestT7Encodings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bytes, text, encoding string
		lines                 int
		lossy                 bool
	}{
		"utf-8":             {"é\n日本\n", "é\n日本\n", "utf-8", 2, false},
		"a mark":            {"\xef\xbb\xbfone\ntwo\n", "one\ntwo\n", "utf-8-bom", 2, false},
		"utf-16le":          {"\xff\xfeo\x00n\x00e\x00\n\x00\xe9\x00", "one\né", "utf-16le", 2, false},
		"utf-16be":          {"\xfe\xff\x00o\x00n\x00e\x00\r\x00\n\xd8\x3d\xde\x00", "one\r\n😀", "utf-16be", 2, false},
		"half a pair":       {"\xff\xfe\x3d\xd8a\x00", "\uFFFDa", "utf-16le", 1, true},
		"an odd byte":       {"\xff\xfea\x00b", "a\uFFFD", "utf-16le", 1, true},
		"windows-1252":      {"caf\xe9 \x80\n", "café €\n", "windows-1252", 1, false},
		"a broken byte":     {"日本語日本語日本語\xff\n", "日本語日本語日本語\uFFFD\n", "utf-8", 1, true},
		"half a character":  {"日本語日本語日本語\xed\xa0\x80\n", "日本語日本語日本語\uFFFD\uFFFD\uFFFD\n", "utf-8", 1, true},
		"CRLF":              {"one\r\ntwo\r\n", "one\r\ntwo\r\n", "utf-8", 2, false},
		"CR":                {"one\rtwo\rthree", "one\rtwo\rthree", "utf-8", 3, false},
		"mixed ends":        {"one\r\ntwo\rthree\n\nfive", "one\r\ntwo\rthree\n\nfive", "utf-8", 5, false},
		"no end":            {"one\ntwo", "one\ntwo", "utf-8", 2, false},
		"only ends":         {"\n\r\n\r", "\n\r\n\r", "utf-8", 3, false},
		"empty":             {"", "", "utf-8", 0, false},
		"NUL far behind":    {strings.Repeat("a", 9000) + "\x00\n", strings.Repeat("a", 9000) + "\x00\n", "utf-8", 1, false},
		"controls":          {"a\x1b[31mred\x1b[0m\x07\n", "a\x1b[31mred\x1b[0m\x07\n", "utf-8", 1, false},
		"ends of other law": {"one\u2028two\u0085three\v\f\n", "one\u2028two\u0085three\v\f\n", "utf-8", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.write("f.txt", c.bytes)
			a := b.read(t, readOf("f.txt", "full", 20000, ""))
			f := a.Output.Files[0]
			if *f.Content != c.text || *f.Encoding != c.encoding || *f.Lines != c.lines || (a.Fidelity == answer.Lossy) != c.lossy {
				t.Errorf("%q %s %dL %s", *f.Content, *f.Encoding, *f.Lines, a.Fidelity)
			}
			header := fmt.Sprintf("f.txt %dL", c.lines)
			if c.encoding != "utf-8" {
				header += " [" + c.encoding + "]"
			}
			if a.Text != header+"\n"+c.text {
				t.Errorf("%q", a.Text)
			}
			for i := range c.lines {
				l := b.read(t, readOf("f.txt", fmt.Sprintf("lines:%d", i+1), 20000, ""))
				if !strings.HasPrefix(*l.Output.Files[0].Content, fmt.Sprintf("%d| ", i+1)) || strings.Count(*l.Output.Files[0].Content, "\n") != 1 {
					t.Errorf("line %d: %q", i+1, *l.Output.Files[0].Content)
				}
			}
			if _, err := b.tools.CtxRead(t.Context(), b.call, readOf("f.txt", fmt.Sprintf("lines:%d-", c.lines+1), 20000, "")); reason(err) != "no_such_lines" {
				t.Errorf("behind the end: %v", err)
			}
		})
	}
	b := newBench(t)
	for name, bytes := range map[string]string{"nul": "a\x00b", "picture": "\x89PNG\r\n\x1a\n\x00\x00", "utf-32": "\xff\xfe\x00\x00a\x00\x00\x00", "noise": "\x01\x02\x81\x8d\x8f\x90"} {
		b.write(name, bytes)
		if _, err := b.tools.CtxRead(t.Context(), b.call, readOf(name, "full", 20000, "")); reason(err) != "binary_file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// T7: one line of 10 MB comes in parts that are the line, each within its budget.
func TestT7LongLine(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	content := strings.Repeat("0123456789abcdé ", 10<<20/17)
	b.write("f.txt", content)
	got, next := 0, ""
	for part := range 3 { // the whole would take a minute to count
		a := b.read(t, readOf("f.txt", "full", 5000, next))
		c := *a.Output.Files[0].Content
		within(t, 5000, a.Text, a.Output, 2)
		if !strings.HasPrefix(content[got:], c) || len(c) == 0 || *a.Output.Files[0].Lines != 1 || part > 0 && !strings.HasPrefix(a.Text, "f.txt 1L from line 1\n") {
			t.Fatalf("part %d: %.200q", part, a.Text)
		}
		got += len(c)
		next = a.Next
	}
	s, err := b.tools.CtxSearch(t.Context(), b.call, tool.CtxSearchInput{Pattern: new("abcdé"), Path: ".", Case: "sensitive", MaxResults: 5, MaxTokens: 1000})
	if err != nil || s.Output.TotalMatches != 1 || len(s.Output.Matches[0].Text) > maxLine || !*s.Output.Matches[0].Cut {
		t.Errorf("%v %.300s", err, s.Text)
	}
}

// T3: a line about a file is never dearer than the file; where it would be, the file is sent, and says so.
func TestT3ReferenceIsNeverDearer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tiny, about := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Repeat(rapid.SampledFrom([]string{"x", "word ", "line\n", "日本 ", "\n"}).Draw(t, "unit"), rapid.IntRange(0, 300).Draw(t, "times"))
		b.write("f.txt", content)
		a, full := b.read(t, readOf("f.txt", "reference", 20000, "")), b.read(t, readOf("f.txt", "full", 20000, ""))
		cost, err := token.Count(context.Background(), a.Text)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := token.Count(context.Background(), full.Text)
		if err != nil {
			t.Fatal(err)
		}
		if cost > raw {
			t.Fatalf("%d tokens about %d: %s", cost, raw, a.Text)
		}
		if sent := a.Output.Files[0].Content != nil; sent != (a.Fidelity == answer.Lossless) || sent && a.Text != full.Text {
			t.Fatalf("%s %q", a.Fidelity, a.Text)
		} else if sent {
			tiny++
		} else {
			about++
		}
	})
	if tiny == 0 || about == 0 {
		t.Errorf("%d tiny files, %d others", tiny, about)
	}
}

// T3: small files among several that are asked about come whole or not at all, so that a cursor between them stays good.
func TestT4ReferencePages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var paths []string
	for i := range 40 {
		name := fmt.Sprintf("f%02d.txt", i)
		b.write(name, strings.Repeat("a\n", 1+i%7*9))
		paths = append(paths, name)
	}
	seen, next := 0, ""
	for {
		in := tool.CtxReadInput{Paths: paths, Mode: "reference", MaxTokens: 400}
		if next != "" {
			in.Cursor = &next
		}
		a := b.read(t, in)
		for _, f := range a.Output.Files {
			if f.Path != paths[seen] {
				t.Fatalf("%s, not %s", f.Path, paths[seen])
			}
			seen++
		}
		if next = a.Next; next == "" {
			break
		}
	}
	if seen != len(paths) {
		t.Errorf("%d files", seen)
	}
}

// Cases 4 and 11: names and texts that look like our own marks stay what they are.
func TestNamesAndMarks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"a\nb.txt 9L\nfake", "a.txt 5L", "[cut to max_tokens]", "c:0123abcd:a.txt#1-2", " lead", "trail ", "a\tb", "a\u2028b", "é", "e\u0301", "日本.txt", "-x", "--", "~", "$HOME", "%2e%2e", "a\\b", "'\"", "\u202egpj.exe"} {
		b.write(name, "content of it\n")
		a := b.read(t, readOf(name, "full", 20000, ""))
		if a.Output.Files[0].Path != name || *a.Output.Files[0].Content != "content of it\n" {
			t.Errorf("%q: %+v", name, a.Output.Files[0])
		}
		for mode, want := range map[string]int{"full": 2, "lines:1": 2, "reference": 0} {
			if a := b.read(t, readOf(name, mode, 20000, "")); want > 0 && strings.Count(a.Text, "\n") != want || mode == "reference" && strings.Count(a.Text, "\n") > 2 {
				t.Errorf("%q in mode %s breaks the line: %q", name, mode, a.Text)
			}
		}
		p := *a.Output.Files[0].Pointer
		if again := b.read(t, readOf(p, "full", 20000, "")); *again.Output.Files[0].Content != "content of it\n" {
			t.Errorf("%q: the pointer %q leads elsewhere", name, p)
		}
		if err := os.Remove(b.root + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
	missing := tool.CtxReadInput{Paths: []string{"no\nx.txt 9L\nfake"}, Mode: "full", MaxTokens: 20000}
	if a := b.read(t, missing); strings.Count(a.Text, "\n") != 1 {
		t.Errorf("a name that is not there breaks the line: %q", a.Text)
	}
}
