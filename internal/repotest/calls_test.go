package repotest

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// ban says where alone something may be used, outside of tests.
type ban struct {
	what   []string // "time.Now"; "panic" is the function of the language
	only   []string // folders, as in a rule
	mend   string
	except map[string]string // "file function" and the reason; each has to be needed
}

var bans = []ban{
	{
		what: []string{"time.Now", "time.Since", "time.Until"},
		// The store falls back to time.Now where it is given no clock.
		only: []string{"internal/app", "internal/store", "tools/..."},
		mend: "take a clock from app: a field Now func() time.Time",
		except: map[string]string{
			"internal/rest/admit.go Server.limitBody":            "deadlines of connections are by the clock of the kernel",
			"internal/rest/recorder.go recorder.limit":           "deadlines of connections are by the clock of the kernel",
			"internal/socket/socket.go Conn.hear":                "deadlines of connections are by the clock of the kernel",
			"internal/socket/socket.go Conn.tell":                "deadlines of connections are by the clock of the kernel",
			"internal/watch/watch.go clock":                      "it is compared with the times that the file system gives, and measures what a walk costs",
			"internal/workspace/gitindex.go Workspace.readIndex": "it is compared with the times that the file system gives",
			"internal/workspace/mark.go Workspace.Mark":          "it is compared with the times that the file system gives",
			"internal/workspace/read.go Workspace.readOnce":      "it is compared with the times that the file system gives",
		},
	},
	{
		what: []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln", "runtime.Goexit", "syscall.Exit"},
		only: []string{"cmd/...", "tools/..."},
		mend: "return an error: only main ends the process",
	},
	{
		what: []string{"panic"},
		mend: "return an error; what cannot happen is listed in calls_test.go with the reason why it cannot",
		except: map[string]string{
			"internal/rest/server.go Server.ServeHTTP":         "net/http wants http.ErrAbortHandler passed on",
			"internal/mcpserver/server.go Server.newServer":    "the middleware answers before the SDK could call it",
			"tools/internal/doc/doc.go Compact":                "what Marshal writes is JSON",
			"tools/internal/doc/doc.go write":                  "a mistake in a generator, not in its input",
			"tools/internal/doc/doc.go quote":                  "a string always encodes",
			"tools/internal/sources/tools.go Sources.TypeDefs": "the same references were resolved before",
			"tools/toolgen/catalog.go rawLiteral":              "what Marshal writes is JSON",
		},
	},
	{
		what: []string{"fmt.Print", "fmt.Printf", "fmt.Println", "print", "println"},
		only: []string{"internal/cli"},
		mend: "write to what cli hands in, or log",
	},
	{
		what: []string{"os.Stdin", "os.Stdout", "os.Stderr"},
		only: []string{"cmd/...", "tools/..."},
		mend: "take a reader or writer: the standard streams are handed in by main",
	},
	{
		what: []string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "os.UserHomeDir", "os.UserConfigDir", "os.UserCacheDir", "os.Args"},
		only: []string{"cmd/...", "tools/..."},
		mend: "take a value of the configuration, or the Getenv that cli hands in",
	},
	{
		what: []string{"os.Setenv", "os.Unsetenv", "os.Chdir"},
		mend: "the process belongs to whoever started it: pass the value on instead",
	},
	{
		what: []string{"context.Background", "context.TODO"},
		// A job of the one writer is not cut off by the caller that has gone: it is committed or rolled back as a whole.
		only: []string{"cmd/...", "tools/...", "internal/store"},
		mend: "pass the context of the caller on; what outlives its caller is listed in calls_test.go",
		except: map[string]string{
			"internal/app/local.go Server.listenLocal": "calls of attached processes end with the server, not with whoever started it",
			"internal/app/local.go local.converse":     "a conversation ends when its connection is closed, after its calls have",
			"internal/app/serve.go Server.build":       "requests end with the server, not with whoever started it",
			"internal/app/serve.go Server.Stop":        "stopping takes its time after the context of the process has ended",
		},
	},
}

