package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/workspace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what has to come. It is no measure: the machine may be busy.
const patience = 30 * time.Second

func openAt(tb testing.TB, root string) *workspace.Workspace {
	tb.Helper()
	w, err := workspace.Open(workspace.Options{Root: root, Refused: []string{"*.pem"}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

// ways are the ways to find changes, each of which every test of behaviour goes.
var ways = map[string]Options{
	"told":    {},
	"checked": {Checking: true, Interval: 20 * time.Millisecond},
	"limited": {MaxWatches: 3, Interval: 20 * time.Millisecond},
}

// bothWays runs a test for each way.
func bothWays(t *testing.T, do func(t *testing.T, o Options)) {
	t.Helper()
	for name, o := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, o)
		})
	}
}

// consumer holds what a reader of batches knows of a workspace.
type consumer struct {
	t        *testing.T
	w        *workspace.Workspace
	batches  <-chan Batch
	known    map[string]string
	last     Batch
	revision bool
	told     map[string]bool // paths of batches since it was cleared
	overflow int
}

// watching begins to watch, and reads everything after the first batch.
func watching(t *testing.T, w *workspace.Workspace, o Options) *consumer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &consumer{t: t, w: w, batches: Changes(ctx, w, o), known: map[string]string{}, told: map[string]bool{}}
	t.Cleanup(func() {
		cancel()
		for range c.batches { // until it is closed: all is freed then
		}
	})
	c.receive()
	if !c.last.Overflow {
		t.Error("the first batch does not say that anything may have changed")
	}
	c.overflow = 0
	return c
}

// receive takes a batch and reads what it names.
func (c *consumer) receive() {
	c.t.Helper()
	select {
	case b, ok := <-c.batches:
		if !ok {
			c.t.Fatal("the channel is closed")
		}
		c.take(b)
	case <-time.After(patience):
		c.t.Fatal("no batch")
	}
}

func (c *consumer) take(b Batch) {
	c.t.Helper()
	c.last = b
	c.revision = c.revision || b.Revision
	if b.Overflow {
		c.overflow++
		c.known = c.read(".")
		return
	}
	for _, p := range b.Paths {
		c.told[p] = true
		for k := range c.known {
			if isAt(p, k) {
				delete(c.known, k)
			}
		}
		for k, v := range c.read(p) {
			c.known[k] = v
		}
	}
}

// read gives what is at a path and below it: kinds, and identities of what is no folder.
func (c *consumer) read(rel string) map[string]string {
	c.t.Helper()
	out := map[string]string{}
	_, err := c.w.WalkAt(c.t.Context(), rel, workspace.WalkOptions{Hidden: true, Stat: true}, func(e workspace.Entry) error {
		out[e.Path] = string(e.Type)
		if e.Type != workspace.TypeFolder {
			out[e.Path] = fmt.Sprint(e.Type, e.Link, e.Identity)
		}
		return nil
	})
	if err != nil && rel != "." {
		c.t.Errorf("reading %q: %v", rel, err)
	}
	return out
}

// settle receives until what is known is what is there.
func (c *consumer) settle(what string) {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		differs := differ(c.known, c.read("."))
		if differs == "" {
			return
		}
		select {
		case b, ok := <-c.batches:
			if !ok {
				c.t.Fatal("the channel is closed")
			}
			c.take(b)
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			c.t.Fatalf("%s: never told (checking: %q): %s", what, c.last.Checking, differs)
		}
	}
}

// until receives until something is so.
func (c *consumer) until(what string, is func() bool) {
	c.t.Helper()
	deadline := time.After(patience)
	for !is() {
		select {
		case b, ok := <-c.batches:
			if !ok {
				c.t.Fatal("the channel is closed")
			}
			c.take(b)
		case <-deadline:
			c.t.Fatalf("never: %s; last %+v", what, c.last)
		}
	}
}

func differ(known, there map[string]string) string {
	var b strings.Builder
	for k, v := range there {
		if known[k] != v {
			fmt.Fprintf(&b, "\n  %q is %s, known as %q", k, v, known[k])
		}
	}
	for k := range known {
		if _, ok := there[k]; !ok {
			fmt.Fprintf(&b, "\n  %q is gone", k)
		}
	}
	return b.String()
}

func write(tb testing.TB, p, content string) {
	tb.Helper()
	mkdir(tb, filepath.Dir(p))
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func mkdir(tb testing.TB, p string) {
	tb.Helper()
	if err := os.MkdirAll(p, 0o755); err != nil {
		tb.Fatal(err)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		_, _, line, _ := runtime.Caller(1)
		tb.Fatalf("line %d: %v", line, err)
	}
}
