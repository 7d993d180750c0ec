package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ctxd/ctxd"

// goFile is a Go file of the repository, whatever platform it is for.
type goFile struct {
	path string
	dir  string // folder of the package in the repository; "." for the root
	test bool
	ast  *ast.File
	fset *token.FileSet
	src  []byte
}

// parseGo parses every Go file outside of testdata.
func parseGo(t *testing.T, files tree) []goFile {
	t.Helper()
	var out []goFile
	for _, name := range files.names() {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, goFile{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), parsed, fset, files[name]})
	}
	return out
}

func (f goFile) generated() bool { return strings.HasPrefix(f.path, "gen/") }

// imports are the import paths of the file.
func (f goFile) imports() []string {
	var out []string
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			out = append(out, p)
		}
	}
	return out
}

// nameOf is the name under which the file knows an import, or "".
func (f goFile) nameOf(importPath string) string {
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

// selected are the names that the file takes from an imported package, as ScopeAudit of catalog.ScopeAudit.
func (f goFile) selected(importPath string) []string {
	var out []string
	name := f.nameOf(importPath)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && name != "" && x.Name == name {
				out = append(out, sel.Sel.Name)
			}
		}
		return true
	})
	return out
}

func (f goFile) at(n ast.Node) string {
	p := f.fset.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}