// use is a forbidden thing where it stands.
type use struct{ what, file, in, at string }

// uses finds everything in a file that some ban names.
func uses(f goFile) []use {
	var out []use
	for _, decl := range f.ast.Decls {
		in := declName(decl)
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					for _, imported := range f.imports() {
						if f.nameOf(imported) == x.Name {
							out = append(out, use{path.Base(imported) + "." + n.Sel.Name, f.path, in, f.at(n)})
						}
					}
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok {
					out = append(out, use{id.Name, f.path, in, f.at(n)})
				}
			}
			return true
		})
	}
	return out
}

// declName is the function, as Server.build, or what else a declaration declares.
func declName(decl ast.Decl) string {
	f, ok := decl.(*ast.FuncDecl)
	if !ok {
		return "outside of functions"
	}
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	return fmt.Sprintf("%s.%s", t, f.Name.Name)
}

// helpers of tests are tests, though their files are not called so.
var testHelpers = []string{"internal/testkit", "internal/contracttest", "tools/internal/contractcopy"}

// checkCalls holds code outside of tests to the bans, and the bans to exceptions that are needed.
func checkCalls(files []goFile, bans []ban) []problem {
	var out []problem
	needed := map[string]bool{}
	for _, f := range files {
		if f.test || f.generated() || matches(testHelpers, f.dir) {
			continue
		}
		for _, u := range uses(f) {
			for i, b := range bans {
				where := u.file + " " + u.in
				switch {
				case !slices.Contains(b.what, u.what) || matches(b.only, f.dir):
				case b.except[where] != "":
					needed[fmt.Sprint(i, where)] = true
				default:
					out = append(out, problem{u.at, u.what + " in " + u.in, b.mend})
				}
			}
		}
	}
	for i, b := range bans {
		for _, where := range slices.Sorted(maps.Keys(b.except)) {
			if !needed[fmt.Sprint(i, where)] {
				out = append(out, problem{where, "is an exception for " + strings.Join(b.what, ", ") + " that nothing needs", "take it out of calls_test.go"})
			}
		}
	}
	return out
}

func TestForbiddenCallsAreNotMade(t *testing.T) {
	t.Parallel()
	passes(t, checkCalls(parseGo(t, repository(t)), bans))
}

func TestForbiddenCallsAreCaught(t *testing.T) {
	t.Parallel()
	files := parseGo(t, tree{
		"internal/a/a.go": []byte(`package a

import (
	"context"
	"fmt"
	"log"
	"os"
	clock "time"
)

var started = clock.Now()

type T struct{}

func (t *T) Run() { panic("no") }

func Known() { panic("fine") }

func F() {
	fmt.Println(os.Getenv("HOME"), context.Background(), clock.Second)
	fmt.Fprintln(os.Stderr)
	log.Fatal()
	var time struct{ Now func() }
	time.Now()
}
`),
		"internal/a/a_test.go": []byte("package a\n\nimport \"time\"\n\nvar _ = time.Now\n"),
		"internal/app/app.go":  []byte("package app\n\nimport \"time\"\n\nvar _ = time.Now\n"),
	})
	test := slices.Clone(bans)
	for i := range test {
		test[i].except = nil
		if test[i].what[0] == "panic" {
			test[i].except = map[string]string{"internal/a/a.go Known": "it cannot happen", "internal/a/a.go Gone": "it could not happen"}
		}
	}
	catches(t, checkCalls(files, test),
		"internal/a/a.go:11: time.Now in outside of functions",
		"internal/a/a.go:15: panic in T.Run",
		"internal/a/a.go:20: fmt.Println in F",
		"internal/a/a.go:20: os.Getenv in F",
		"internal/a/a.go:20: context.Background in F",
		"internal/a/a.go:21: os.Stderr in F",
		"internal/a/a.go:22: log.Fatal in F",
		"internal/a/a.go Gone: is an exception for panic that nothing needs",
	)
}
