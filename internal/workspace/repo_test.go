package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A commit to make worktrees and submodules of.
func committed(t *testing.T, files map[string]string) string {
	t.Helper()
	needGit(t)
	dir := t.TempDir()
	git(t, dir, nil, "init", "-q", "-b", "main")
	for f, content := range files {
		write(t, filepath.Join(dir, f), content)
	}
	git(t, dir, nil, "add", "-f", ".")
	git(t, dir, nil, "commit", "-q", "-m", "all")
	return dir
}

// Case 14: two worktrees of one repository are two workspaces; they share info/exclude and nothing else.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	main := committed(t, map[string]string{"a.c": "main", "kept.o": "main"})
	tree := filepath.Join(t.TempDir(), "tree")
	git(t, main, nil, "worktree", "add", "-q", tree)
	write(t, filepath.Join(main, ".git/info/exclude"), "*.o\n")
	write(t, filepath.Join(tree, ".gitignore"), "*.log\n")
	for _, dir := range []string{main, tree} {
		write(t, filepath.Join(dir, "x.o"), "")
		write(t, filepath.Join(dir, "x.log"), "")
	}
	write(t, filepath.Join(tree, "a.c"), "tree")
	git(t, tree, nil, "rm", "-q", "--cached", "kept.o")

	for dir, want := range map[string][]string{main: {"a.c", "kept.o", "x.log"}, tree: {".gitignore", "a.c"}} {
		w := openAt(t, dir)
		got, skips := walkAll(t, w, ".", WalkOptions{Hidden: true})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, skips %v", filepath.Base(dir), got, skips)
		}
		if d := differ(lsFiles(t, dir), got); d != "" {
			t.Error(d)
		}
		if _, err := w.Resolve(filepath.Join(map[string]string{main: tree, tree: main}[dir], "a.c")); reasonOf(err) != OutsideWorkspace {
			t.Errorf("the other worktree is reached: %v", err)
		}
		if _, err := w.Read(t.Context(), ".git", 0); reasonOf(err) != Refused {
			t.Errorf("the .git file of a worktree: %v", err)
		}
	}
	if f, err := openAt(t, tree).Read(t.Context(), "a.c", 0); err != nil || string(f.Bytes) != "tree" {
		t.Errorf("%v, %v", f, err)
	}
}

func TestSubmodule(t *testing.T) {
	t.Parallel()
	lib := committed(t, map[string]string{"lib.c": "", "out.o": "", ".gitignore": "*.o\n"})
	dir := committed(t, map[string]string{".gitignore": "/vendor\n*.c\n", "x.c": ""})
	git(t, dir, nil, "submodule", "--quiet", "add", "-f", lib, "vendor/lib")
	write(t, filepath.Join(dir, "vendor/other.txt"), "")
	write(t, filepath.Join(dir, "vendor/lib/new.c"), "")
	write(t, filepath.Join(dir, "vendor/lib/new.o"), "")
	got, skips := walkAll(t, openAt(t, dir), ".", WalkOptions{Hidden: true})
	want := []string{".gitignore", ".gitmodules", "vendor/lib/.gitignore", "vendor/lib/lib.c", "vendor/lib/new.c", "vendor/lib/out.o", "x.c"}
	if !slices.Equal(got, want) || skips[SkipIgnored] != 2 {
		t.Errorf("%q, %v", got, skips)
	}
}

// A nested repository goes by its own rules from its own top, though the outer one once tracked files in it.
func TestNestedOverTracked(t *testing.T) {
	t.Parallel()
	dir := committed(t, map[string]string{".gitignore": "*.o\n", "in/a.o": "", "in/b.o": ""})
	initRepo(t, filepath.Join(dir, "in"))
	write(t, filepath.Join(dir, "in/.gitignore"), "/b.o\n")
	write(t, filepath.Join(dir, "in/sub/b.o"), "")
	write(t, filepath.Join(dir, "in/.git/info/exclude"), "sub/c\n")
	write(t, filepath.Join(dir, "in/sub/c"), "")
	if got, _ := walkAll(t, openAt(t, dir), ".", WalkOptions{}); !slices.Equal(got, []string{"in/a.o", "in/sub/b.o"}) {
		t.Errorf("%q", got)
	}
	if got, _ := walkAll(t, openAt(t, filepath.Join(dir, "in")), ".", WalkOptions{}); !slices.Equal(got, []string{"a.o", "sub/b.o"}) {
		t.Errorf("as a workspace of its own: %q", got)
	}
}

