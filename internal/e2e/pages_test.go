package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
	"github.com/ctxd/ctxd/internal/token"
)

// crowd is a repository whose every listing, search and file is over what a client takes.
func crowd(t testing.TB) string {
	t.Helper()
	files := map[string]string{"long.txt": strings.Repeat("needle: a line of text that is long enough to fill a page\n", 4000)}
	for i := range 1500 {
		files[fmt.Sprintf("folder with a long name %d/file with a long name %d é.txt", i%7, i)] = "x\n"
	}
	return testkit.Write(t, files)
}

// page is what every answer in parts says.
type page struct {
	Next      string
	Remaining int
}

func pageOf(t testing.TB, o outcome) (p page) {
	t.Helper()
	if o.code != "" {
		t.Fatal(o)
	}
	must(t, json.Unmarshal([]byte(o.data), &p))
	return p
}

// counted is how many tokens a text has.
func counted(t testing.TB, text string) int {
	t.Helper()
	n, err := token.Count(t.Context(), text)
	must(t, err)
	return n
}

var pagedForms = []form{
	{"ctx_read", `{"path":"long.txt"%s}`}, {"ctx_read", `{"path":"long.txt","mode":"lines:2-"%s}`}, {"ctx_tree", `{"depth":9%s}`},
	{"ctx_search", `{"pattern":"needle","max_results":1000%s}`}, {"ctx_multi_read", `{"paths":["long.txt","none.txt","long.txt"]%s}`}, {"ctx_smart_read", `{"path":"long.txt"%s}`},
}

// Case 7: an answer that would be over the 25 000 tokens that a client takes is bounded, says so and how much is left, and gives a
// cursor, at every door and for every tool; both renderings of it are within.
func TestCase7OverTheCap(t *testing.T) {
	t.Parallel()
	doors, _ := programDoors(t, testkit.Settings{"project_root": crowd(t)})
	for j, d := range doors {
		for i, f := range pagedForms {
			if i > 0 && (i+j)%3 > 0 {
				continue // 20 000 tokens take their time to count: the other ways of reading are spread over the doors
			}
			got := d.Call(t, request{tool: f.tool, args: fmt.Sprintf(f.args, "")})
			p, meta := pageOf(t, got), got.meta["ctxd/result"].(map[string]any)
			n := counted(t, got.text)
			if n > 20_000 || n < 4_000 || meta["tokens"] != float64(n) || meta["tokens_structured"].(float64) > 20_000 {
				t.Errorf("%s %s: %d tokens, %v", f.tool, f.args, n, meta)
			}
			if p.Next == "" || meta["next"] != p.Next || !strings.Contains(got.text, " left; cursor="+p.Next+"]") || meta["truncated"] != true || meta["fidelity"] != "partial" {
				t.Errorf("%s %s does not say how to go on: %v …%s", f.tool, f.args, meta, got.text[len(got.text)-200:])
			}
		}
	}
}

