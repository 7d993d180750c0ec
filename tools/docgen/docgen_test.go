package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/tools/internal/contractcopy"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

func load(t *testing.T) *sources.Sources {
	t.Helper()
	s, err := sources.Load(contractcopy.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFillReplacesWhatStandsBetweenMarkers(t *testing.T) {
	t.Parallel()
	s, seen := load(t), map[string]bool{}
	const in = "before\n<!-- scopes -->\nold\n<!-- /scopes -->\nafter <!-- a remark --> <!-- none -->\n"
	out, err := Fill(s, in, seen)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, "before\n<!-- scopes -->\n| scope |") || !strings.HasSuffix(out, "|\n<!-- /scopes -->\nafter <!-- a remark --> <!-- none -->\n") || strings.Contains(out, "old") {
		t.Errorf("got %s", out)
	}
	if again, err := Fill(s, out, seen); err != nil || again != out {
		t.Errorf("filling twice: %v\n%s", err, again)
	}
	if len(seen) != 1 || !seen["scopes"] {
		t.Errorf("seen: %v", seen)
	}
}

func TestBrokenMarkersAreRefused(t *testing.T) {
	t.Parallel()
	s := load(t)
	for in, want := range map[string]string{
		"<!-- scopes -->\nrows\n": "the region scopes is not closed",
		"<!-- scopes -->\n<!-- /scopes -->\n<!-- scopes -->\n<!-- /scopes -->\n": "the region scopes is not closed, or stands twice",
		"rows\n<!-- /scopes -->\n":                  "the region scopes is not opened",
		"<!-- scoops -->\nrows\n<!-- /scoops -->\n": "the region scoops is not opened, or there is no table of that name",
	} {
		if _, err := Fill(s, in, map[string]bool{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}

func TestRunNamesTheDocumentOrTheMissingRegion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"unclosed": {"<!-- /metrics -->", "", "http.md: the region metrics is not closed"},
		"missing":  {"<!-- deprecations -->\nNothing is deprecated.\n<!-- /deprecations -->\n", "", "no document shows the region deprecations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := contractcopy.Make(t)
			contractcopy.Edit(t, root, "docs/contracts/http.md", c.old, c.new)
			if err := run(root); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A row that is added to a catalogue arrives in the documents.
func TestRunWritesTheDocuments(t *testing.T) {
	t.Parallel()
	root := contractcopy.Make(t)
	contractcopy.Edit(t, root, "api/catalog/deprecations.yaml", "[]", "- {surface: tool ctx_tree, since: 1.2.0, replacement: \"a|b\", removal: 1.4.0}")
	if err := run(root); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "contracts", "http.md"))
	if err != nil || !strings.Contains(string(text), "| `tool ctx_tree` | 1.2.0 | a\\|b | 1.4.0 |") {
		t.Errorf("%v: no such row", err)
	}
}
