package tool

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/token"
	"github.com/ctxd/ctxd/internal/workspace"
)

// bench is a workspace with the tools on it, without a server.
type bench struct {
	t     testing.TB
	root  string
	tools *Tools
	call  *action.Call
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, root: t.TempDir(), tools: New(nil)}
	b.call = b.callIn("w")
	return b
}

// callIn is a call in a workspace of that id, on the same folder.
func (b *bench) callIn(id string) *action.Call {
	b.t.Helper()
	ws, err := workspace.Open(workspace.Options{ID: id, Root: b.root, Refused: []string{".env*"}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = ws.Close() })
	return &action.Call{Workspace: ws, Unit: &action.Unit{}}
}

func (b *bench) write(name, content string) string {
	b.t.Helper()
	full := filepath.Join(b.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return full
}

// failer is what a test and a check of rapid have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// readOf is ctx_read with the defaults of its schema.
func readOf(path, mode string, budget int, cursor string) tool.CtxReadInput {
	in := tool.CtxReadInput{Path: &path, Mode: mode, MaxTokens: budget}
	if cursor != "" {
		in.Cursor = &cursor
	}
	return in
}

func (b *bench) read(t failer, in tool.CtxReadInput) *readAnswer {
	t.Helper()
	a, err := b.tools.CtxRead(context.Background(), b.call, in)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return a
}

// reason is the reason of a fault, "" where there is none.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return fault.From(err).Reason()
}

// within fails where a rendering is over the budget, unless the answer holds no more than the one unit that it must.
func within(t failer, budget int, text string, output any, units int) {
	t.Helper()
	for name, s := range map[string]string{"text": text, "data": string(encoded(t, output))} {
		n, err := token.Count(context.Background(), s)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if n > budget && units > 1 {
			t.Fatalf("the %s has %d tokens of %d, and %d units", name, n, budget, units)
		}
	}
}

func encoded(t failer, output any) []byte {
	t.Helper()
	raw, err := encode(output)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return raw
}

// TestMain keeps the properties short enough for the race detector; -rapid.checks asks for more.
func TestMain(m *testing.M) {
	if f := flag.Lookup("rapid.checks"); f != nil {
		_ = f.Value.Set("40") // before the command line is read, which wins
	}
	os.Exit(m.Run())
}
