package repotest

import (
	"bytes"
	"fmt"
	"go/ast"
	"regexp"
	"testing"
)

// Bounds of size: a file beyond the limit says why, and functions are mostly short.
const (
	fileLimit     = 600
	shortFunction = 15
	longFunction  = 40
)

// sizeReason is how a long file says why, before its package clause.
var sizeReason = regexp.MustCompile(`(?m)^// Long because \w.{20,}`)

// checkSizes wants hand-written files that can be read in one go.
func checkSizes(files []goFile) []problem {
	var out []problem
	for _, f := range files {
		lines := bytes.Count(f.src, []byte("\n"))
		header := f.src[:f.fset.Position(f.ast.Package).Offset]
		if !f.generated() && lines > fileLimit && !sizeReason.Match(header) {
			out = append(out, problem{f.path, fmt.Sprintf("has %d lines, more than %d", lines, fileLimit), "split it, or say // Long because … above the package clause"})
		}
	}
	return out
}

// functionShares gives the share of functions of at most 15 and at most 40 lines.
func functionShares(files []goFile) (all int, short, medium float64) {
	var within15, within40 int
	for _, f := range files {
		if f.generated() {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			all++
			if lines <= shortFunction {
				within15++
			}
			if lines <= longFunction {
				within40++
			}
		}
	}
	return all, float64(within15) / float64(max(all, 1)), float64(within40) / float64(max(all, 1))
}

func TestFilesAreNotTooLong(t *testing.T) {
	t.Parallel()
	files := parseGo(t, repository(t))
	passes(t, checkSizes(files))
	all, short, medium := functionShares(files)
	t.Logf("of %d functions %.0f %% have at most %d lines, %.0f %% at most %d", all, 100*short, shortFunction, 100*medium, longFunction)
}

func TestLongFilesAreCaught(t *testing.T) {
	t.Parallel()
	body := string(bytes.Repeat([]byte("\n"), fileLimit+1))
	files := parseGo(t, tree{
		"a/a.go":   []byte("package a\n\nfunc F() {\n}\n" + body),
		"a/b.go":   []byte("// Long because it is one table, and half a table is none.\n\npackage a\n" + body),
		"a/c.go":   []byte("package a\n\n// Long because it is one table, and half a table is none.\n" + body),
		"a/d.go":   []byte("// Long because so.\n\npackage a\n" + body),
		"a/e.go":   []byte("package a\n\nfunc G() {\n" + body[:30] + "}\n"),
		"gen/x.go": []byte("package x\n" + body),
	})
	catches(t, checkSizes(files), "a/a.go: has 605 lines", "a/c.go: has 604 lines", "a/d.go: has 604 lines")
	if all, short, medium := functionShares(files); all != 2 || short != 0.5 || medium != 1 {
		t.Errorf("%d functions, %v, %v", all, short, medium)
	}
}
