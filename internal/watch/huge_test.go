package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/workspace"
)

// size is how huge a workspace is.
type size struct {
	files, levels int
	sparse        int64
}

// huge is the size of the case, with CTXD_HUGE=1; else a smaller one, of the same shape.
func huge() (size, bool) {
	if os.Getenv("CTXD_HUGE") != "" {
		return size{100_000, 5_000, 1 << 30}, true
	}
	return size{2_000, 150, 65 << 20}, false
}

// lay makes the workspace. Folders that deep have no name that the system takes: each is made in the one above.
func (s size) lay(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	folders := s.files / 50
	for i := range s.files {
		folder := filepath.Join(root, "many", fmt.Sprint(i%folders/10), fmt.Sprint(i%folders))
		if i < folders {
			mkdir(t, folder)
		}
		must(t, os.WriteFile(filepath.Join(folder, fmt.Sprint("f", i)), []byte("x\n"), 0o644))
	}
	r, err := os.OpenRoot(root)
	must(t, err)
	for range s.levels {
		must(t, r.Mkdir("d", 0o755))
		must(t, r.WriteFile("e", []byte("x\n"), 0o644))
		next, err := r.OpenRoot("d")
		must(t, err)
		must(t, r.Close())
		r = next
	}
	must(t, r.Close())
	f, err := os.Create(filepath.Join(root, "bundle"))
	must(t, err)
	must(t, f.Truncate(s.sparse))
	must(t, f.Close())
	return root
}

// peak watches the memory in use while something runs. Tests beside it count too, so it is judged only when alone.
func peak(do func()) (mib int64, took time.Duration) {
	use := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	before, most := use(), int64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			most = max(most, use())
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	start := time.Now()
	do()
	took = time.Since(start)
	close(stop)
	<-done
	return max(most-before, 0) >> 20, took
}

// Case 15: a huge workspace costs bounded memory, is walked and watched as a whole, and what is left out has a name.
func TestHuge(t *testing.T) {
	if os.Getenv("CTXD_HUGE") == "" {
		t.Parallel()
	}
	s, alone := huge()
	w := openAt(t, s.lay(t))
	report := func(what string, bound int64, do func()) {
		mib, took := peak(do)
		t.Logf("%-28s %4d MiB %8v", what, mib, took.Round(time.Millisecond))
		if alone && mib > bound {
			t.Errorf("%s took %d MiB, more than %d", what, mib, bound)
		}
	}
	for name, o := range map[string]workspace.WalkOptions{"walk": {}, "walk with identities": {Stat: true}} {
		report(name, 64, func() {
			n := 0
			skips, err := w.Walk(t.Context(), ".", o, func(workspace.Entry) error { n++; return nil })
			if n < s.files+2*s.levels || len(skips) > 0 || err != nil {
				t.Errorf("%s: %d entries, %v, %v", name, n, skips, err)
			}
		})
	}
	report("walk of 10 levels", 16, func() {
		skips, err := w.Walk(t.Context(), ".", workspace.WalkOptions{MaxDepth: 10}, func(workspace.Entry) error { return nil })
		if skips[workspace.SkipDepth] != 1 || err != nil {
			t.Errorf("%v, %v", skips, err)
		}
	})
	report("read and look", 16, func() { readHuge(t, w, s) })
	for name, o := range map[string]Options{"hear": {Interval: 20 * time.Millisecond}, "check": {Checking: true, Interval: 20 * time.Millisecond}} {
		report("watch: "+name, 256, func() { watchHuge(t, w, o) })
	}
}

func readHuge(t *testing.T, w *workspace.Workspace, s size) {
	t.Helper()
	f := (*fault.Fault)(nil)
	if _, err := w.Read(t.Context(), "bundle", 0); !errors.As(err, &f) || f.Reason() != workspace.TooLarge {
		t.Errorf("the bundle: %v", err)
	}
	if info, err := w.Stat("bundle"); info.Size != s.sparse || err != nil {
		t.Errorf("the bundle: %+v, %v", info, err)
	}
	deepest := strings.Repeat("d/", s.levels-1) + "e"
	if file, err := w.Read(t.Context(), deepest, 0); err != nil || string(file.Bytes) != "x\n" {
		t.Errorf("the deepest file: %v", err)
	}
}

// watchHuge watches, and changes something in the widest and in the deepest place.
func watchHuge(t *testing.T, w *workspace.Workspace, o Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	batches := Changes(ctx, w, o)
	defer func() {
		cancel()
		for range batches {
		}
	}()
	start := time.Now()
	first := <-batches
	t.Logf("%+v, first batch after %v", first, time.Since(start).Round(time.Millisecond))
	must(t, os.WriteFile(filepath.Join(w.Root(), "many/0/7/new"), []byte("x"), 0o644))
	start = time.Now()
	for b := range batches {
		if b.Overflow || len(b.Paths) > 0 {
			t.Logf("%+v after %v", b, time.Since(start).Round(time.Millisecond))
		}
		if len(b.Paths) == 1 && b.Paths[0] == "many/0/7/new" {
			must(t, os.Remove(filepath.Join(w.Root(), "many/0/7/new")))
			return
		}
	}
}
