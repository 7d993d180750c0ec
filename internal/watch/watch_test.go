package watch

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What people and programs do to files, one after the other, each of which has to be told.
func TestWhatIsTold(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		root := t.TempDir()
		at := func(rel string) string { return filepath.Join(root, rel) }
		for _, p := range []string{"a", "dir/b", "dir/deep/er/c", "d", "other/e"} {
			write(t, at(p), p)
		}
		c := watching(t, openAt(t, root), o)
		for _, step := range []struct {
			what string
			do   func()
		}{
			{"write", func() { write(t, at("a"), "changed") }},
			{"write deep", func() { write(t, at("dir/deep/er/c"), "changed") }},
			{"the same size and time", func() {
				fi, err := os.Stat(at("a"))
				must(t, err)
				write(t, at("a"), "CHANGED")
				must(t, os.Chtimes(at("a"), fi.ModTime(), fi.ModTime()))
			}},
			{"save by renaming over", func() { write(t, at(".a.swp"), "saved"); must(t, os.Rename(at(".a.swp"), at("a"))) }},
			{"delete and restore", func() { must(t, os.Remove(at("d"))); write(t, at("d"), "d") }},
			{"delete", func() { must(t, os.Remove(at("d"))) }},
			{"create", func() { write(t, at("new"), "new") }},
			{"create folders", func() { write(t, at("n1/n2/n3/n4/f"), "new") }},
			{"write in a new folder", func() { write(t, at("n1/n2/n3/n4/f"), "changed") }},
			{"chmod", func() { must(t, os.Chmod(at("a"), 0o600)) }},
			{"a folder that may not be read", func() { must(t, os.Chmod(at("dir/deep"), 0)) }}, // root may all the same
			{"and may again", func() { must(t, os.Chmod(at("dir/deep"), 0o755)); write(t, at("dir/deep/er/c"), "readable") }},
			{"rename a folder", func() { must(t, os.Rename(at("dir"), at("moved"))) }},
			{"write in a renamed folder", func() { write(t, at("moved/deep/er/c"), "changed again") }},
			{"another folder in its old place", func() { write(t, at("dir/deep/er/c"), "another") }},
			{"write there", func() { write(t, at("dir/deep/er/c"), "another change"); write(t, at("moved/deep/er/c"), "third") }},
			{"swap folders", func() {
				must(t, os.Rename(at("dir"), at("tmp")))
				must(t, os.Rename(at("moved"), at("dir")))
				must(t, os.Rename(at("tmp"), at("moved")))
			}},
			{"write after that", func() { write(t, at("dir/deep/er/c"), "1"); write(t, at("moved/deep/er/c"), "2") }},
			{"move into a folder", func() { must(t, os.Rename(at("moved"), at("n1/moved"))) }},
			{"write there", func() { write(t, at("n1/moved/deep/er/c"), "12") }},
			{"a folder becomes a file", func() { must(t, os.RemoveAll(at("other"))); write(t, at("other"), "file") }},
			{"and a folder again", func() { must(t, os.Remove(at("other"))); write(t, at("other/x"), "folder") }},
			{"hard link", func() { must(t, os.Link(at("a"), at("n1/linked"))) }},
			{"write by its other name", func() { write(t, at("n1/linked"), "both") }},
			{"odd names", func() { write(t, at("a b/\n/é/..."), "odd") }},
			{"write in odd names", func() { write(t, at("a b/\n/é/..."), "odder") }},
			{"move out", func() { must(t, os.Rename(at("n1"), filepath.Join(t.TempDir(), "out"))) }},
			{"move in", func() {
				out := filepath.Join(t.TempDir(), "in")
				write(t, filepath.Join(out, "x/y"), "1")
				must(t, os.Rename(out, at("n1")))
			}},
			{"write in what was moved in", func() { write(t, at("n1/x/y"), "12") }},
			{"remove all", func() { must(t, os.RemoveAll(at("n1"))); must(t, os.RemoveAll(at("dir"))) }},
		} {
			step.do()
			c.settle(step.what)
		}
	})
}

func TestSymlinks(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		root := t.TempDir()
		at := func(rel string) string { return filepath.Join(root, rel) }
		write(t, at(".gitignore"), "/ignored\n")
		write(t, at("target"), "1")
		write(t, at("ignored/target"), "1")
		write(t, at("dir/x"), "1")
		for link, to := range map[string]string{"l1": "target", "l2": "l1", "l3": "ignored/target", "l4": "nothing", "l5": "dir", "dir/l6": "../target"} {
			must(t, os.Symlink(to, at(link)))
		}
		c := watching(t, openAt(t, root), o)
		for _, step := range []struct {
			what string
			do   func()
		}{
			{"target written", func() { write(t, at("target"), "12") }},
			{"ignored target written", func() { write(t, at("ignored/target"), "12") }},
			{"target replaced", func() { write(t, at("x"), "123"); must(t, os.Rename(at("x"), at("target"))) }},
			{"target appears", func() { write(t, at("nothing"), "1") }},
			{"target becomes a folder", func() { must(t, os.Remove(at("nothing"))); mkdir(t, at("nothing")) }},
			{"target goes", func() { must(t, os.Remove(at("target"))) }},
			{"link swapped", func() { must(t, os.Symlink("dir/x", at("n"))); must(t, os.Rename(at("n"), at("l1"))) }},
			{"link becomes a folder", func() { must(t, os.Remove(at("l1"))); write(t, at("l1/f"), "1") }},
			{"and a link again", func() { must(t, os.RemoveAll(at("l1"))); must(t, os.Symlink("ignored/target", at("l1"))) }},
			{"what it leads to", func() { write(t, at("ignored/target"), "1234") }},
		} {
			step.do()
			c.settle(step.what)
		}
	})
}

