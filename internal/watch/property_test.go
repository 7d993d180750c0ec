package watch

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// step is one thing that somebody does to a workspace.
type step struct {
	do, path, other string
	n               int
}

var (
	somePath = rapid.Custom(func(t *rapid.T) string {
		p := "."
		for range rapid.IntRange(1, 4).Draw(t, "depth") {
			p = path.Join(p, rapid.SampledFrom([]string{"a", "b", "c", ".h"}).Draw(t, "name"))
		}
		return p
	})
	someStep = rapid.Custom(func(t *rapid.T) step {
		return step{
			do: rapid.SampledFrom([]string{
				"create", "create", "create", "write", "write", "rename", "rename", "rename", "remove", "remove all", "mkdir", "mkdir", "rmdir", "symlink", "chmod",
				"replace", "ignore", "pause",
			}).Draw(t, "do"),
			path: somePath.Draw(t, "path"), other: somePath.Draw(t, "other"), n: rapid.IntRange(0, 60).Draw(t, "n"),
		}
	})
	someSteps = rapid.SliceOfN(someStep, 10, 80)
)

// apply does a step, or nothing where it cannot be done. Steps that hit upon each other's names make the rest.
func (s step) apply(root string) {
	p, other := filepath.Join(root, s.path), filepath.Join(root, s.other)
	switch s.do {
	case "create":
		_ = os.MkdirAll(filepath.Dir(p), 0o755)
		_ = os.WriteFile(p, []byte(fmt.Sprint(s.n)), 0o644)
	case "write":
		if f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, _ = fmt.Fprint(f, s.n)
			_ = f.Close()
		}
	case "rename":
		_ = os.Rename(p, other)
	case "replace": // as editors save
		_ = os.WriteFile(p+"~", []byte(fmt.Sprint(s.n)), 0o644)
		_ = os.Rename(p+"~", p)
	case "remove", "rmdir":
		_ = os.Remove(p)
	case "remove all":
		_ = os.RemoveAll(p)
	case "mkdir":
		_ = os.MkdirAll(p, 0o755)
	case "symlink":
		_ = os.Symlink(path.Base(s.other), p)
	case "chmod":
		_ = os.Chmod(p, 0o700|os.FileMode(s.n)&0o77)
	case "ignore":
		_ = os.WriteFile(filepath.Join(filepath.Dir(p), ".gitignore"), []byte([]string{"a\n", "/b/\n", "c/*\n", "\n"}[s.n%4]), 0o644)
	case "pause": // so that batches fall between other steps
		time.Sleep(time.Duration(s.n) * time.Millisecond)
	}
}

// Whatever is done while a consumer reads what it is told, in the end it knows what is there.
func TestConsumerKnows(t *testing.T) {
	t.Parallel()
	rounds := 16
	if os.Getenv("CTXD_DEEP") != "" {
		rounds = 1000
	}
	bothWays(t, func(t *testing.T, o Options) {
		for part := range 2 {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < rounds && !t.Failed(); seed += 2 {
					checkConsumer(t, o, someSteps.Example(seed), seed)
				}
			})
		}
	})
}

func checkConsumer(t *testing.T, o Options, steps []step, seed int) {
	t.Helper()
	t.Run("", func(t *testing.T) {
		root := t.TempDir()
		half := len(steps) / 3
		for _, s := range steps[:half] {
			if s.do != "pause" {
				s.apply(root)
			}
		}
		c := watching(t, openAt(t, root), o)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, s := range steps[half:] {
				s.apply(root)
			}
		}()
		for busy := true; busy; {
			select {
			case b, ok := <-c.batches:
				if !ok {
					t.Fatal("the channel is closed")
				}
				c.take(b)
			case <-done:
				busy = false
			}
		}
		c.settle(fmt.Sprintf("seed %d", seed))
	})
}
