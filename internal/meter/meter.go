// Package meter counts what this process does and shows it as the contract's JSON and as Prometheus text (http.md M1).
//
// It measures nothing by itself: others tell it. It imports only generated code, and everything above may import it.
package meter

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
)

// Meter holds the counters. All methods may be called by several goroutines.
type Meter struct {
	// Appended gives the events that this process has committed; nil: none. It is set before the meter is used.
	Appended func() int64

	EventsBroadcast   atomic.Int64
	EventsReplayed    atomic.Int64
	StreamsActive     atomic.Int64
	StreamsTotal      atomic.Int64
	SessionsLoaded    atomic.Int64
	SessionsPersisted atomic.Int64

	now     func() time.Time
	started time.Time
	window  window

	mu         sync.Mutex
	workspaces map[string]bool
	indexed    time.Time // of the last successful call that built an index

	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	sent     *prometheus.CounterVec
	saved    *prometheus.CounterVec
	registry *prometheus.Registry
}

// New makes a meter; the uptime counts from now.
func New(now func() time.Time) *Meter {
	m := &Meter{now: now, started: now(), workspaces: map[string]bool{}, registry: prometheus.NewRegistry()}
	m.calls = counter(catalog.MetricCtxdToolCallsTotal)
	m.sent = counter(catalog.MetricCtxdTokensSentTotal)
	m.saved = counter(catalog.MetricCtxdTokensSavedTotal)
	row := row(catalog.MetricCtxdToolCallDurationSeconds)
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: row.Name, Help: row.Help, Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
	}, row.Labels)
	m.registry.MustRegister(m.calls, m.sent, m.saved, m.duration, gauges{m})
	return m
}

func row(name string) catalog.MetricRow {
	for _, r := range catalog.Metrics {
		if r.Name == name {
			return r
		}
	}
	return catalog.MetricRow{Name: name}
}

func counter(name string) *prometheus.CounterVec {
	r := row(name)
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: r.Name, Help: r.Help}, r.Labels)
}

// Request counts a request to a /v1 route: how long until its headers were sent, and its status.
func (m *Meter) Request(d time.Duration, status int) { m.window.add(d, status >= 500) }

// Call is a finished tool call.
type Call struct {
	Tool     string // a name of the catalogue; callers must not choose it
	Outcome  string // ok | error | denied | timeout
	Duration time.Duration
	Mode     string // read mode; "" elsewhere
	Sent     int    // tokens of the text
	Raw      int    // tokens of the content that it stands for
	Indexed  bool   // it has built an index
}

// ToolCall counts a finished call.
func (m *Meter) ToolCall(c Call) {
	m.calls.WithLabelValues(c.Tool, c.Outcome).Inc()
	m.duration.WithLabelValues(c.Tool).Observe(c.Duration.Seconds())
	if c.Sent > 0 {
		m.sent.WithLabelValues(c.Mode).Add(float64(c.Sent))
	}
	if saved := c.Raw - c.Sent; saved > 0 {
		m.saved.WithLabelValues(c.Mode).Add(float64(saved))
	}
	if c.Indexed && c.Outcome == "ok" {
		m.mu.Lock()
		m.indexed = m.now()
		m.mu.Unlock()
	}
}

// Workspace notes that a workspace was called or watched.
func (m *Meter) Workspace(id string) {
	m.mu.Lock()
	m.workspaces[id] = true
	m.mu.Unlock()
}

// Snapshot gives the counters in the contract's shape.
func (m *Meter) Snapshot() schema.MetricsSnapshot {
	m.mu.Lock()
	workspaces, indexed := len(m.workspaces), m.indexed
	m.mu.Unlock()
	s := schema.MetricsSnapshot{
		EventsBroadcast:         int(m.EventsBroadcast.Load()),
		EventsReplayed:          int(m.EventsReplayed.Load()),
		SseConnectionsActive:    int(m.StreamsActive.Load()),
		SseConnectionsTotal:     int(m.StreamsTotal.Load()),
		SharedSessionsLoaded:    int(m.SessionsLoaded.Load()),
		SharedSessionsPersisted: int(m.SessionsPersisted.Load()),
		ActiveWorkspaceCount:    workspaces,
		Slo:                     m.window.snapshot(),
	}
	if m.Appended != nil {
		s.EventsAppended = int(m.Appended())
	}
	s.Slo.UptimeSeconds = int(m.now().Sub(m.started).Seconds())
	if !indexed.IsZero() {
		lag := max(m.now().Sub(indexed).Seconds(), 0)
		s.Slo.IndexLagSeconds = &lag
	}
	return s
}

// WritePrometheus writes all series in the text exposition format 0.0.4.
func (m *Meter) WritePrometheus(w io.Writer) error {
	families, err := m.registry.Gather()
	if err != nil {
		return err
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return err
		}
	}
	return nil
}
