package tool

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/tool"
)

// settle makes a file old enough for the cache to trust its times.
func settle(t testing.TB, name string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	time.Sleep(60 * time.Millisecond) // the time of the change itself cannot be set
}

// T8, case 3: what was changed behind the cache's back is seen by the next read, however it was hidden.
func TestT8Cache(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, file string){
		"same size, time restored": func(t *testing.T, file string) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			rewrite(t, file, "two\n")
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"renamed over": func(t *testing.T, file string) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			rewrite(t, file+".new", "two\n")
			if err := os.Chtimes(file+".new", info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		},
		"deleted and made anew": func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			rewrite(t, file, "two\n")
		},
		"rewritten": func(t *testing.T, file string) { rewrite(t, file, "two\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			file := b.write("f.txt", "one\n")
			settle(t, file)
			for i := range 3 {
				a := b.read(t, readOf("f.txt", "full", 20000, ""))
				if !strings.Contains(a.Text, "one\n") || i > 0 && a.Source != "cache" || i == 0 && a.Source != "disk" {
					t.Errorf("%d: %s %s", i, a.Source, a.Text)
				}
			}
			change(t, file)
			for _, mode := range []string{"full", "lines:1", "reference", "auto"} {
				if a := b.read(t, readOf("f.txt", mode, 20000, "")); !strings.Contains(a.Text, "two") && mode != "reference" || strings.Contains(a.Text, "one") {
					t.Errorf("%s: %s", mode, a.Text)
				}
			}
		})
	}
}

func rewrite(t testing.TB, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// T8: two edits within one tick of the file system's clock.
func TestT8EditsInOneTick(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 300 {
		want := fmt.Sprintf("%04d\n", i)
		b.write("f.txt", want)
		for range 2 {
			if a := b.read(t, readOf("f.txt", "full", 20000, "")); a.Text != "f.txt 1L\n"+want {
				t.Fatalf("%d: %q", i, a.Text)
			}
		}
	}
}

// Case 2: after any mode, any other gives what a cold read gives, byte by byte (T3: the same content and arguments give the
// same bytes).
func TestT3T8EveryPairOfModes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := b.write("f.go", "package f\n\n"+strings.Repeat("// F does something of which a line tells.\nfunc F() {}\n\n", 60))
	settle(t, file)
	one, two := 1, 2
	inputs := map[string]tool.CtxReadInput{
		"full": readOf("f.go", "full", 20000, ""), "auto": readOf("f.go", "auto", 20000, ""), "reference": readOf("f.go", "reference", 20000, ""),
		"lines": readOf("f.go", "lines:3-9,20", 20000, ""), "cut": readOf("f.go", "full", 200, ""), "cut lines": readOf("f.go", "lines:1-", 200, ""),
		"window": {Path: ptr("f.go"), Mode: "auto", StartLine: &one, EndLine: &two, MaxTokens: 20000}, "fresh": {Path: ptr("f.go"), Mode: "full", Fresh: true, MaxTokens: 20000},
		"several": {Paths: []string{"f.go", "f.go"}, Mode: "full", MaxTokens: 20000}, "listed": {Paths: []string{"f.go"}, Mode: "full", MaxTokens: 20000},
	}
	cold := map[string]string{}
	for name, in := range inputs {
		a, err := New(nil).CtxRead(context.Background(), b.call, in)
		if err != nil {
			t.Fatal(err)
		}
		cold[name] = a.Text + string(encoded(t, a.Output)) + fmt.Sprint(a.Mode, a.Fidelity, a.Omitted, a.Truncated, a.Next, a.RawTokens, a.Revision)
	}
	for before := range inputs {
		for after, in := range inputs {
			b.tools = New(nil)
			b.read(t, inputs[before])
			for range 2 {
				a := b.read(t, in)
				if got := a.Text + string(encoded(t, a.Output)) + fmt.Sprint(a.Mode, a.Fidelity, a.Omitted, a.Truncated, a.Next, a.RawTokens, a.Revision); got != cold[after] {
					t.Errorf("%s after %s: %s\ncold: %s", after, before, got, cold[after])
				}
			}
		}
	}
}

func ptr(s string) *string { return &s }
