package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracking makes a repository with a real index: ignored files that are tracked, odd names, a submodule.
func tracking(t *testing.T, initArgs ...string) string {
	t.Helper()
	needGit(t)
	dir := t.TempDir()
	git(t, dir, nil, append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	write(t, filepath.Join(dir, ".gitignore"), "*.o\nbuild/\n/sub\n")
	for _, f := range []string{"a.c", "a.o", "b.o", "build/x/1", "build/y", "deep/er/a.o", "sub-x.o", "sub.o", "new\nline.o", "é.o", strings.Repeat("long", 60) + ".o"} {
		write(t, filepath.Join(dir, f), f)
	}
	return dir
}

// tracked gives what is in the index, by git, and what we read of it.
func tracked(t *testing.T, dir string) (want []string, got *index) {
	t.Helper()
	want = strings.Split(strings.TrimSuffix(string(git(t, dir, nil, "ls-files", "-z", "--sparse")), "\x00"), "\x00")
	b, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	got, err = parseIndex(b)
	if err != nil {
		t.Fatal(err)
	}
	return want, got
}

func TestIndexVersions(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"sha1": nil, "sha256": {"--object-format=sha256"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tracking(t, args...)
			git(t, dir, nil, "add", "-f", "a.c", "a.o", "build/x/1", "deep", "new\nline.o", "é.o", strings.Repeat("long", 60)+".o")
			for _, v := range []string{"2", "3", "4"} {
				if v == "3" {
					git(t, dir, nil, "add", "-f", "-N", "b.o") // an entry with extended flags
				}
				git(t, dir, nil, "update-index", "--index-version", v)
				want, got := tracked(t, dir)
				slices.Sort(want)
				if !slices.Equal(got.names, want) {
					t.Errorf("version %s:\n got %q\nwant %q", v, got.names, want)
				}
			}
		})
	}
}

func TestIndexWithoutHash(t *testing.T) {
	t.Parallel()
	dir := tracking(t)
	git(t, dir, nil, "add", "-f", "a.o", "b.o")
	file := filepath.Join(dir, ".git/index")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(b[:len(b)-20])+strings.Repeat("\x00", 20)) // what index.skipHash writes
	if got, err := parseIndex([]byte(mustRead(t, file))); err != nil || len(got.names) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func mustRead(t *testing.T, p string) string {
	t.Helper()
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSparseIndex(t *testing.T) {
	t.Parallel()
	dir := tracking(t)
	git(t, dir, nil, "add", "-f", ".")
	git(t, dir, nil, "commit", "-q", "-m", "all")
	git(t, dir, nil, "sparse-checkout", "set", "--cone", "--sparse-index", "deep")
	want, got := tracked(t, dir)
	sparse := slices.DeleteFunc(want, func(s string) bool { return !strings.HasSuffix(s, "/") })
	if len(sparse) == 0 || !slices.Equal(got.sparse, sparse) {
		t.Fatalf("sparse folders %q, want %q", got.sparse, sparse)
	}
	if !got.tracks("build", true) || !got.tracks("build/x", true) || !got.tracks("build/x/1", false) || got.tracks("builds", true) {
		t.Error("what a sparse folder stands for is tracked, and nothing else")
	}
}

func TestSplitIndexIsSaid(t *testing.T) {
	t.Parallel()
	dir := tracking(t)
	git(t, dir, nil, "add", "-f", "a.o")
	git(t, dir, nil, "update-index", "--split-index")
	git(t, dir, nil, "add", "-f", "b.o")
	for range 2 {
		b := mustRead(t, filepath.Join(dir, ".git/index"))
		if _, err := parseIndex([]byte(b)); !errors.Is(err, errExtension) {
			t.Fatalf("parse: %v", err)
		}
		// An entry that replaces a shared one has no name.
		if err := os.WriteFile(filepath.Join(dir, "a.o"), []byte("another content\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		git(t, dir, nil, "add", "-f", "a.o")
	}
	got, skips := walkAll(t, openAt(t, dir), ".", WalkOptions{})
	if slices.Contains(got, "a.o") || skips[SkipIndex] != 1 {
		t.Errorf("%q, %v", got, skips)
	}
}

func TestTrackedStaysVisible(t *testing.T) {
	t.Parallel()
	dir := tracking(t)
	w := openAt(t, dir)
	before, _ := walkAll(t, w, ".", WalkOptions{Hidden: true})
	git(t, dir, nil, "add", "-f", "a.o", "build/x/1", "deep/er/a.o")
	after, skips := walkAll(t, w, ".", WalkOptions{Hidden: true}) // the index is new: what was cached is not used
	if d := differ(lsFiles(t, dir), after); d != "" {
		t.Error(d)
	}
	if len(after) != len(before)+3 || skips[SkipIgnored] != 7 {
		t.Errorf("before %q, after %q, skips %v", before, after, skips)
	}
	git(t, dir, nil, "rm", "-q", "--cached", "a.o", "build/x/1", "deep/er/a.o")
	if again, _ := walkAll(t, w, ".", WalkOptions{Hidden: true}); !slices.Equal(again, before) {
		t.Errorf("no longer tracked: %q", again)
	}
}

func TestIndexOrderWithSubmodule(t *testing.T) {
	t.Parallel()
	x := &index{names: []string{"sub-x.o", "sub.o", "sub/"}}
	for rel, isDir := range map[string]bool{"sub": true, "sub-x.o": false, "sub.o": false} {
		if !x.tracks(rel, isDir) {
			t.Errorf("%s is tracked", rel)
		}
	}
	if x.tracks("sub", false) || x.tracks("su", true) || (*index)(nil).tracks("a", false) {
		t.Error("too much is tracked")
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"))
	entry := strings.Repeat("\x00", 24) + "\x00\x00\x81\xa4" + strings.Repeat("\x00", 32) + "\x00\x01a\x00"
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + entry + "TREE\x00\x00\x00\x01x" + strings.Repeat("h", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + entry[:62] + "\x00a\x00" + strings.Repeat("h", 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := parseIndex(b)
		if (x == nil) == (err == nil) {
			t.Errorf("%v, %v", x, err)
		}
		if err == nil {
			x.tracks("a/b", true)
		}
	})
}
