package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/testkit/goroot"
	"github.com/ctxd/ctxd/internal/workspace"
)

// BenchmarkWatchStart is the time until the first batch, on the sources of Go; "x-walk" is its ratio to a walk of names.
func BenchmarkWatchStart(b *testing.B) {
	w := openAt(b, goroot.Src(b))
	for name, o := range map[string]Options{"hear": {}, "check": {Checking: true}} {
		b.Run(name, func(b *testing.B) {
			var ours, floor time.Duration
			for b.Loop() {
				ctx, cancel := context.WithCancel(context.Background())
				start := time.Now()
				batches := Changes(ctx, w, o)
				<-batches
				ours += time.Since(start)
				b.StopTimer()
				cancel()
				for range batches {
				}
				start = time.Now()
				if _, err := w.Walk(context.Background(), ".", workspace.WalkOptions{Hidden: true}, func(workspace.Entry) error { return nil }); err != nil {
					b.Fatal(err)
				}
				floor += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(float64(ours)/float64(floor), "x-walk")
		})
	}
}

// BenchmarkTold is the time from a write to its batch; most of it is waiting for more to come.
func BenchmarkTold(b *testing.B) {
	w := openAt(b, b.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	batches := Changes(ctx, w, Options{})
	defer func() {
		cancel()
		for range batches {
		}
	}()
	<-batches
	for b.Loop() {
		if err := os.WriteFile(filepath.Join(w.Root(), "a"), []byte("x"), 0o644); err != nil {
			b.Fatal(err)
		}
		<-batches
	}
}