// What only looks like a repository is none: its folder goes by the outer rules.
func TestFalseRepositories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	initRepo(t, dir)
	write(t, filepath.Join(dir, ".gitignore"), "*.o\n")
	mkdir(t, filepath.Join(dir, "empty/.git"))
	write(t, filepath.Join(dir, "text/.git"), "hello\n")
	write(t, filepath.Join(dir, "lost/.git"), "gitdir: ../nowhere\n")
	write(t, filepath.Join(dir, "huge/.git"), "gitdir: "+string(make([]byte, maxPath)))
	write(t, filepath.Join(dir, "head/.git/HEAD"), "nonsense\n")
	mkdir(t, filepath.Join(dir, "head/.git/objects"))
	mkdir(t, filepath.Join(dir, "head/.git/refs"))
	for _, d := range []string{"empty", "text", "lost", "huge", "head"} {
		write(t, filepath.Join(dir, d, "x.o"), "")
	}
	if got, skips := walkAll(t, openAt(t, dir), ".", WalkOptions{}); len(got) > 0 || skips[SkipIgnored] != 5 {
		t.Errorf("%q, %v", got, skips)
	}
}

func TestHeads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for head, want := range map[string]bool{
		"ref: refs/heads/main\n": true, "ref:refs/x": true, "ref:\t refs/x": true, "0123456789abcdef0123456789abcdef01234567\n": true,
		"ref: heads/main": false, "0123": false, "": false, "0123456789abcdef0123456789abcdef0123456g\n": false,
	} {
		p := filepath.Join(dir, "HEAD")
		write(t, p, head)
		if isHead(p) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
	symlink(t, "refs/heads/main", filepath.Join(dir, "LINK"))
	if !isHead(filepath.Join(dir, "LINK")) {
		t.Error("an old HEAD is a symlink")
	}
}

// Not a repository at all: .gitignore files count, info/exclude and the index do not exist.
func TestNoRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".gitignore"), "*.o\n")
	write(t, filepath.Join(dir, "sub/.gitignore"), "!keep.o\n")
	write(t, filepath.Join(dir, "sub/keep.o"), "")
	write(t, filepath.Join(dir, "a.o"), "")
	if got, _ := walkAll(t, openAt(t, dir), ".", WalkOptions{}); !slices.Equal(got, []string{"sub/keep.o"}) {
		t.Errorf("%q", got)
	}
}

// A workspace that the repository around it ignores as a whole goes by its own files.
func TestIgnoredRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	initRepo(t, dir)
	write(t, filepath.Join(dir, ".gitignore"), "build/\n*.o\n")
	write(t, filepath.Join(dir, "build/out/a.o"), "")
	write(t, filepath.Join(dir, "build/out/b.c"), "")
	write(t, filepath.Join(dir, "build/out/.gitignore"), "*.c\n")
	if got, _ := walkAll(t, openAt(t, filepath.Join(dir, "build/out")), ".", WalkOptions{}); !slices.Equal(got, []string{"a.o"}) {
		t.Errorf("%q", got)
	}
}

// Ignore files are read as they are now, and never through a symlink, as git does.
func TestIgnoreFilesChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	initRepo(t, dir)
	write(t, filepath.Join(dir, "a"), "")
	write(t, filepath.Join(dir, "b"), "")
	w := openAt(t, dir)
	rules := filepath.Join(dir, ".gitignore")
	for _, c := range []struct{ rules, want string }{{"a\n", "b"}, {"b\n", "a"}} {
		write(t, rules, c.rules)
		if got, _ := walkAll(t, w, ".", WalkOptions{}); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q: %q", c.rules, got)
		}
	}
	if err := os.Rename(rules, filepath.Join(dir, "rules")); err != nil {
		t.Fatal(err)
	}
	symlink(t, "rules", rules)
	if got, _ := walkAll(t, w, ".", WalkOptions{}); !slices.Equal(got, []string{"a", "b", "rules"}) {
		t.Errorf("through a symlink: %q", got)
	}
}
