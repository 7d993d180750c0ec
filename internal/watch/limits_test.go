package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/workspace"
)

// What takes the place of hearing says why.
func TestWhyChecking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    Options
		lay  func(root string)
		want error
	}{
		"asked for": {Options{Checking: true}, func(string) {}, errForced},
		"limit":     {Options{MaxWatches: 2}, func(root string) { mkdir(t, filepath.Join(root, "a/b")) }, errFull},
		"symlinks": {Options{}, func(root string) {
			for i := range maxLinks + 1 {
				must(t, os.Symlink("x", filepath.Join(root, fmt.Sprint(i))))
			}
		}, errLinks},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			c.lay(root)
			got := watching(t, openAt(t, root), c.o).last
			if got.Checking != c.want.Error() || got.Within < defaultInterval {
				t.Errorf("%+v, want %v", got, c.want)
			}
		})
	}
	got := watching(t, openAt(t, t.TempDir()), Options{}).last
	if hears && (got.Checking != "" || got.Within != within) {
		t.Errorf("hearing: %+v", got)
	}
}

// A folder too deep for the system's names is no end: everything is checked.
func TestTooDeepToHear(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	w := openAt(t, root)
	r, err := os.OpenRoot(root)
	must(t, err)
	name := strings.Repeat("n", 200)
	for range 30 {
		must(t, r.Mkdir(name, 0o755))
		next, err := r.OpenRoot(name)
		must(t, err)
		must(t, r.Close())
		r = next
	}
	c := watching(t, w, Options{Interval: 20 * time.Millisecond})
	if c.last.Checking == "" && hears {
		t.Errorf("%+v", c.last)
	}
	must(t, r.WriteFile("x", []byte("1"), 0o644))
	c.settle("a file far down")
	must(t, r.Close())
}

// Events that were lost are an Overflow, and what was missed is heard of again.
func TestOverflow(t *testing.T) {
	t.Parallel()
	w := openAt(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	l := &loop{w: w, o: Options{MaxWatches: 100}, out: make(chan Batch), news: newNews()}
	go l.run(ctx)
	c := &consumer{t: t, w: w, batches: l.out, known: map[string]string{}, told: map[string]bool{}}
	defer func() {
		cancel()
		for range l.out {
		}
	}()
	c.receive()
	for round := range 3 {
		c.overflow = 0
		l.news.fail()
		c.until("overflow", func() bool { return c.overflow > 0 })
		write(t, filepath.Join(w.Root(), fmt.Sprint(round), "x"), "1")
		c.settle("after it")
	}
}

// More changes than a batch holds are an Overflow too.
func TestBurst(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		w := openAt(t, t.TempDir())
		c := watching(t, w, o)
		for i := range 300 {
			write(t, filepath.Join(w.Root(), fmt.Sprint(i%7), fmt.Sprint(i%11), fmt.Sprint(i)), "1")
		}
		c.settle("a burst")
		must(t, os.RemoveAll(filepath.Join(w.Root(), "3")))
		c.settle("its end")
	})
}

// Each sweep says that anything may have changed.
func TestSweep(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		o.Sweep = 20 * time.Millisecond
		c := watching(t, openAt(t, t.TempDir()), o)
		c.until("three sweeps", func() bool { return c.overflow >= 3 })
	})
}

// A folder that is renamed all the time costs no more than half of the time, and in the end nothing is missed.
func TestRenamedAllTheTime(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		w := openAt(t, t.TempDir())
		at := func(rel string) string { return filepath.Join(w.Root(), rel) }
		write(t, at("0/deep/er/x"), "1")
		c := watching(t, w, o)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 300 {
				_ = os.Rename(at(fmt.Sprint(i)), at(fmt.Sprint(i+1)))
				_ = os.WriteFile(at(fmt.Sprint(i+1, "/deep/er/x")), []byte(fmt.Sprint(i)), 0o644)
			}
		}()
		for busy := true; busy; {
			select {
			case b := <-c.batches:
				c.take(b)
			case <-done:
				busy = false
			}
		}
		c.settle("a folder that was renamed")
	})
}

// What was written so shortly before a walk that the next writing may leave the same stamps is told again.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	tree := func(settled bool) []node {
		return []node{{name: "d", kind: workspace.TypeFolder, settled: true, in: []node{{name: "f", kind: workspace.TypeFile, settled: settled}}}}
	}
	for settled, want := range map[bool]int{true: 0, false: 1} {
		var c changes
		diff(&c, "", tree(settled), tree(true))
		if got := c.sorted(); len(got) != want || want == 1 && got[0] != "d/f" {
			t.Errorf("settled %v: %q", settled, got)
		}
	}
	w := openAt(t, t.TempDir())
	write(t, filepath.Join(w.Root(), "f"), "1")
	must(t, os.Symlink("f", filepath.Join(w.Root(), "l")))
	b := newBeside(w)
	must(t, b.link("l"))
	at := b.links["l"]
	for _, settled := range []bool{true, false} {
		at.settled = settled
		b.links["l"] = at
		var c changes
		must(t, b.look(&c))
		if got := len(c.sorted()); got != 0 == settled {
			t.Errorf("a symlink, settled %v: %q", settled, c.sorted())
		}
	}
}

// A folder that is known under another name is not trusted: the system would tell of it under one only.
func TestTwoNames(t *testing.T) {
	t.Parallel()
	w := openAt(t, t.TempDir())
	e, err := listen(t.Context(), w, 10, newNews())
	must(t, err)
	defer e.close()
	mkdir(t, filepath.Join(w.Root(), "b"))
	k, ok := e.identify("b", filepath.Join(w.Root(), "b"))
	if !ok {
		t.Fatal("no identity")
	}
	e.keys[k] = "a"
	if err := e.arm("b"); !errors.Is(err, errTwice) {
		t.Error(err)
	}
}

// A name that leads elsewhere for the system than for the workspace is not watched.
func TestSwappedForSymlink(t *testing.T) {
	t.Parallel()
	w, out := openAt(t, t.TempDir()), t.TempDir()
	e, err := listen(t.Context(), w, 10, newNews())
	must(t, err)
	defer e.close()
	must(t, os.Symlink(out, filepath.Join(w.Root(), "l")))
	must(t, e.arm("l"))
	if list := e.fs.WatchList(); len(list) != 1 || len(e.folders) != 1 {
		t.Errorf("%q, %v", list, e.folders)
	}
}
