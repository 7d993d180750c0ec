package revision

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/workspace"
	"pgregory.net/rapid"
)

func TestDirty(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 50)
	dir := project(t, map[string]string{
		"same": "1", "changed": "1", "staged": "1", "both": "1", "gone": "1", "unstaged-gone": "1", "old": long, "type": "1", "dir/in": "1",
		".gitignore": "*.o\n", "tracked.o": "1", "key.pem": "1", "kept-untracked": "1",
	})
	for _, p := range []string{"changed", "staged", "both", "tracked.o", "key.pem", "dir/in"} {
		write(t, filepath.Join(dir, p), "2")
	}
	git(t, dir, "add", "staged", "both")
	write(t, filepath.Join(dir, "both"), "3")
	git(t, dir, "rm", "-q", "gone")
	git(t, dir, "rm", "-q", "--cached", "kept-untracked")
	git(t, dir, "mv", "old", "new")
	if err := os.Remove(filepath.Join(dir, "unstaged-gone")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "type")); err != nil {
		t.Fatal(err)
	}
	symlink(t, "same", filepath.Join(dir, "type"))
	write(t, filepath.Join(dir, "fresh.o"), "1")
	write(t, filepath.Join(dir, "fresh dir/new\nline"), "1")
	git(t, dir, "init", "-q", "nested")
	write(t, filepath.Join(dir, "nested/x"), "1")
	before := snapshot(t, dir)
	got, err := repoAt(t, dir).Dirty(t.Context())
	want := []string{
		"both modified/modified", "changed /modified", "dir/in /modified", "fresh dir/new\nline /untracked", "gone deleted/", "kept-untracked /untracked",
		"kept-untracked deleted/", "nested /untracked", "new renamed/ from old", "staged modified/", "tracked.o /modified", "type /type_changed", "unstaged-gone /deleted",
	}
	list := brief(got)
	slices.Sort(list)
	if !slices.Equal(list, want) || err != nil {
		t.Errorf("%q, %v", list, err)
	}
	untouched(t, dir, before)
	sub, err := repoAt(t, filepath.Join(dir, "dir")).Dirty(t.Context())
	if !slices.Equal(brief(sub), []string{"in /modified"}) || err != nil {
		t.Errorf("a folder inside: %q, %v", brief(sub), err)
	}
}

func TestConflict(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"a": "1", "b": "1"})
	git(t, dir, "checkout", "-q", "-b", "other")
	write(t, filepath.Join(dir, "a"), "other")
	git(t, dir, "rm", "-q", "b")
	git(t, dir, "commit", "-q", "-a", "-m", "other")
	git(t, dir, "checkout", "-q", "main")
	write(t, filepath.Join(dir, "a"), "main")
	write(t, filepath.Join(dir, "b"), "main")
	git(t, dir, "commit", "-q", "-a", "-m", "main")
	if _, err := tryGit(dir, "merge", "-q", "other"); err == nil {
		t.Fatal("no conflict")
	}
	got, err := repoAt(t, dir).Dirty(t.Context())
	if want := []string{"a unmerged/unmerged conflict", "b unmerged/deleted conflict"}; !slices.Equal(brief(got), want) || err != nil {
		t.Errorf("%q, %v", brief(got), err)
	}
}

func TestSubmodule(t *testing.T) {
	t.Parallel()
	lib := project(t, map[string]string{"lib.c": "1"})
	dir := project(t, map[string]string{"a": "1"})
	git(t, dir, "submodule", "--quiet", "add", lib, "lib")
	git(t, dir, "commit", "-q", "-m", "lib")
	write(t, filepath.Join(dir, "lib/lib.c"), "2")
	write(t, filepath.Join(dir, "lib/fresh"), "2")
	r, sub := repoAt(t, dir), repoAt(t, filepath.Join(dir, "lib"))
	if got, err := r.Dirty(t.Context()); len(got) > 0 || err != nil {
		t.Errorf("changed inside: %q, %v", brief(got), err)
	}
	if got, err := sub.Dirty(t.Context()); !slices.Equal(brief(got), []string{"fresh /untracked", "lib.c /modified"}) || err != nil {
		t.Errorf("as a workspace of its own: %q, %v", brief(got), err)
	}
	git(t, filepath.Join(dir, "lib"), "commit", "-q", "-a", "-m", "second")
	if got, err := r.Dirty(t.Context()); !slices.Equal(brief(got), []string{"lib /modified submodule"}) || err != nil {
		t.Errorf("at another commit: %q, %v", brief(got), err)
	}
	if _, err := r.Show(t.Context(), "HEAD", "lib", 0); reasonOf(err) != workspace.NotAFile {
		t.Errorf("show a submodule: %v", err)
	}
}

