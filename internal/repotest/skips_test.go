package repotest

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const skipLedger = "docs/skips.md"

// skip is a place where a test may be skipped.
type skip struct {
	file, function, at string
	silent             bool // gives no reason
}

func (s skip) key() string { return s.file + " " + s.function }

// goSkips finds the calls of Skip, Skipf and SkipNow in what tests are made of.
func goSkips(files []goFile) []skip {
	var out []skip
	for _, f := range files {
		if !f.test && !slices.Contains(f.imports(), "testing") {
			continue
		}
		for _, decl := range f.ast.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				sel, ok := call.Fun.(*ast.SelectorExpr)
				if ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
					out = append(out, skip{f.path, declName(decl), f.at(call), len(call.Args) == 0})
				}
				return true
			})
		}
	}
	return out
}

// scriptSkip is a line of a script test that ends it early: skip, or [!unix] skip, with a reason or without.
var scriptSkip = regexp.MustCompile(`^(?:\[[^\]]*\] *)*skip( +.*)?$`)

// scriptSkips finds the same in script tests, which have no functions.
func scriptSkips(files tree) []skip {
	var out []skip
	for _, name := range files.names() {
		if path.Ext(name) != ".txtar" {
			continue
		}
		for line := range strings.Lines(scriptOf(files[name])) {
			if m := scriptSkip.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				out = append(out, skip{name, "script", name, strings.TrimSpace(m[1]) == ""})
			}
		}
	}
	return out
}

// scriptOf is what stands before the files of a txtar archive.
func scriptOf(data []byte) string {
	text := "\n" + string(data)
	if i := strings.Index(text, "\n-- "); i >= 0 {
		text = text[:i+1]
	}
	return text[1:]
}

var ledgerRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| [^|]*\\w[^|]*\\| [^|]*\\w[^|]*\\|$")

// checkSkips holds skips and their ledger against each other.
func checkSkips(skips []skip, ledger []byte) []problem {
	var out []problem
	listed := map[string]bool{}
	for _, m := range ledgerRow.FindAllStringSubmatch(string(ledger), -1) {
		listed[m[1]+" "+m[2]] = true
	}
	found := map[string]bool{}
	for _, s := range skips {
		found[s.key()] = true
		if s.silent {
			out = append(out, problem{s.at, s.function + " skips without a reason", "say why in the call"})
		}
		if !listed[s.key()] {
			out = append(out, problem{s.at, s.function + " skips, and is in no row of " + skipLedger, "let it run, or add the row: file, function, when, what is lost"})
		}
	}
	for _, m := range ledgerRow.FindAllStringSubmatch(string(ledger), -1) {
		if !found[m[1]+" "+m[2]] {
			out = append(out, problem{skipLedger, m[2] + " in " + m[1] + " skips nothing", "take the row out"})
		}
	}
	return out
}

func TestSkipsAreInTheLedger(t *testing.T) {
	t.Parallel()
	files := repository(t)
	passes(t, checkSkips(append(goSkips(parseGo(t, files)), scriptSkips(files)...), files[skipLedger]))
}

func TestUnlistedSkipsAreCaught(t *testing.T) {
	t.Parallel()
	files := tree{
		"a/a_test.go": []byte("package a\n\nfunc TestA(t *testing.T) { t.Skip(\"no time\") }\n\n" +
			"func TestB(t *testing.T) {\n\tt.SkipNow()\n}\n\nfunc (s *S) help() { s.T.Skipf(\"no %s\", \"luck\") }\n"),
		"a/a.go":              []byte("package a\n\nfunc F(d D) { d.Skip() }\n"),
		"a/testdata/s.txtar":  []byte("# S\n[!unix] skip\nexec x\n-- f --\nskip\n"),
		"a/testdata/ok.txtar": []byte("[short] skip 'takes long'\n"),
	}
	ledger := "| `a/a_test.go` | `S.help` | now | much |\n| `a/a_test.go` | `TestGone` | never | nothing |\n" +
		"| `a/a_test.go` | `TestA` | | |\n| `a/testdata/ok.txtar` | `script` | short | little |\n"
	catches(t, checkSkips(append(goSkips(parseGo(t, files)), scriptSkips(files)...), []byte(ledger)),
		"a/a_test.go:3: TestA skips, and is in no row",
		"a/a_test.go:6: TestB skips without a reason",
		"a/a_test.go:6: TestB skips, and is in no row",
		"a/testdata/s.txtar: script skips without a reason",
		"a/testdata/s.txtar: script skips, and is in no row",
		"docs/skips.md: TestGone in a/a_test.go skips nothing",
	)
}