// Case 8: page 1 asked for again and again is the same page with the same cursor; what is left shrinks from page to page to
// nothing; a cursor means nothing to another query or another workspace.
func TestCase8Pages(t *testing.T) {
	t.Parallel()
	root := testkit.Write(t, map[string]string{
		"a.txt": strings.Repeat("needle in a line\n", 120), "b.txt": strings.Repeat("needle\n", 30), "c/d.txt": "x\n", "c/e.txt": "x\n", "f.txt": "needle", "g &/h.txt": "x\n",
	})
	set := testkit.Settings{"workspaces": []map[string]any{{"id": "one", "root": root}, {"id": "two", "root": root}}, "defaultWorkspaceId": "one"}
	forms := []form{
		{"ctx_search", `{"pattern":"needle","max_results":37%s}`}, {"ctx_search", `{"pattern":"needle","max_results":1000,"max_tokens":700%s}`}, {"ctx_tree", `{"max_tokens":100%s}`},
		{"ctx_read", `{"path":"a.txt","max_tokens":200%s}`}, {"ctx_multi_read", `{"paths":["a.txt","none","b.txt","f.txt"],"max_tokens":250%s}`},
	}
	eachDoor(t, set, func(t *testing.T, d door) {
		for i, f := range forms {
			ask := func(cursor, workspace string) outcome {
				more := ""
				if cursor != "" {
					more = `,"cursor":` + quoted(cursor)
				}
				return d.Call(t, request{tool: f.tool, args: fmt.Sprintf(f.args, more), workspace: workspace})
			}
			first := ask("", "")
			for range 2 {
				if again := ask("", ""); again.same() != first.same() {
					t.Errorf("%s %s: page 1 again: %v\nfirst: %v", f.tool, f.args, again, first)
				}
			}
			seen, last := map[string]bool{first.same(): true}, pageOf(t, first)
			if last.Next == "" || strings.ContainsAny(last.Next, "/{\" ") {
				t.Fatalf("%s %s: no opaque cursor: %v", f.tool, f.args, first)
			}
			for _, foreign := range []string{"rest", "mcp-stateless"} {
				if got := ask(last.Next, "two"); d.Name() == foreign && got.code != "tool_error" {
					t.Errorf("%s %s: a cursor of another workspace: %v", f.tool, f.args, got)
				}
			}
			other := forms[(i+1)%len(forms)]
			if got := d.Call(t, request{tool: other.tool, args: fmt.Sprintf(other.args, `,"cursor":`+quoted(last.Next))}); other.args != forms[1].args && got.code != "tool_error" {
				t.Errorf("%s %s: a cursor of another query: %v", other.tool, other.args, got)
			}
			for last.Next != "" {
				got := ask(last.Next, "")
				p := pageOf(t, got)
				if seen[got.same()] || f.tool == "ctx_search" && p.Remaining >= last.Remaining {
					t.Fatalf("%s %s: no progress: %v", f.tool, f.args, got)
				}
				seen[got.same()], last = true, p
				if p.Next == "" && (p.Remaining != 0 || strings.Contains(got.text, "cursor=")) {
					t.Errorf("%s %s: the last page says that there is more: %v", f.tool, f.args, got)
				}
			}
			if len(seen) < 2 {
				t.Errorf("%s %s: one page only", f.tool, f.args)
			}
		}
	})
}

// Case 6: the counts are those of the exact text that was sent; what was cut off, refused or not asked for is no saving; a line
// about a file is never dearer than the file.
func TestCase6Counts(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"tiny.txt": "x\n", "empty.txt": "", "f.go": code("one"), "é & 日本 'x'.txt": "日本 é\n", "utf16.txt": "\xff\xfex\x00\n\x00", "data.bin": "\x00\x01", "long.txt": strings.Repeat("a line of it\n", 900),
	}
	root := testkit.Write(t, files)
	eachDoor(t, testkit.Settings{"project_root": root}, func(t *testing.T, d door) {
		n, modes := 0, modeArgs()
		for name := range files {
			tokens := map[string]int{}
			for _, mode := range slices.Sorted(maps.Keys(modes)) {
				f := modes[mode]
				if n++; d.Name() == "cli" && mode != "full" && n%4 > 0 {
					continue
				}
				got := d.Call(t, f.of(name, fmt.Sprint("c", n)))
				if got.code != "" {
					continue // there is no line 2, or it is binary
				}
				meta := got.meta["ctxd/result"].(map[string]any)
				tokens[mode] = counted(t, got.text)
				if meta["tokens"] != float64(tokens[mode]) {
					t.Errorf("%s of %s says %v tokens, has %d", mode, name, meta["tokens"], tokens[mode])
				}
				raw, _ := meta["tokens_raw"].(float64)
				if lossy := meta["fidelity"] == "lossy"; !lossy && raw > float64(tokens[mode]) {
					t.Errorf("%s of %s counts %v tokens, of which it sent %d", mode, name, raw, tokens[mode])
				} else if lossy && raw > 0 && raw < float64(tokens[mode]) {
					t.Errorf("%s of %s is dearer than raw: %v", mode, name, meta)
				}
			}
			for mode, cost := range tokens {
				if mode == "auto" || mode == "smart" || mode == "reference" {
					if full, ok := tokens["full"]; ok && cost > full {
						t.Errorf("%s of %s costs %d tokens, full %d", mode, name, cost, full)
					}
				}
			}
		}
	})
}
