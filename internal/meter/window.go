package meter

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/gen/schema"
)

// windowSize is how many requests the rolling signals look back on (metrics of http-mcp-contract-v1).
const windowSize = 4096

// window keeps the latency and the outcome of the newest requests in a ring.
type window struct {
	mu       sync.Mutex
	requests int
	failures int
	ring     [windowSize]sample
}

type sample struct {
	took   time.Duration
	failed bool
}

func (w *window) add(d time.Duration, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ring[w.requests%windowSize] = sample{d, failed}
	w.requests++
	if failed {
		w.failures++
	}
}

func (w *window) snapshot() schema.SloSnapshot {
	w.mu.Lock()
	n := min(w.requests, windowSize)
	samples := slices.Clone(w.ring[:n])
	s := schema.SloSnapshot{RequestsTotal: w.requests, ErrorsTotal: w.failures, WindowLen: n, AvailabilityPct: 100}
	w.mu.Unlock()
	if n == 0 {
		return s
	}
	slices.SortFunc(samples, func(a, b sample) int { return int(a.took - b.took) })
	good := 0
	for _, x := range samples {
		if !x.failed {
			good++
		}
	}
	s.P50Ms, s.P95Ms, s.P99Ms = rank(samples, 0.50), rank(samples, 0.95), rank(samples, 0.99)
	s.AvailabilityPct = 100 * float64(good) / float64(n)
	return s
}

// rank is the nearest-rank percentile of sorted samples, in milliseconds.
func rank(sorted []sample, p float64) float64 {
	i := int(math.Ceil(p*float64(len(sorted)))) - 1
	return float64(sorted[max(i, 0)].took.Microseconds()) / 1000
}
