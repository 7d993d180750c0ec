package tool

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/workspace"
)

// grove makes a random folder of files and gives their content by path.
func grove(t *rapid.T, root string) map[string]string {
	name := rapid.SampledFrom([]string{"a", "b.txt", "c.go", "d e", "f&'g", "naïve", "日本", "line\nbreak", "z-long-name-" + strings.Repeat("z", 60)})
	line := rapid.SampledFrom([]string{"needle", "a needle in hay", "hay", "", "needle needle", "NEEDLE", strings.Repeat("hay ", 200) + "needle" + strings.Repeat(" hay", 200), "x: needle: 7"})
	files := map[string]string{}
	for range rapid.IntRange(0, 14).Draw(t, "files") {
		var parts []string
		for range rapid.IntRange(0, 3).Draw(t, "depth") {
			parts = append(parts, "dir-"+name.Draw(t, "folder"))
		}
		p := path.Join(append(parts, name.Draw(t, "name"))...)
		files[p] = strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
	}
	for p, content := range files {
		full := path.Join(root, p)
		if err := os.MkdirAll(path.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// plot is a fresh folder as a workspace, for one check.
func plot(t *rapid.T, base string) (*action.Call, string) {
	root, err := os.MkdirTemp(base, "plot")
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open(workspace.Options{ID: "w", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close(); _ = os.RemoveAll(root) })
	return &action.Call{Workspace: ws}, root
}

// T4: the parts of a tree, put together, are the tree, with true totals in each.
func TestT4Tree(t *testing.T) {
	t.Parallel()
	base, tools := t.TempDir(), New(nil)
	rapid.Check(t, func(t *rapid.T) {
		call, root := plot(t, base)
		files := grove(t, root)
		depth, budget := rapid.IntRange(1, 5).Draw(t, "depth"), rapid.SampledFrom([]int{100, 200, 700, 20000}).Draw(t, "budget")
		want := map[string]bool{}
		for p := range files {
			for ; p != "."; p = path.Dir(p) {
				if strings.Count(p, "/") < depth {
					want[p] = true
				}
			}
		}
		var got []string
		lines := 0
		in := tool.CtxTreeInput{Path: ".", Depth: depth, RespectGitignore: true, MaxTokens: budget}
		for {
			a, err := tools.CtxTree(context.Background(), call, in)
			if err != nil {
				t.Fatal(err)
			}
			within(t, budget, a.Text, a.Output, len(a.Output.Entries))
			if a.Output.TotalEntries != len(want) || a.Truncated != (a.Next != "") || (a.Next == "") != (a.Output.Next == nil) {
				t.Fatalf("%d entries of %d: %+v", a.Output.TotalEntries, len(want), a.About)
			}
			for _, e := range a.Output.Entries {
				got = append(got, e.Path)
				if e.Type == "file" && *e.Size != len(files[e.Path]) {
					t.Fatalf("%s: %d bytes, not %d", e.Path, *e.Size, len(files[e.Path]))
				}
			}
			for l := range strings.Lines(a.Text) {
				if !strings.HasPrefix(l, "[cut to max_tokens: ") && l != "(empty)\n" {
					lines++
				}
			}
			if a.Next == "" {
				break
			}
			in.Cursor = &a.Next
		}
		if len(got) != len(want) || lines != len(want) {
			t.Fatalf("%d entries and %d lines, not %d: %q", len(got), lines, len(want), got)
		}
		for _, p := range got {
			if !want[p] {
				t.Fatalf("%q is not there, or twice", p)
			}
			delete(want, p)
		}
	})
}

// T4: the pages of a search, put together, are all matches, with true totals on each.
func TestT4Search(t *testing.T) {
	t.Parallel()
	base, tools := t.TempDir(), New(nil)
	rapid.Check(t, func(t *rapid.T) {
		call, root := plot(t, base)
		var want []string
		matched := map[string]bool{}
		for p, content := range grove(t, root) {
			for i, l := range strings.Split(content, "\n") {
				if strings.Contains(l, "needle") {
					want = append(want, fmt.Sprintf("%s:%d", p, i+1))
					matched[p] = true
				}
			}
		}
		in := tool.CtxSearchInput{
			Pattern: new("needle"), Path: ".", Case: "sensitive", Literal: rapid.Bool().Draw(t, "literal"), Context: rapid.IntRange(0, 2).Draw(t, "context"),
			MaxResults: rapid.IntRange(1, 30).Draw(t, "most"), MaxTokens: rapid.SampledFrom([]int{100, 400, 2000, 20000}).Draw(t, "budget"),
		}
		var got []string
		for {
			a, err := tools.CtxSearch(context.Background(), call, in)
			if err != nil {
				t.Fatal(err)
			}
			o := a.Output
			within(t, in.MaxTokens, a.Text, o, len(o.Matches))
			for _, m := range o.Matches {
				got = append(got, fmt.Sprintf("%s:%d", m.Path, m.Line))
				if !strings.Contains(m.Text, "needle") {
					t.Fatalf("%+v", m)
				}
			}
			if o.TotalMatches != len(want) || o.FilesMatched != len(matched) || o.Remaining != len(want)-len(got) || (o.Remaining > 0) != (a.Next != "") || len(o.Matches) > in.MaxResults {
				t.Fatalf("%+v, %d so far, of %d in %d", o, len(got), len(want), len(matched))
			}
			if a.Next == "" {
				break
			}
			if len(o.Matches) == 0 || a.Fidelity != answer.Partial {
				t.Fatalf("a page without an end: %+v", a.About)
			}
			in.Cursor = &a.Next
		}
		if ordered := slices.Clone(got); !slices.Equal(sorted(got), sorted(want)) {
			t.Fatalf("%q, not %q", ordered, want)
		}
	})
}

// Several patterns at once: each has its totals, a line that several match comes once and says so.
func TestSearchQueries(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one two\nthree\ntwo\n")
	b.write("b.txt", "two\r\nTHREE\r\n")
	in := tool.CtxSearchInput{Queries: []string{"one", "two", "(?i)three", "four"}, Path: ".", Case: "sensitive", MaxResults: 3, MaxTokens: 20000}
	a, err := b.tools.CtxSearch(t.Context(), b.call, in)
	if err != nil {
		t.Fatal(err)
	}
	const head = "5 matches in 2 files (2 searched)\n1. one: 1 match in 1 file\n2. two: 3 matches in 2 files\n3. (?i)three: 2 matches in 2 files\n4. four: 0 matches in 0 files\n"
	const page = "a.txt:1 [1 2]: one two\na.txt:2 [3]: three\na.txt:3 [2]: two\n[2 matches left; cursor="
	if !strings.HasPrefix(a.Text, head+page) || fmt.Sprint(a.Output.Matches[0].Queries, a.Output.Queries) != "[1 2] [{1 one 1} {2 two 3} {2 (?i)three 2} {0 four 0}]" {
		t.Errorf("%s%+v", a.Text, a.Output)
	}
	in.Cursor = &a.Next
	rest, err := b.tools.CtxSearch(t.Context(), b.call, in)
	if err != nil || rest.Text != head+"b.txt:1 [2]: two\nb.txt:2 [3]: THREE\n" {
		t.Errorf("%v %s", err, rest.Text)
	}
	for _, in := range []tool.CtxSearchInput{
		{Path: "."}, {Path: ".", Pattern: new("x"), Queries: []string{"y"}}, {Path: ".", Queries: []string{"x", "("}}, {Path: ".", Pattern: new("(")},
	} {
		if _, err := b.tools.CtxSearch(t.Context(), b.call, in); reason(err) != "bad_pattern" {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// T3: the same folder gives the same bytes, however the work was shared out.
func TestT3Deterministic(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 200 {
		b.write(fmt.Sprintf("d%d/f%d.txt", i%7, i), strings.Repeat("hay\nneedle\n", i%5+1))
	}
	var texts, trees []string
	for range 10 {
		s, err := New(nil).CtxSearch(t.Context(), b.call, tool.CtxSearchInput{Pattern: new("needle"), Path: ".", Case: "sensitive", MaxResults: 100, MaxTokens: 20000})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, s.Text+string(encoded(t, s.Output)))
		r, err := New(nil).CtxTree(t.Context(), b.call, tool.CtxTreeInput{Path: ".", Depth: 3, RespectGitignore: true, MaxTokens: 20000})
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, r.Text+string(encoded(t, r.Output)))
	}
	if texts, trees = slices.Compact(texts), slices.Compact(trees); len(texts) != 1 || len(trees) != 1 {
		t.Errorf("the same question has several answers: %s", append(texts, trees...))
	}
}

// T4: a tree or a page of matches whose folder has changed says so, or goes on rightly.
func TestT4ChangedFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 100 {
		b.write(fmt.Sprintf("f%03d.txt", i), "needle\n")
	}
	tree := tool.CtxTreeInput{Path: ".", Depth: 3, RespectGitignore: true, MaxTokens: 300}
	first, err := b.tools.CtxTree(t.Context(), b.call, tree)
	if err != nil {
		t.Fatal(err)
	}
	search := tool.CtxSearchInput{Pattern: new("needle"), Path: ".", Case: "sensitive", MaxResults: 10, MaxTokens: 20000}
	page, err := b.tools.CtxSearch(t.Context(), b.call, search)
	if err != nil {
		t.Fatal(err)
	}
	b.write("a-new-one.txt", "needle\n")
	tree.Cursor, search.Cursor = &first.Next, &page.Next
	if _, err := b.tools.CtxTree(t.Context(), b.call, tree); reason(err) != "stale_cursor" {
		t.Errorf("the tree: %v", err)
	}
	next, err := b.tools.CtxSearch(t.Context(), b.call, search)
	if err != nil || next.Output.Matches[0].Path != "f010.txt" || next.Output.TotalMatches != 101 || next.Output.Remaining != 80 {
		t.Errorf("the search: %v %+v", err, next)
	}
	for name, try := range map[string]func() error{
		"a tree with the cursor of a search": func() error {
			_, err := b.tools.CtxTree(t.Context(), b.call, tool.CtxTreeInput{Path: ".", Depth: 3, RespectGitignore: true, MaxTokens: 300, Cursor: &page.Next})
			return err
		},
		"another depth": func() error {
			_, err := b.tools.CtxTree(t.Context(), b.call, tool.CtxTreeInput{Path: ".", Depth: 4, RespectGitignore: true, MaxTokens: 300, Cursor: &first.Next})
			return err
		},
		"another pattern": func() error {
			_, err := b.tools.CtxSearch(t.Context(), b.call, tool.CtxSearchInput{Pattern: new("needl"), Path: ".", Case: "sensitive", MaxResults: 10, MaxTokens: 20000, Cursor: &page.Next})
			return err
		},
		"another workspace": func() error {
			_, err := b.tools.CtxSearch(t.Context(), b.callIn("other"), search)
			return err
		},
	} {
		if err := try(); reason(err) != "bad_cursor" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
