package repotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// edge is an import of one package by another, both as folders of the repository where they are in it.
type edge struct {
	from, to string
	test     bool
}

// importEdges gives each import once.
func importEdges(files []goFile) []edge {
	var out []edge
	for _, f := range files {
		for _, to := range f.imports() {
			e := edge{f.dir, strings.TrimPrefix(to, module+"/"), f.test}
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// rings are the rings of DESIGN.md, "The house", from the inside: a package imports packages of its own ring and of those
// before it. Doors do not import each other: what two of them need belongs further inside.
var rings = [][]string{
	{"api", "schemas", "gen/catalog", "gen/schema", "gen/tool", "gen/rest", "gen/client", "internal/answer", "internal/fault", "internal/jsondoc", "internal/contract"},
	{
		"internal/capability", "internal/code", "internal/config", "internal/eventlog", "internal/filelock", "internal/identity", "internal/limit",
		"internal/memory", "internal/meter", "internal/revision", "internal/search", "internal/secret", "internal/setup", "internal/socket", "internal/store",
		"internal/token", "internal/watch", "internal/workspace",
	},
	{"internal/action"},
	{"internal/tool"},
	{"internal/rest", "internal/mcpserver"},
	{"internal/app"},
	{"internal/cli"},
	{"cmd/ctxd"},
}

const doorRing = 4

// outside are packages that are no part of the program: generators, which must run while gen/ is not there, and what tests use.
var outside = []string{"tools/...", "internal/repotest", "internal/testkit/...", "internal/contracttest"}

// rule says who alone may import something, outside of tests.
type rule struct {
	what []string // import paths; "x/..." is x and everything below it
	only []string // folders, likewise
	why  string
}

var rules = []rule{
	{[]string{"net/http/..."}, []string{"internal/rest", "internal/mcpserver", "internal/app", "gen/rest", "gen/client", "internal/testkit", "internal/contracttest"},
		"the engine must not know through which door it is called; foreign hosts are reached through one guarded client"},
	{[]string{"net"}, []string{"internal/rest", "internal/app", "internal/socket"}, "nothing else listens or dials"},
	{[]string{"internal/socket"}, []string{"internal/app"}, "processes find each other in one place"},
	{[]string{"database/sql/...", "modernc.org/..."}, []string{"internal/store"}, "another store comes, and the seam to it has to stay small"},
	{[]string{"os/exec"}, []string{"tools/...", "internal/revision", "internal/testkit/goroot"},
		"programs are run in one place each, which guards against what a repository could make of that: git in revision"},
	{[]string{"os/signal"}, []string{"cmd/ctxd", "internal/cli"}, "whoever owns the process decides when it ends"},
	{[]string{"flag", "github.com/spf13/..."}, []string{"internal/cli"}, "flags are read in one place; the rest is given a configuration"},
	{[]string{"log"}, nil, "logs are structured and go to the logger that app was given: use log/slog"},
	{[]string{"unsafe", "C", "plugin"}, nil, "ctxd is one static binary without cgo, and parses hostile bytes"},
	{[]string{"math/rand/..."}, nil, "the same content and arguments give the same bytes; ids and secrets come from crypto/rand"},
	{[]string{"testing/...", "internal/testkit/...", "internal/contracttest", "tools/internal/contractcopy"},
		[]string{"internal/testkit/...", "internal/contracttest", "tools/internal/contractcopy"}, "what tests need has no place in the program"},
	{[]string{"internal/app"}, []string{"internal/cli", "internal/testkit"}, "the composition root is wide, and nobody builds on it"},
	{[]string{"internal/cli"}, []string{"cmd/ctxd"}, "commands are for people"},
	{[]string{"internal/setup"}, []string{"internal/cli"}, "only a person decides that the files of another program are written"},
	{[]string{"internal/repotest", "cmd/..."}, nil, "there is nothing in it to import"},
	{[]string{"internal/...", "cmd/...", "gen/...", "api", "schemas"}, []string{"cmd/...", "internal/...", "gen/..."}, "generators must run while what they generate is not there"},
	{[]string{"tools/..."}, []string{"tools/..."}, "generators are no part of the program"},

	{[]string{"github.com/santhosh-tekuri/jsonschema/v6/...", "golang.org/x/text/..."}, []string{"internal/contract"}, "documents are judged in one place, with one kind of message"},
	{[]string{"github.com/getkin/kin-openapi/..."}, []string{"internal/contracttest"}, "requests are not judged by OpenAPI at run time"},
	{[]string{"github.com/modelcontextprotocol/go-sdk/..."}, []string{"internal/mcpserver"}, "REST calls do not pass through the MCP SDK"},
	{[]string{"github.com/prometheus/..."}, []string{"internal/meter"}, "everybody else counts through meter"},
	{[]string{"github.com/tiktoken-go/tokenizer"}, []string{"internal/token"}, "one function prices estimates and measures results"},
	{[]string{"github.com/oapi-codegen/..."}, []string{"gen/rest", "gen/client"}, "it belongs to generated code"},
	{[]string{"github.com/fsnotify/fsnotify"}, []string{"internal/watch"}, "what changes is found out in one place, which knows what the system does not tell"},
	{[]string{"github.com/google/uuid"}, []string{"internal/app"}, "ids are made by a function that app hands out"},
	{[]string{"golang.org/x/time/rate"}, []string{"internal/limit"}, "limits are counted in one place"},
	{[]string{"golang.org/x/sync/errgroup"}, []string{"internal/workspace"}, "a scan of the workspace is the one thing that runs in parallel within a call"},
	{[]string{"github.com/rogpeppe/go-internal/diff"}, []string{"internal/tool"}, "one way of telling differences"},
	{[]string{"github.com/tailscale/hujson", "github.com/pelletier/go-toml/v2/..."}, []string{"internal/setup"}, "the program's own files are plain JSON"},
	{[]string{"go.yaml.in/yaml/v3"}, []string{"tools/..."}, "the program reads JSON only"},
}

// matches says whether a path is one of the patterns.
func matches(patterns []string, p string) bool {
	for _, pattern := range patterns {
		if dir, ok := strings.CutSuffix(pattern, "/..."); p == pattern || ok && (p == dir || strings.HasPrefix(p, dir+"/")) {
			return true
		}
	}
	return false
}

func ringOf(p string) int {
	return slices.IndexFunc(rings, func(r []string) bool { return slices.Contains(r, p) })
}

// checkImports holds imports outside of tests to the rings and rules.
func checkImports(edges []edge) []problem {
	var out []problem
	for _, e := range edges {
		if e.test {
			continue
		}
		out = append(out, checkEdge(e)...)
	}
	return append(out, unplaced(edges)...)
}

func checkEdge(e edge) []problem {
	var out []problem
	known := !strings.Contains(strings.Split(e.to, "/")[0], ".")
	for _, r := range rules {
		if !matches(r.what, e.to) {
			continue
		}
		known = true
		if !matches(r.only, e.from) {
			out = append(out, problem{e.from, "imports " + e.to, fmt.Sprintf("let %s do it, since %s", oneOf(r.only), r.why)})
		}
	}
	if !known {
		out = append(out, problem{e.from, "imports " + e.to, "add a rule to imports_test.go that says who may, and why"})
	}
	from, to := ringOf(e.from), ringOf(e.to)
	switch {
	case from < 0 || to < 0:
	case to > from:
		out = append(out, problem{e.from, "imports " + e.to + ", which is further outside", "move what both need to the inside, or hand it in from app"})
	case from == doorRing && to == doorRing:
		out = append(out, problem{e.from, "imports " + e.to + ", another door", "move what both need to action, or join them in app"})
	}
	return out
}

func oneOf(dirs []string) string {
	if len(dirs) == 0 {
		return "nobody"
	}
	return strings.Join(dirs, ", ")
}

// unplaced are packages of the program that stand in no ring. One that only its tests import anything for is none.
func unplaced(edges []edge) []problem {
	var out []problem
	seen := map[string]bool{}
	for _, e := range edges {
		for _, p := range []string{e.from, e.to} {
			ours := p == e.from || matches([]string{"internal/...", "gen/...", "cmd/..."}, p)
			if !e.test && ours && ringOf(p) < 0 && !matches(outside, p) && !seen[p] {
				seen[p] = true
				out = append(out, problem{p, "stands in no ring", "give it its place in imports_test.go"})
			}
		}
	}
	return out
}

func TestImportsKeepToTheRings(t *testing.T) {
	t.Parallel()
	passes(t, checkImports(importEdges(parseGo(t, repository(t)))))
}

func TestForbiddenImportsAreCaught(t *testing.T) {
	t.Parallel()
	catches(t, checkImports([]edge{
		{"internal/rest", "internal/mcpserver", false},
		{"internal/mcpserver", "internal/rest", false},
		{"internal/mcpserver", "internal/rest", true},
		{"internal/search", "net/http", false},
		{"internal/search", "net/http/httptrace", false},
		{"internal/search", "internal/tool", false},
		{"internal/tool", "internal/search", false},
		{"internal/fault", "internal/store", false},
		{"gen/rest", "internal/action", false},
		{"gen/tool", "internal/answer", false},
		{"internal/memory", "modernc.org/sqlite", false},
		{"internal/rest", "internal/app", false},
		{"internal/app", "internal/cli", false},
		{"internal/token", "testing", false},
		{"internal/token", "internal/testkit", false},
		{"internal/token", "testing", true},
		{"internal/action", "os/exec", false},
		{"internal/action", "github.com/stretchr/testify", false},
		{"tools/toolgen", "gen/catalog", false},
		{"internal/novelty", "strings", false},
		{"internal/tool", "internal/bare", false},
		{"internal/scripts", "strings", true},
		{"internal/cli", "unsafe", false},
	}),
		"internal/rest: imports internal/mcpserver, another door",
		"internal/mcpserver: imports internal/rest, another door",
		"internal/search: imports net/http; let",
		"internal/search: imports net/http/httptrace; let",
		"internal/search: imports internal/tool, which is further outside",
		"internal/fault: imports internal/store, which is further outside",
		"gen/rest: imports internal/action, which is further outside",
		"internal/memory: imports modernc.org/sqlite; let internal/store",
		"internal/rest: imports internal/app; let",
		"internal/rest: imports internal/app, which is further outside",
		"internal/app: imports internal/cli; let cmd/ctxd",
		"internal/app: imports internal/cli, which is further outside",
		"internal/token: imports testing; let",
		"internal/token: imports internal/testkit; let",
		"internal/action: imports os/exec; let",
		"internal/action: imports github.com/stretchr/testify; add a rule",
		"tools/toolgen: imports gen/catalog; let",
		"internal/novelty: stands in no ring",
		"internal/bare: stands in no ring",
		"internal/cli: imports unsafe; let nobody",
	)
}
