package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shown gives what a walk shows.
func shown(tb testing.TB, walk func(context.Context, string, WalkOptions, func(Entry) error) (Skips, error), rel string, o WalkOptions) []Entry {
	tb.Helper()
	var got []Entry
	if _, err := walk(context.Background(), rel, o, func(e Entry) error {
		got = append(got, e)
		return nil
	}); err != nil {
		tb.Fatalf("%q: %v", rel, err)
	}
	return got
}

// At each name that is there, WalkAt shows what a walk of the root shows of it.
func TestWalkAtIsWalk(t *testing.T) {
	t.Parallel()
	needGit(t)
	rounds := 25
	if deep() {
		rounds = 1000
	}
	for seed := range rounds {
		top := t.TempDir()
		w, _ := someProject.Example(seed).lay(t, top)
		for _, o := range []WalkOptions{{Hidden: true, Stat: true}, {}, {Ignored: true}} {
			whole := shown(t, w.Walk, ".", o)
			err := filepath.WalkDir(w.Root(), func(p string, _ fs.DirEntry, err error) error {
				rel, _ := filepath.Rel(w.Root(), p)
				if err != nil || rel == "." {
					return err
				}
				var want []Entry
				for _, e := range whole {
					if e.Path == rel || strings.HasPrefix(e.Path, rel+"/") {
						want = append(want, e)
					}
				}
				if got := shown(t, w.WalkAt, rel, o); !slices.Equal(got, want) {
					t.Errorf("seed %d, %+v, %q: %v, want %v", seed, o, rel, got, want)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestWalkAt(t *testing.T) {
	t.Parallel()
	w := open(t, Options{Root: t.TempDir(), Refused: []string{"*.pem", "secret/"}})
	for _, p := range []string{"a/b/c", "a/.h/x", "k.pem", "secret/x", ".git/HEAD"} {
		write(t, filepath.Join(w.Root(), p), p)
	}
	symlink(t, "a", filepath.Join(w.Root(), "to-a"))
	for rel, want := range map[string]int{
		".": 4, "a": 3, "a/b": 2, "a/b/c": 1, "to-a": 1, "to-a/b": 0, "no": 0, "no/no": 0, "a/b/c/d": 0, "a/.h": 0, "a/.h/x": 0, "k.pem": 0, "secret": 0, "secret/x": 0,
		".git": 0, ".git/HEAD": 0, strings.Repeat("n", 300): 0,
	} {
		if got := shown(t, w.WalkAt, rel, WalkOptions{}); len(got) != want {
			t.Errorf("%s: %v, want %d", rel, got, want)
		}
	}
	if _, err := w.WalkAt(t.Context(), "../x", WalkOptions{}, nil); reasonOf(err) != OutsideWorkspace {
		t.Error(err)
	}
	if skips, err := w.WalkAt(t.Context(), "a/b", WalkOptions{MaxDepth: 1}, func(Entry) error { return nil }); skips[SkipDepth] != 1 || err != nil {
		t.Errorf("%v, %v", skips, err)
	}
	for _, end := range []error{fs.SkipDir, fs.SkipAll, os.ErrInvalid} {
		seen := 0
		_, err := w.WalkAt(t.Context(), "a", WalkOptions{}, func(Entry) error { seen++; return end })
		if seen != 1 || errors.Is(err, os.ErrInvalid) != (end == os.ErrInvalid) { //nolint:errorlint // the value itself
			t.Errorf("%v: %d, %v", end, seen, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.WalkAt(ctx, "a", WalkOptions{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
