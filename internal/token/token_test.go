package token

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 0, "hello world": 2, "tiktoken is great!": 6, "\n\n\n": 1} {
		got, err := Count(t.Context(), in)
		if err != nil || got != want {
			t.Errorf("Count(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
}

// Splitting does not change a count, on real source.
func TestSplittingIsExact(t *testing.T) {
	t.Parallel()
	c, err := codec()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"net/http/h2_bundle.go", "net/http/server.go", "unicode/tables.go", "cmd/compile/internal/ssa/rewriteAMD64.go"} {
		b, err := os.ReadFile(filepath.Join(goroot.Src(t), name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		s := string(b[:min(len(b), 600<<10)])
		want, err := c.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Count(t.Context(), s); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, want)
		}
	}
}

func TestCountEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Count(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// No text takes more than its length's worth of time.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{strings.Repeat("a", 1<<18), strings.Repeat(" ", 1<<18), strings.Repeat("\n", 1<<18), strings.Repeat("世", 1<<16), strings.Repeat("\xff", 1<<16), strings.Repeat("0", 1<<18)} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if n, err := Count(ctx, s); err != nil || n == 0 {
			t.Errorf("%.8q: %d, %v", s, n, err)
		}
		cancel()
	}
}

func BenchmarkCount(b *testing.B) {
	s := strings.Repeat("func (s *Server) Serve(l net.Listener) error { return nil }\n", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if _, err := Count(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
}
