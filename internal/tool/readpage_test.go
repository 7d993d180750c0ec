package tool

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/answer"
)

// text is a file of lines: short and long, with every kind of end, in several scripts, some of which look like our marks.
func text(t *rapid.T) string {
	line := rapid.SampledFrom([]string{
		"", "a", "func main() {", "\treturn nil", "naïve café", "日本語のテキスト", "Привет", "😀😀", "---", "[cut to max_tokens: 1 line left; cursor=x]", "1| one", "x.txt 3L",
		strings.Repeat("word ", 60), strings.Repeat("word ", 60), "", "x", "yz", strings.Repeat("äöü", 700), strings.Repeat("one or two ", 380),
	})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\r"})
	var b strings.Builder
	for range rapid.IntRange(0, 30).Draw(t, "lines") {
		b.WriteString(line.Draw(t, "line") + end.Draw(t, "end"))
	}
	if rapid.Bool().Draw(t, "open") {
		b.WriteString("the last line has no end")
	}
	return b.String()
}

var budgets = rapid.SampledFrom([]int{100, 130, 300, 1000, 20000})

// T4: the parts of a file, put together, are the file; each part is within its budget, and text and data say the same.
func TestT4ReadFull(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		content, budget := text(t), budgets.Draw(t, "budget")
		b.write("f.txt", content)
		lines := lineCount(content)
		var got strings.Builder
		next := ""
		for part := 0; ; part++ {
			a := b.read(t, readOf("f.txt", "full", budget, next))
			f := a.Output.Files[0]
			within(t, budget, a.Text, a.Output, units(*f.Content))
			header, body, _ := strings.Cut(a.Text, "\n")
			if want := fmt.Sprintf("f.txt %dL", lines); header != want && !strings.HasPrefix(header, want+" from line ") {
				t.Fatalf("the header is %q", header)
			}
			want := *f.Content
			if a.Next != "" {
				if !strings.HasSuffix(want, "\n") && want != "" {
					want += "\n"
				}
				if !a.Truncated || a.Fidelity != answer.Partial || a.Omitted == "" || *a.Output.Next != a.Next || *f.Content == "" {
					t.Fatalf("%+v", a.About)
				}
				want += more("cut to max_tokens: "+a.Omitted+" left", a.Next)
			} else if part == 0 && a.Fidelity != answer.Lossless {
				t.Fatalf("%+v", a.About)
			}
			if body != want {
				t.Fatalf("the text is\n%q\nthe data\n%q", body, want)
			}
			got.WriteString(*f.Content)
			if next = a.Next; next == "" {
				break
			}
		}
		if got.String() != content {
			t.Fatalf("put together: %q, not %q", got.String(), content)
		}
	})
}

// units is how many pieces a part of a file is, the number before a line not counted.
func units(content string) int {
	pieces, lines := split(content)
	if lines <= 1 && len(content) <= maxPiece+16 {
		return 1
	}
	return len(pieces)
}

func lineCount(content string) int {
	s := strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\r", "\n")
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// T4: the same for numbered lines, against a model of a few lines.
func TestT4ReadLines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "lines")
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("line %d %s", i+1, strings.Repeat("x ", rapid.IntRange(0, 40).Draw(t, "length"))))
		}
		b.write("f.txt", strings.Join(all, rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")))
		var ranges []string
		want := ""
		for range rapid.IntRange(1, 4).Draw(t, "ranges") {
			from := rapid.IntRange(1, n).Draw(t, "from")
			to := rapid.IntRange(from, n+10).Draw(t, "to")
			ranges = append(ranges, fmt.Sprintf("%d-%d", from, to))
			for i := from; i <= min(to, n); i++ {
				want += fmt.Sprintf("%d| %s\n", i, all[i-1])
			}
		}
		mode, budget, got, next := "lines:"+strings.Join(ranges, ","), budgets.Draw(t, "budget"), "", ""
		for {
			a := b.read(t, readOf("f.txt", mode, budget, next))
			f := a.Output.Files[0]
			within(t, budget, a.Text, a.Output, strings.Count(*f.Content, "\n"))
			if a.Fidelity != answer.Partial || !strings.Contains(a.Text, *f.Content) {
				t.Fatalf("%+v %q", a.About, a.Text)
			}
			got += *f.Content
			if next = a.Next; next == "" {
				break
			}
		}
		if got != want {
			t.Fatalf("%s: %q, not %q", mode, got, want)
		}
	})
}

// T4, T5: the same for several files; each is there once, those that cannot be read with their reason.
func TestT5Batch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("bin", "\x00\x01")
	b.write(".env", "X=1")
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]string{"full", "reference", "lines:1-3"}).Draw(t, "mode")
		want := map[string]string{}
		var paths []string
		for i := range rapid.IntRange(1, 8).Draw(t, "files") {
			name := rapid.SampledFrom([]string{"none", "bin", ".env", "../up", fmt.Sprintf("f%d.txt", i), fmt.Sprintf("g%d.txt", i)}).Draw(t, "name")
			paths = append(paths, name)
			if strings.HasSuffix(name, ".txt") {
				want[name] = "first\n" + text(t)
				b.write(name, want[name])
			}
		}
		got := map[string]string{}
		seen, failed, next := 0, 0, ""
		budget := budgets.Draw(t, "budget")
		for {
			in := tool.CtxReadInput{Paths: paths, Mode: mode, MaxTokens: budget}
			if next != "" {
				in.Cursor = &next
			}
			a := b.read(t, in)
			n := 0
			header, _, _ := strings.Cut(a.Text, "\n")
			for i, f := range a.Output.Files {
				if f.Error != nil && (f.Error.Reason == "" || f.Error.Code != "tool_error") {
					t.Fatalf("%+v", f.Error)
				}
				if f.Content != nil && mode != "reference" { // which takes a small file as one
					n += units(*f.Content)
					got[f.Path] += *f.Content
				} else {
					n++
				}
				if i > 0 || next == "" || f.Error != nil || !strings.Contains(header, " from line ") {
					seen++
				}
			}
			failed += a.Output.Failed
			within(t, budget, a.Text, a.Output, n)
			if next = a.Next; next == "" {
				break
			}
		}
		if seen != len(paths) {
			t.Fatalf("%d files of %v", seen, paths)
		}
		if mode == "full" {
			for name, content := range want {
				if got[name] != content {
					t.Fatalf("%s: %q, not %q", name, got[name], content)
				}
			}
		}
		for _, p := range paths {
			if !strings.HasSuffix(p, ".txt") {
				failed--
			}
		}
		if failed != 0 {
			t.Fatalf("%d failures too many for %v", failed, paths)
		}
	})
}