// Untracked is what is not ignored, by the same global file as for walks.
func TestDirtyExcludes(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"a": "1"})
	excludes := filepath.Join(t.TempDir(), "ignore")
	write(t, excludes, "*.log\n")
	write(t, filepath.Join(dir, ".git/info/exclude"), "*.tmp\n")
	for _, p := range []string{"x.log", "x.tmp", "x.c"} {
		write(t, filepath.Join(dir, p), "1")
	}
	w := open(t, workspace.Options{Root: dir, GlobalExcludes: true, GlobalExcludesFile: excludes})
	got, err := New(Options{Scratch: t.TempDir(), Program: os.Getenv("CTXD_TEST_GIT")}).Of(w).Dirty(t.Context())
	if !slices.Equal(brief(got), []string{"x.c /untracked"}) || err != nil {
		t.Errorf("%q, %v", brief(got), err)
	}
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	if _, err := parseStatus([]byte(strings.Repeat("? a\x00", maxChanges+1))); reasonOf(err) != TooLarge {
		t.Error(err)
	}
	if list, err := parseStatus([]byte(strings.Repeat("? a\x00", maxChanges))); len(list) != maxChanges || err != nil {
		t.Error(len(list), err)
	}
	for i, s := range []string{"1 M. N...", "1 Mx N... 1 1 1 1 1 a", "x y", "2 R. N... 1 1 1 1 1", "1 M. N... 1 1 1 1 1 ", "? "} {
		if list, err := parseStatus([]byte(s)); err == nil {
			t.Errorf("%d: %v", i, list)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("1 .M N... 100644 100644 100644 a b path\x002 R. N... 1 1 1 a b R100 new\x00old\x00u UU N... 1 1 1 1 a b c p\x00? x\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := parseStatus(b)
		for i, c := range list {
			if err == nil && c.Path == "" {
				t.Error("no path at " + strconv.Itoa(i))
			}
		}
	})
}

// someWork is what may happen to a repository.
var someWork = rapid.Custom(func(t *rapid.T) []string {
	path := rapid.SampledFrom([]string{"a", "b", "dir/a", "dir/b", "dir/deep/c", "e f", "x.o"})
	step := rapid.Custom(func(t *rapid.T) string {
		do := rapid.SampledFrom([]string{"write", "write", "write", "remove", "add", "add", "commit", "rename", "link", "chmod", "unstage", "stash"}).Draw(t, "do")
		return do + "\x00" + path.Draw(t, "path") + "\x00" + path.Draw(t, "to")
	})
	return rapid.SliceOfN(step, 5, 15).Draw(t, "steps")
})

// apply does a step; one that cannot be done is left out.
func apply(dir, step string, n int) {
	words := strings.Split(step, "\x00")
	p, to := filepath.Join(dir, words[1]), filepath.Join(dir, words[2])
	_, _ = os.MkdirAll(filepath.Dir(p), 0o755), os.MkdirAll(filepath.Dir(to), 0o755)
	switch words[0] {
	case "write":
		_ = os.WriteFile(p, []byte(strings.Repeat("line\n", 20)+strconv.Itoa(n)), 0o644)
	case "remove":
		_ = os.Remove(p)
	case "rename":
		_ = os.Rename(p, to)
	case "link":
		_ = os.Symlink(words[2], p)
	case "chmod":
		_ = os.Chmod(p, 0o755)
	case "add":
		_, _ = tryGit(dir, "add", "-A", "--", words[1])
	case "commit":
		_, _ = tryGit(dir, "commit", "-q", "-m", "more")
	case "unstage":
		_, _ = tryGit(dir, "rm", "-q", "--cached", "--", words[1])
	case "stash":
		_, _ = tryGit(dir, "stash", "-q")
	}
}

// What git says of a repository that harbours nothing, we say too.
func TestDirtyIsGit(t *testing.T) {
	t.Parallel()
	for seed := range 12 {
		dir := project(t, map[string]string{"a": "1", "dir/a": strings.Repeat("line\n", 20), ".gitignore": "*.o\n"})
		for n, step := range someWork.Example(seed) {
			apply(dir, step, n)
		}
		before := snapshot(t, dir)
		got, err := repoAt(t, dir).Dirty(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		untouched(t, dir, before)
		want, err := parseStatus([]byte(git(t, dir, "status", "--porcelain=v2", "-z", "--untracked-files=all")))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(want, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
		if !slices.Equal(brief(got), brief(want)) {
			t.Errorf("seed %d: %q, git %q", seed, brief(got), brief(want))
		}
	}
}
