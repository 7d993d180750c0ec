package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// changed says which parts of a mark something changed.
func changed(t *testing.T, w *Workspace, rel string, do func()) string {
	t.Helper()
	before := w.Mark(rel)
	do()
	after, out := w.Mark(rel), ""
	for name, pair := range map[string][2]string{"rules ": {before.Rules, after.Rules}, "index ": {before.Index, after.Index}, "revision ": {before.Revision, after.Revision}} {
		if pair[0] != pair[1] {
			out += name
		}
	}
	return out
}

func TestMark(t *testing.T) {
	t.Parallel()
	top := committed(t, map[string]string{"a": "1", "sub/b": "1", ".gitignore": "*.o\n"})
	excludes := filepath.Join(t.TempDir(), "excludes")
	w := open(t, Options{Root: filepath.Join(top, "sub"), GlobalExcludes: true, GlobalExcludesFile: excludes})
	write(t, filepath.Join(top, "x"), "1")
	for _, c := range []struct {
		what, want string
		do         func()
	}{
		{"nothing", "", func() {}},
		{"a file", "", func() { write(t, filepath.Join(top, "sub/c"), "1") }},
		{"what git does by itself", "", func() { write(t, filepath.Join(top, ".git/index.lock"), "") }},
		{"global excludes", "rules ", func() { write(t, excludes, "*.x\n") }},
		{"excludes", "rules ", func() { write(t, filepath.Join(top, ".git/info/exclude"), "*.y\n") }},
		{"an ignore file above", "rules ", func() { write(t, filepath.Join(top, ".gitignore"), "*.z\n") }},
		{"a commit by plumbing", "revision ", func() {
			git(t, top, nil, "update-ref", "refs/heads/main", string(git(t, top, nil, "commit-tree", "-m", "x", "HEAD^{tree}"))[:40])
		}},
		{"a tag", "", func() { git(t, top, nil, "tag", "v1") }},
	} {
		if c.what == "what git does by itself" {
			defer os.Remove(filepath.Join(top, ".git/index.lock"))
		}
		if got := changed(t, w, ".", c.do); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if err := os.Remove(filepath.Join(top, ".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func(){
		"index":    func() { git(t, top, nil, "add", "x") },
		"revision": func() { git(t, top, nil, "checkout", "-q", "-b", "other") },
		"packed":   func() { git(t, top, nil, "pack-refs", "--all") },
	} {
		if got := changed(t, w, ".", do); got == "" {
			t.Errorf("%s: nothing", what)
		}
	}
	if err := os.Rename(filepath.Join(top, ".git"), filepath.Join(top, ".no")); err != nil {
		t.Fatal(err)
	}
	if got := changed(t, w, ".", func() { initRepo(t, w.Root()) }); got == "" {
		t.Error("a repository that appears: nothing")
	}
	old := time.Now().Add(-time.Hour)
	w = openAt(t, t.TempDir())
	write(t, filepath.Join(w.Root(), "n/a"), "")
	if got := changed(t, w, "n", func() { initRepo(t, filepath.Join(w.Root(), "n")) }); got == "" {
		t.Error("a nested repository that appears: nothing")
	}
	write(t, filepath.Join(w.Root(), "n/.git/index"), "")
	if w.Mark("n").Settled {
		t.Error("an index that was just written is settled")
	}
	if err := os.Chtimes(filepath.Join(w.Root(), "n/.git/index"), old, old); err != nil {
		t.Fatal(err)
	}
}

func TestTracked(t *testing.T) {
	t.Parallel()
	top := committed(t, map[string]string{"a": "1", "sub/b": "1", "sub/c": "1"})
	nested := filepath.Join(top, "sub/n")
	write(t, filepath.Join(nested, "x"), "1")
	git(t, nested, nil, "init", "-q")
	outer, w := openAt(t, top), openAt(t, filepath.Join(top, "sub"))
	before, whole, inner := w.Tracked("."), outer.Tracked("."), w.Tracked("n")
	write(t, filepath.Join(top, "sub/d"), "1")
	git(t, top, nil, "add", "sub/d")
	git(t, top, nil, "rm", "-q", "--cached", "a", "sub/b")
	git(t, nested, nil, "add", "x")
	for name, c := range map[string]struct{ got, want []string }{
		"below":    {w.Tracked(".").Differ(before), []string{"b", "d"}},
		"the top":  {whole.Differ(outer.Tracked(".")), []string{"a", "sub/b", "sub/d"}},
		"nested":   {w.Tracked("n").Differ(inner), []string{"n/x"}},
		"the same": {w.Tracked(".").Differ(w.Tracked(".")), nil},
		"none":     {w.Tracked("nothing").Differ(Tracked{}), nil},
	} {
		slices.Sort(c.got)
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}
