package meter

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ctxd/ctxd/gen/catalog"
)

// gauges shows a snapshot as Prometheus series.
type gauges struct{ m *Meter }

// values are the series that a snapshot gives; a series that is not there has no value yet.
func (g gauges) values() map[string]float64 {
	s := g.m.Snapshot()
	v := map[string]float64{
		catalog.MetricLeanctxTeamRequestDurationP50Ms: s.Slo.P50Ms,
		catalog.MetricLeanctxTeamRequestDurationP95Ms: s.Slo.P95Ms,
		catalog.MetricLeanctxTeamRequestDurationP99Ms: s.Slo.P99Ms,
		catalog.MetricLeanctxTeamAvailabilityPct:      s.Slo.AvailabilityPct,
		catalog.MetricLeanctxTeamUptimeSeconds:        float64(s.Slo.UptimeSeconds),
		catalog.MetricLeanctxTeamRequestsTotal:        float64(s.Slo.RequestsTotal),
		catalog.MetricLeanctxTeamErrorsTotal:          float64(s.Slo.ErrorsTotal),
		catalog.MetricCtxdEventsAppendedTotal:         float64(s.EventsAppended),
		catalog.MetricCtxdEventsReplayedTotal:         float64(s.EventsReplayed),
		catalog.MetricCtxdEventStreams:                float64(s.SseConnectionsActive),
	}
	if s.Slo.IndexLagSeconds != nil {
		v[catalog.MetricLeanctxTeamIndexLagSeconds] = *s.Slo.IndexLagSeconds
	}
	return v
}

// Describe says nothing: which series there are depends on what has happened.
func (g gauges) Describe(chan<- *prometheus.Desc) {}

// Collect gives the series, with the help that the catalogue has for them.
func (g gauges) Collect(ch chan<- prometheus.Metric) {
	for name, v := range g.values() {
		r := row(name)
		kind := prometheus.GaugeValue
		if r.Type == "counter" {
			kind = prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(r.Name, r.Help, nil, nil), kind, v)
	}
}
