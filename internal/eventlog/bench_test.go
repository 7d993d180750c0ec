//go:build unix

package eventlog

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/store"
)

// cpu is the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// appendAll appends n events with that many writers, each waiting for its commit, and gives the time of one.
func appendAll(b *testing.B, l *Log, writers, n int) time.Duration {
	begun := time.Now()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n; i += writers {
				d := call("c", i)
				err := l.s.Write(context.Background(), func(tx *store.Tx) error {
					_, err := l.Append(tx, d)
					return err
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(begun) / time.Duration(n)
}

// BenchmarkAppend: 64 writers that wait for their commit, against one transaction and one sync for each event.
func BenchmarkAppend(b *testing.B) {
	alone := appendAll(b, openTemp(b), 1, 500)
	l := openTemp(b)
	b.ResetTimer()
	together := appendAll(b, l, 64, b.N)
	b.ReportMetric(float64(time.Second/together), "events/s")
	b.ReportMetric(float64(alone)/float64(together), "times-faster-than-alone")
}

// BenchmarkQueue: events that nobody waits for, as fast as they are taken; without the index, which follows when it is idle.
func BenchmarkQueue(b *testing.B) {
	l := openTemp(b)
	drafts := make([]Draft, 1000)
	for i := range drafts {
		drafts[i] = call("c", i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	for i := range b.N {
		for l.s.Queue(func(tx *store.Tx) error {
			_, err := l.Append(tx, drafts[i%len(drafts)])
			return err
		}) != nil {
			time.Sleep(time.Millisecond) // the queue is full
		}
	}
	must(b, l.s.Flush(b.Context()))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/event")
}

// BenchmarkIndex: making events searchable, in the steps of a search.
func BenchmarkIndex(b *testing.B) {
	l := openTemp(b)
	fill(b, l, b.N)
	b.ResetTimer()
	must(b, l.indexAll(b.Context()))
}

// BenchmarkSearch: a word of every event, one of few, and none, among 50 000.
func BenchmarkSearch(b *testing.B) {
	l := openTemp(b)
	fill(b, l, 50000)
	must(b, l.indexAll(b.Context()))
	for name, text := range map[string]string{"every": "ctx_read", "few": "file77.go", "none": "nothing"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := l.Search(b.Context(), SearchQuery{Text: text, Workspace: "w", Level: Full}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPage: a page of the log as JSON.
func BenchmarkPage(b *testing.B) {
	l := openTemp(b)
	fill(b, l, 1000)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		page, err := l.Page(b.Context(), Query{Workspace: "w", Channel: "c"})
		must(b, err)
		for _, e := range page {
			buf = e.AppendJSON(buf[:0], Summary)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/DefaultLimit, "ns/event")
}

func fill(b *testing.B, l *Log, n int) {
	b.Helper()
	for left := n; left > 0; left -= 500 {
		must(b, l.s.Write(b.Context(), func(tx *store.Tx) error {
			for i := range min(left, 500) {
				if _, err := l.Append(tx, call("c", left+i)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}
