package meter

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/ctxd/ctxd/gen/catalog"
)

func clock(t *testing.T) (func() time.Time, *time.Time) {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time { return now }, &now
}

// M1: nearest rank over the newest 4 096.
func TestM1Window(t *testing.T) {
	t.Parallel()
	now, _ := clock(t)
	m := New(now)
	if s := m.Snapshot().Slo; s.AvailabilityPct != 100 || s.P99Ms != 0 || s.IndexLagSeconds != nil {
		t.Errorf("an empty window: %+v", s)
	}
	for i := 1; i <= 100; i++ {
		m.Request(time.Duration(i)*time.Millisecond, map[bool]int{true: 503, false: 404}[i <= 2])
	}
	s := m.Snapshot().Slo
	if s.P50Ms != 50 || s.P95Ms != 95 || s.P99Ms != 99 || s.AvailabilityPct != 98 || s.ErrorsTotal != 2 || s.RequestsTotal != 100 {
		t.Errorf("%+v", s)
	}
	for range windowSize {
		m.Request(time.Millisecond, 200)
	}
	if s = m.Snapshot().Slo; s.WindowLen != windowSize || s.P99Ms != 1 || s.AvailabilityPct != 100 || s.ErrorsTotal != 2 {
		t.Errorf("%+v", s)
	}
}

func TestM1IndexLagAndUptime(t *testing.T) {
	t.Parallel()
	now, at := clock(t)
	m := New(now)
	m.ToolCall(Call{Tool: "ctx_graph", Outcome: "error", Indexed: true})
	if m.Snapshot().Slo.IndexLagSeconds != nil {
		t.Error("a failed build counts")
	}
	m.ToolCall(Call{Tool: "ctx_graph", Outcome: "ok", Indexed: true})
	m.Workspace("a")
	m.Workspace("a")
	*at = at.Add(41 * time.Second)
	s := m.Snapshot()
	if s.Slo.IndexLagSeconds == nil || *s.Slo.IndexLagSeconds != 41 || s.Slo.UptimeSeconds != 41 || s.ActiveWorkspaceCount != 1 {
		t.Errorf("%+v", s)
	}
}

// M1: the Prometheus text can be read back, and holds the series of the catalogue and no other, each with its type and help.
func TestM1Prometheus(t *testing.T) {
	t.Parallel()
	now, _ := clock(t)
	m := New(now)
	m.ToolCall(Call{Tool: "ctx_read", Outcome: "ok", Mode: "reference", Sent: 10, Raw: 110, Indexed: true, Duration: time.Millisecond})
	m.Request(18*time.Millisecond, 200)
	var b bytes.Buffer
	if err := m.WritePrometheus(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range catalog.Metrics {
		f := families[r.Name]
		if r.Surface != "prometheus" {
			continue
		}
		if f == nil {
			t.Errorf("%s is not there", r.Name)
			continue
		}
		if f.GetHelp() != r.Help || !strings.EqualFold(f.GetType().String(), r.Type) {
			t.Errorf("%s: %s %q", r.Name, f.GetType(), f.GetHelp())
		}
		delete(families, r.Name)
	}
	for name := range families {
		t.Errorf("%s is not in the catalogue", name)
	}
	for _, line := range []string{"leanctx_team_request_duration_p50_ms 18\n", `ctxd_tokens_saved_total{mode="reference"} 100` + "\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}
