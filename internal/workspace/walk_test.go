package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func tree(t *testing.T, files ...string) *Workspace {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		write(t, filepath.Join(dir, f), f)
	}
	return openAt(t, dir)
}

func TestWalkOrder(t *testing.T) {
	t.Parallel()
	w := tree(t, "a/z", "a.b", "a-b", "a/b/c", "B", "é", "b", "a b/x")
	want := []string{"B", "a", "a/b", "a/b/c", "a/z", "a b", "a b/x", "a-b", "a.b", "b", "é"}
	slices.SortFunc(want, byNames)
	var got []string
	if _, err := w.Walk(t.Context(), ".", WalkOptions{}, func(e Entry) error {
		got = append(got, e.Path)
		return nil
	}); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWalkOptions(t *testing.T) {
	t.Parallel()
	w := tree(t, ".gitignore", ".h/x", "a/b/c/d", "a/b/e", "f", "ig/n", "n.o")
	write(t, filepath.Join(w.Root(), ".gitignore"), "ig\n*.o\n")
	for _, c := range []struct {
		rel   string
		o     WalkOptions
		want  string
		skips Skips
	}{
		{".", WalkOptions{}, "a/b/c/d a/b/e f", Skips{SkipHidden: 2, SkipIgnored: 2}},
		{".", WalkOptions{Hidden: true}, ".gitignore .h/x a/b/c/d a/b/e f", Skips{SkipIgnored: 2}},
		{".", WalkOptions{Ignored: true}, "a/b/c/d a/b/e f ig/n n.o", Skips{SkipHidden: 2}},
		{".", WalkOptions{MaxDepth: 1}, "f", Skips{SkipHidden: 2, SkipIgnored: 2, SkipDepth: 1}},
		{".", WalkOptions{MaxDepth: 3}, "a/b/e f", Skips{SkipHidden: 2, SkipIgnored: 2, SkipDepth: 1}},
		{".", WalkOptions{MaxEntries: 5}, "a/b/c/d a/b/e", Skips{SkipHidden: 2, SkipLimit: 1}},
		{".", WalkOptions{MaxEntries: 6}, "a/b/c/d a/b/e f", Skips{SkipHidden: 2, SkipIgnored: 2}},
		{"a/b", WalkOptions{}, "a/b/c/d a/b/e", Skips{}},
		{".h", WalkOptions{}, ".h/x", Skips{}},
		{"ig", WalkOptions{}, "", Skips{SkipIgnored: 1}},
		{"ig", WalkOptions{Ignored: true}, "ig/n", Skips{}},
	} {
		got, skips := walkAll(t, w, c.rel, c.o)
		if strings.Join(got, " ") != c.want || fmt.Sprint(skips) != fmt.Sprint(c.skips) {
			t.Errorf("%s %+v: %q, %v", c.rel, c.o, got, skips)
		}
	}
	if _, err := w.Walk(t.Context(), "f", WalkOptions{}, nil); reasonOf(err) != NotAFolder {
		t.Errorf("a file: %v", err)
	}
	if _, err := w.Walk(t.Context(), "no", WalkOptions{}, nil); reasonOf(err) != NoSuchFile {
		t.Errorf("nothing: %v", err)
	}
}

func TestWalkStat(t *testing.T) {
	t.Parallel()
	w := tree(t, "a/b", "c")
	if _, err := w.Walk(t.Context(), ".", WalkOptions{Stat: true}, func(e Entry) error {
		if info, err := w.Stat(e.Path); err != nil || info != e.Info || info.Identity.Ino == 0 && runtime.GOOS == "linux" {
			t.Errorf("%+v\n%+v, %v", e.Info, info, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestWalkEnds(t *testing.T) {
	t.Parallel()
	w := tree(t, "a/1", "a/2", "b/1", "b/2", "c")
	ours := errors.New("ours")
	for _, c := range []struct {
		at   string
		give error
		want string
		err  error
	}{
		{"a", fs.SkipDir, "a b b/1 b/2 c", nil}, {"a/1", fs.SkipDir, "a a/1 b b/1 b/2 c", nil}, {"b", fs.SkipAll, "a a/1 a/2 b", nil},
		{"b/1", ours, "a a/1 a/2 b b/1", ours}, {"c", fs.SkipDir, "a a/1 a/2 b b/1 b/2 c", nil},
	} {
		var got []string
		_, err := w.Walk(t.Context(), ".", WalkOptions{}, func(e Entry) error {
			got = append(got, e.Path)
			if e.Path == c.at {
				return c.give
			}
			return nil
		})
		if strings.Join(got, " ") != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v at %s: %q, %v", c.give, c.at, got, err)
		}
	}
}

func TestWalkCanceled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 1500 {
		write(t, filepath.Join(dir, fmt.Sprint(i)), "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	_, err := openAt(t, dir).Walk(ctx, ".", WalkOptions{Stat: true}, func(Entry) error {
		if seen++; seen == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || seen != 10 {
		t.Errorf("%d entries, %v", seen, err)
	}
}

// A folder that goes away between its listing and its turn is counted, and the walk goes on.
func TestWalkVanishing(t *testing.T) {
	t.Parallel()
	w := tree(t, "a/x", "b/y", "c")
	var got []string
	skips, err := w.Walk(t.Context(), ".", WalkOptions{}, func(e Entry) error {
		got = append(got, e.Path)
		if e.Path == "b" {
			return os.RemoveAll(filepath.Join(w.Root(), "b"))
		}
		return nil
	})
	if err != nil || strings.Join(got, " ") != "a a/x b c" || skips[SkipUnreadable] != 1 {
		t.Errorf("%q, %v, %v", got, skips, err)
	}
}

// Case 15: thousands of levels, far longer a path than the system takes, in a bounded number of descriptors.
func TestWalkDeep(t *testing.T) {
	t.Parallel()
	const levels, step = 3000, 250
	dir := t.TempDir()
	at, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range levels {
		names := []string{"d"}
		if i%step == step-1 {
			names = append(names, "e") // so that a folder is come back to
		}
		for _, n := range names {
			if err := at.Mkdir(n, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		next, err := at.OpenRoot("d")
		if err != nil {
			t.Fatal(err)
		}
		_ = at.Close()
		at = next
	}
	if err := at.WriteFile("bottom", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = at.Close()

	w := openAt(t, dir)
	folders, files, most := 0, 0, 0
	skips, err := w.Walk(t.Context(), ".", WalkOptions{}, func(e Entry) error {
		if e.Type == TypeFolder {
			folders++
			return nil
		}
		files, most = files+1, held(w.Root())
		if len(e.Path) != 2*levels+len("bottom") {
			t.Errorf("the file is at a path of %d bytes", len(e.Path))
		}
		return nil
	})
	if err != nil || folders != levels+levels/step || files != 1 || len(skips) != 0 {
		t.Errorf("%d folders, %d files, %v, %v", folders, files, skips, err)
	}
	if most > 2*maxHeld+8 { // folder_portable.go has two per level
		t.Errorf("%d descriptors", most)
	}
}

// held counts the descriptors of this process below a folder, where the system tells.
func held(root string) (n int) {
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range fds {
		if p, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(p, root) {
			n++
		}
	}
	return n
}

// A walk of Go's own sources is what the plain walk of the standard library finds.
func TestWalkGoroot(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	if testing.Short() {
		src = filepath.Join(src, "cmd")
	}
	var want []string
	if err := filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(src, p)
			want = append(want, filepath.ToSlash(rel))
		}
		return err
	}); err != nil {
		t.Skip("the sources cannot be walked: ", err)
	}
	start := time.Now()
	got, skips := walkAll(t, openAt(t, src), ".", WalkOptions{Hidden: true, Ignored: true})
	took := time.Since(start)
	slices.SortFunc(want, byNames)
	if !slices.Equal(got, want) || len(skips) != 0 || len(got) < 1000 {
		t.Errorf("%d files, want %d; skips %v", len(got), len(want), skips)
	}
	if took > 25*time.Second {
		t.Errorf("took %v", took)
	}
}

// Many walks, reads and a close at once.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	w := tree(t, ".gitignore", "a/b/c", "a/b/d", "e", "f/g")
	initRepo(t, w.Root())
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				_, _ = w.Walk(context.Background(), ".", WalkOptions{Stat: true}, func(Entry) error { return nil })
				if f, err := w.Read(context.Background(), "a/b/c", 0); err == nil && string(f.Bytes) != "a/b/c" {
					t.Errorf("%q", f.Bytes)
				}
			}
		}()
	}
	time.Sleep(5 * time.Millisecond)
	_ = w.Close()
	for range 8 {
		<-done
	}
}

// A folder that is moved out of the root while the walk is far below it leads nowhere else: the way back is checked.
func TestWalkMovedAway(t *testing.T) {
	t.Parallel()
	const levels, moved = maxHeld + 30, maxHeld + 10
	w, out := tree(t), t.TempDir()
	for i := range levels {
		write(t, filepath.Join(w.Root(), strings.Repeat("d/", i), "e"), "in")
	}
	write(t, filepath.Join(out, "e"), foreignEntry)
	var got int
	_, err := w.Walk(t.Context(), ".", WalkOptions{Stat: true}, func(e Entry) error {
		if e.Type != TypeFile {
			return nil
		}
		if got++; got == 1 { // the deepest one
			if err := os.Rename(filepath.Join(w.Root(), strings.Repeat("d/", moved)), filepath.Join(out, "d")); err != nil {
				t.Error(err)
			}
		}
		if e.Size != int64(len("in")) {
			t.Errorf("%d levels up: %+v", got, e)
		}
		return nil
	})
	if got < moved || err != nil {
		t.Errorf("%d files, %v", got, err)
	}
}

const foreignEntry = "not in the root"
