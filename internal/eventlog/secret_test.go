package eventlog

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
)

// T9: a secret in any field of an event never reaches the file of the log, and so no reader, no level and no search.
func TestT9SecretsNeverReachTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openIn(t, dir)
	hidden := "ghp_" + strings.Repeat("aB3xK9qLm2Zp", 3)
	said := "push with " + hidden + " please"
	l.add(t, Draft{Workspace: "w", Channel: "a", Kind: catalog.EventToolCallRecorded, Actor: &said, Payload: Payload{
		Tool: "ctx_session", Action: &said, Path: said, Category: said, Key: said, Reasoning: &said,
		Arguments: []byte(`{"value":"` + said + `","deep":[{"` + hidden + `":"x"}],"password":"hunter2hunter2"}`),
	}})
	for _, level := range []Level{RefsOnly, Summary, Full} {
		for _, e := range l.all(t, "a") {
			if got := string(e.AppendJSON(nil, level)); strings.Contains(got, hidden) || strings.Contains(got, "hunter2") || level == Full && !strings.Contains(got, "push with [redacted] please") {
				t.Errorf("%v: %s", level, got)
			}
		}
	}
	for words, want := range map[string]int{hidden: 0, hidden[:12] + "*": 0, "hunter2hunter2": 0, "please": 1} {
		r, _, err := l.Search(t.Context(), SearchQuery{Workspace: "w", Text: words, Level: Full})
		if err != nil || len(r) != want {
			t.Errorf("%s: %d, %v", words, len(r), err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if raw, err := os.ReadFile(name); err == nil && (bytes.Contains(raw, []byte(hidden)) || bytes.Contains(raw, []byte("hunter2"))) {
			t.Errorf("%s holds it", name)
		}
	}
}