// Files that rules hide are neither watched nor told, until rules show them.
func TestRules(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		root := t.TempDir()
		at := func(rel string) string { return filepath.Join(root, rel) }
		write(t, at(".gitignore"), "node_modules/\n*.o\n")
		write(t, at("node_modules/deep/x"), "1")
		write(t, at("src/a"), "1")
		write(t, at("src/key.pem"), "1")
		c := watching(t, openAt(t, root), o)
		write(t, at("node_modules/deep/x"), "12")
		write(t, at("src/key.pem"), "12")
		write(t, at("src/a"), "12")
		c.settle("a file")
		if c.told["node_modules/deep/x"] || c.told["node_modules"] || c.told["src/key.pem"] {
			t.Errorf("told: %v", c.told)
		}
		write(t, at(".gitignore"), "*.o\n")
		c.settle("rules that show more")
		write(t, at("node_modules/deep/x"), "123")
		c.settle("a file that was shown")
		write(t, at("src/.gitignore"), "a\n")
		c.settle("rules that show less")
		must(t, os.Remove(at("src/.gitignore")))
		c.settle("rules that go")
	})
}

// The root itself goes away, or a folder above it. The workspace keeps the folder that it opened.
func TestRootGoes(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		for _, moves := range []string{"up/root", "up"} {
			base := t.TempDir()
			root, moved := filepath.Join(base, "up/root"), filepath.Join(base, "moved", strings.TrimPrefix("up/root", moves))
			write(t, filepath.Join(root, "a/b"), "1")
			c := watching(t, openAt(t, root), Options{Checking: o.Checking, MaxWatches: o.MaxWatches, Interval: 20 * time.Millisecond})
			must(t, os.Rename(filepath.Join(base, moves), filepath.Join(base, "moved")))
			write(t, filepath.Join(root, "a/b"), "a stranger")
			c.until("it says that the root has gone", func() bool { return c.last.Checking != "" })
			write(t, filepath.Join(moved, "a/b"), "12")
			write(t, filepath.Join(moved, "new/c"), "1")
			c.settle("changes in the moved root")
			must(t, os.RemoveAll(filepath.Join(base, "moved")))
			c.settle("a root that is deleted")
			if len(c.known) > 0 {
				t.Errorf("known: %v", c.known)
			}
		}
	})
}

// Whoever stops, stops: the channel is closed when all is freed, whatever was going on. TestMain looks for goroutines.
func TestStops(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		w := openAt(t, t.TempDir())
		for i := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			batches := Changes(ctx, w, o)
			for n := range i {
				write(t, filepath.Join(w.Root(), strconv.Itoa(i), strconv.Itoa(n)), "1")
			}
			if i%2 == 0 {
				<-batches
			}
			cancel()
			for range batches {
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for b := range Changes(ctx, w, o) {
			t.Errorf("a batch after the end: %+v", b)
		}
	})
}

// Two that watch one workspace do not disturb each other, nor does one that does not receive.
func TestTwo(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		w := openAt(t, t.TempDir())
		one, two := watching(t, w, o), watching(t, w, o)
		lazy := Changes(t.Context(), w, o)
		defer func() {
			if b := <-lazy; !b.Overflow {
				t.Errorf("the first batch: %+v", b)
			}
		}()
		write(t, filepath.Join(w.Root(), "a/b"), "1")
		one.settle("one")
		two.settle("two")
	})
}

// A slow consumer gets one batch of bounded size.
func TestManyPaths(t *testing.T) {
	t.Parallel()
	var c changes
	for i := range maxPaths {
		c.add(strconv.Itoa(i))
	}
	if c.overflow || len(c.sorted()) != maxPaths {
		t.Error(c.overflow, len(c.paths))
	}
	c.add("one more")
	c.add("and another")
	if !c.overflow || len(c.paths) != 0 {
		t.Error(c.overflow, len(c.paths))
	}
	n := newNews()
	for i := range maxPaths + 5 {
		n.hear(strconv.Itoa(i), 1)
	}
	if paths, lost := n.take(); !lost || len(paths) > 0 {
		t.Error(lost, len(paths))
	}
	n.fail()
	n.hear("x", 1)
	if paths, lost := n.take(); !lost || len(paths) > 0 {
		t.Error(lost, len(paths))
	}
}
