package repotest

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A decision is a numbered paragraph of docs/contracts, "- **R1** …". A test names it by its own name, TestR1… or TestT3T4…,
// or in a comment line of its own, "// R1: …", "// A1, case 31: …"; a script does so with "# E5 …".
var (
	decision    = regexp.MustCompile(`(?m)^- \*\*([A-Z][0-9]+)\*\*`)
	number      = regexp.MustCompile(`[A-Z][0-9]+`)
	testName    = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)((?:[A-Z][0-9]+)+)`)
	testComment = regexp.MustCompile(`^// ([A-Z][0-9]+(?:, (?:[A-Z][0-9]+|cases? [0-9]+))*)(?::|$)`)
	scriptLine  = regexp.MustCompile(`^# ([A-Z][0-9]+(?:, (?:[A-Z][0-9]+|cases? [0-9]+))*)(?:\W|$)`)
)

// checkDecisions holds the numbers of the documents and those that tests name against each other.
func checkDecisions(decided, named map[string][]string) []problem {
	var out []problem
	for _, n := range slices.Sorted(maps.Keys(decided)) {
		if len(decided[n]) > 1 {
			out = append(out, problem{decided[n][1], n + " stands twice, here and in " + decided[n][0], "give one of them another number"})
		}
		if named[n] == nil {
			out = append(out, problem{decided[n][0], "no test names " + n, fmt.Sprintf("write one, and call it Test%s… or put // %s: above it", n, n)})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(named)) {
		if decided[n] == nil {
			out = append(out, problem{named[n][0], "names " + n + ", which no document decides", "write it into docs/contracts, or correct the number"})
		}
	}
	return out
}

// decisions are the numbers of docs/contracts, with the documents that have them.
func decisions(files tree) map[string][]string {
	out := map[string][]string{}
	for name, data := range files.below("docs/contracts") {
		for _, m := range decision.FindAllStringSubmatch(string(data), -1) {
			out[m[1]] = append(out[m[1]], name)
		}
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out
}

// namedByTests are the numbers that tests name, with the places where they do.
func namedByTests(files tree, parsed []goFile) map[string][]string {
	out := map[string][]string{}
	add := func(list, at string) {
		for _, n := range number.FindAllString(list, -1) {
			out[n] = append(out[n], at)
		}
	}
	for _, f := range parsed {
		if f.test {
			namedByGo(f, add)
		}
	}
	for _, name := range files.names() {
		if path.Ext(name) != ".txtar" {
			continue
		}
		for line := range strings.Lines(scriptOf(files[name])) {
			if m := scriptLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				add(m[1], name)
			}
		}
	}
	return out
}

func namedByGo(f goFile, add func(list, at string)) {
	for _, decl := range f.ast.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
			if m := testName.FindStringSubmatch(fn.Name.Name); m != nil {
				add(m[1], f.at(fn))
			}
		}
	}
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if m := testComment.FindStringSubmatch(c.Text); m != nil {
				add(m[1], f.at(c))
			}
		}
	}
}

func TestDecisionsHaveTests(t *testing.T) {
	t.Parallel()
	files := repository(t)
	passes(t, checkDecisions(decisions(files), namedByTests(files, parseGo(t, files))))
}

func TestUntestedDecisionsAreCaught(t *testing.T) {
	t.Parallel()
	files := tree{
		"docs/contracts/a.md": []byte("# A\n\n- **R1** One.\n- **R2** Two,\n  and **R9** in passing.\n- **R3** Three.\n- **E4** Four.\n- **E5** Five.\n- **E6** Six.\n- **T7** Seven.\n"),
		"docs/contracts/b.md": []byte("- **R1** One again.\n"),
		"docs/guide.md":       []byte("- **Z1** No contract.\n"),
		"a/a.go":              []byte("// Package a. R3: no test.\npackage a\n\n// R3: no test.\nfunc TestR3() {}\n"),
		"a/a_test.go": []byte("package a\n\nfunc TestR1Routes(t *testing.T) {}\n\nfunc FuzzE4T7(f *testing.F) {}\n\nfunc TestUTF16(t *testing.T) {}\n\n" +
			"// E5, case 31: words.\nfunc TestWords(t *testing.T) {\n\t// X8, R2: more.\n\t// R3 is only talked of, as in R3: here.\n}\n"),
		"a/testdata/s.txtar": []byte("# A script.\n# E6 tells of backfill.\nexec x\n-- readme.md --\n# R3: a heading\n"),
	}
	catches(t, checkDecisions(decisions(files), namedByTests(files, parseGo(t, files))),
		"docs/contracts/b.md: R1 stands twice, here and in docs/contracts/a.md",
		"docs/contracts/a.md: no test names R3",
		"a/a_test.go:11: names X8, which no document decides",
	)
}
