package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/tool"
)

// T4: a cursor means nothing to another query, file, mode, tool or workspace, and says when its content has changed.
func TestT4Cursors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	content := strings.Repeat("a line of some length for the page\n", 300)
	b.write("f.txt", content)
	b.write("g.txt", content)
	first := b.read(t, readOf("f.txt", "full", 500, ""))
	for name, in := range map[string]tool.CtxReadInput{
		"another file": readOf("g.txt", "full", 500, first.Next), "another mode": readOf("f.txt", "lines:1-", 500, first.Next), "cut": readOf("f.txt", "full", 500, first.Next[:len(first.Next)-2]),
		"longer": readOf("f.txt", "full", 500, first.Next+"A"), "padded": readOf("f.txt", "full", 500, first.Next+"="), "several": {Paths: []string{"f.txt", "g.txt"}, Mode: "full", MaxTokens: 500, Cursor: &first.Next},
	} {
		if _, err := b.tools.CtxRead(context.Background(), b.call, in); reason(err) != "bad_cursor" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.tools.CtxRead(context.Background(), b.callIn("other"), readOf("f.txt", "full", 500, first.Next)); reason(err) != "bad_cursor" {
		t.Errorf("another workspace: %v", err)
	}
	if _, err := b.tools.CtxSmartRead(context.Background(), b.call, tool.CtxSmartReadInput{Path: "f.txt", MaxTokens: 500, Cursor: &first.Next}); reason(err) != "bad_cursor" {
		t.Errorf("another tool: %v", err)
	}
	b.write("f.txt", "new\n"+content)
	if _, err := b.tools.CtxRead(context.Background(), b.call, readOf("f.txt", "full", 500, first.Next)); reason(err) != "stale_cursor" {
		t.Errorf("a changed file: %v", err)
	}
	b.write("f.txt", content)
	if a := b.read(t, readOf("f.txt", "full", 500, first.Next)); !strings.Contains(a.Text, "from line") {
		t.Errorf("changed back: %s", a.Text)
	}
}

// T4: the cursor of a cached answer is good for the spelling of the path that was asked for.
func TestT4CachedCursor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	full := b.write("d/f.txt", strings.Repeat("a line of some length for the page\n", 300))
	settle(t, full)
	for range 3 {
		for _, path := range []string{"d/f.txt", "./d/f.txt", "d/../d/f.txt", full} {
			a := b.read(t, readOf(path, "full", 500, ""))
			if next := b.read(t, readOf(path, "full", 500, a.Next)); !strings.HasPrefix(next.Text, "d/f.txt 300L from line ") {
				t.Errorf("%s: %s", path, next.Text)
			}
		}
	}
}
