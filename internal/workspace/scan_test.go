package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

// scanned gives what a scan finds, in the order of the walk: a path and its content, or why there is none.
func scanned(t interface{ Fatal(...any) }, w *Workspace, rel string, o ScanOptions) ([]string, Skips) {
	var mu sync.Mutex
	got := map[int]string{}
	skips, err := w.Scan(context.Background(), rel, o, func(c Content) error {
		mu.Lock()
		defer mu.Unlock()
		if _, twice := got[c.Seq]; twice {
			t.Fatal("a place is given twice: ", c.Seq)
		}
		got[c.Seq] = c.Path + "=" + string(c.Bytes)
		if c.Skip != "" {
			got[c.Seq] = c.Path + "!" + c.Skip
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range len(got) {
		list = append(list, got[i])
	}
	return list, skips
}

// walked is what scanned must equal, by Walk and Read.
func walked(t interface{ Fatal(...any) }, w *Workspace, rel string, o ScanOptions) (list []string, skips Skips) {
	skips, err := w.Walk(context.Background(), rel, WalkOptions{Hidden: o.Hidden, Ignored: o.Ignored}, func(e Entry) error {
		if e.Type != TypeFile || o.Want != nil && !o.Want(e.Path) {
			return nil
		}
		f, err := w.Read(context.Background(), e.Path, o.Max)
		if err != nil {
			list = append(list, e.Path+"!"+reasonOf(err))
			return nil
		}
		list = append(list, e.Path+"="+string(f.Bytes))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, skips
}

func TestScanIsWalkAndRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`(([a-c]|\.h|ig)/){0,3}[d-g]{1,2}(\.o)?`), 1, 30, rapid.ID[string]).Draw(rt, "names")
		for i, n := range names {
			write(t, filepath.Join(dir, n), strings.Repeat(n, i*i*i))
		}
		write(t, filepath.Join(dir, ".gitignore"), "ig\n*.o\n")
		w := openAt(t, dir)
		o := ScanOptions{
			Hidden: rapid.Bool().Draw(rt, "hidden"), Ignored: rapid.Bool().Draw(rt, "ignored"),
			Workers: rapid.IntRange(0, 5).Draw(rt, "workers"), Max: rapid.SampledFrom([]int64{0, 1, 1000, 1 << 20}).Draw(rt, "max"),
		}
		if rapid.Bool().Draw(rt, "want") {
			o.Want = func(p string) bool { return strings.HasSuffix(p, "d") }
		}
		got, skips := scanned(rt, w, ".", o)
		want, wantSkips := walked(rt, w, ".", o)
		if !slices.Equal(got, want) || fmt.Sprint(skips) != fmt.Sprint(wantSkips) {
			rt.Fatalf("%+v: %.200q %v, want %.200q %v", o, got, skips, want, wantSkips)
		}
	})
}

func TestScanSizes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "empty"), "")
	write(t, filepath.Join(dir, "most"), strings.Repeat("x", 3<<20))
	write(t, filepath.Join(dir, "over"), strings.Repeat("x", 3<<20+1))
	got, _ := scanned(t, openAt(t, dir), ".", ScanOptions{Max: 3 << 20})
	if len(got) != 3 || got[0] != "empty=" || len(got[1]) != 3<<20+5 || got[2] != "over!too_large" {
		t.Errorf("%.40q", got)
	}
	got, skips := scanned(t, openAt(t, t.TempDir()), ".", ScanOptions{})
	if len(got) != 0 || len(skips) != 0 {
		t.Error(got, skips)
	}
}

// A scan that ends early, whoever ends it, leaves no file open and no goroutine behind.
func TestScanEndsEarly(t *testing.T) {
	t.Parallel()
	w := tree(t, names(300)...)
	enough := errors.New("enough")
	for range 20 {
		var n atomic.Int64
		if _, err := w.Scan(t.Context(), ".", ScanOptions{}, func(Content) error {
			if n.Add(1) > 10 {
				return enough
			}
			return nil
		}); !errors.Is(err, enough) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := w.Scan(ctx, ".", ScanOptions{}, func(Content) error {
			cancel()
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if n := held(w.Root()); n > 1 {
		t.Errorf("%d descriptors are left", n)
	}
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("d%d/f%d", i%7, i))
	}
	return list
}

func TestIsPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(rapid.SampledFrom([]string{"", bom8, bomLE, bomBE, "a\x00", strings.Repeat("x", 8000) + "\x00"}).Draw(t, "head"))
		b = append(b, rapid.SampledFrom([]string{"", "é", "\xe9", "plain", "\xff\xff\xff"}).Draw(t, "tail")...)
		text, ok := Decode(b)
		same := ok && text.Lossless && text.Content == strings.TrimPrefix(string(b), bom8)
		if IsPlain(b) != same {
			t.Fatalf("%q: %v, decoded to %q (%v)", b, IsPlain(b), text.Content, ok)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	w := openAt(b, goroot.Src(b))
	for b.Loop() {
		var bytes atomic.Int64
		if _, err := w.Scan(b.Context(), ".", ScanOptions{Hidden: true}, func(c Content) error {
			bytes.Add(int64(len(c.Bytes)))
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(bytes.Load())
	}
}
