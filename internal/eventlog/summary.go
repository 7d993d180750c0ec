package eventlog

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// Bounds of a summary (E12).
const (
	DefaultSummaryLimit = 100
	MaxSummaryLimit     = 500

	activeFor       = 30 * time.Minute
	recentDecisions = 10
)

// Summary digests a workspace and channel: totals of all events that ever were, and the newest events (n of them: 100 when
// below 1, at most 500). At refs_only it names agents and tools but nothing of what they did: no actions, reasoning,
// categories or keys. Fails like Page.
func (l *Log) Summary(ctx context.Context, workspace, channel string, n int, level Level) (schema.ContextSummary, error) {
	out := schema.ContextSummary{
		WorkspaceID: workspace, ChannelID: channel,
		ActiveAgents: []string{}, RecentDecisions: []schema.RecentDecision{}, KnowledgeDelta: []schema.KnowledgeChange{},
		ConflictAlerts: []schema.ConflictAlert{}, EventCountsByKind: make(map[string]int, len(catalog.Events)),
	}
	for _, row := range catalog.Events {
		out.EventCountsByKind[string(row.Kind)] = 0
	}
	if err := checkScope(workspace, channel); err != nil {
		return out, err
	}
	if err := l.flush(ctx); err != nil {
		return out, err
	}
	active := l.now().Add(-activeFor)
	err := l.s.Read(ctx, func(r *store.Reader) error {
		if err := readTotals(r, &out, active); err != nil {
			return err
		}
		q := Query{Workspace: workspace, Channel: channel, Limit: limit(n, DefaultSummaryLimit, MaxSummaryLimit)}
		p, err := readPage(r, q, 0, true)
		if err != nil {
			return err
		}
		return digest(&out, p.events, level)
	})
	return out, err
}

// readTotals counts by kind and finds who was active after the given time.
func readTotals(r *store.Reader, out *schema.ContextSummary, active time.Time) error {
	rows, err := r.Query(`SELECT t.kind, t.actor, t.total, t.last_at FROM stream s JOIN tally t ON t.stream = s.id
		WHERE s.workspace = ? AND s.channel = ?`, out.WorkspaceID, out.ChannelID)
	if err != nil {
		return err
	}
	for rows.Next() {
		var kind, actor string
		var total int
		var last time.Time
		if err := rows.Scan(&kind, &actor, &total, &last); err != nil {
			return err
		}
		out.EventCountsByKind[kind] += total
		out.TotalEvents += total
		if actor != "" && !last.Before(active) {
			out.ActiveAgents = append(out.ActiveAgents, actor)
		}
	}
	out.LatestVersion = out.TotalEvents // versions have neither holes nor repeats
	slices.Sort(out.ActiveAgents)
	out.ActiveAgents = slices.Compact(out.ActiveAgents)
	return rows.Err()
}

// told is what a summary tells of a payload.
type told struct {
	Tool      string  `json:"tool"`
	Action    *string `json:"action"`
	Category  string  `json:"category"`
	Key       string  `json:"key"`
	Reasoning *string `json:"reasoning"`
}

// digest fills in what the newest events tell, oldest first.
func digest(out *schema.ContextSummary, events []Event, level Level) error {
	for _, e := range events {
		mutation := kinds[e.Kind].Mutation
		if mutation == "" {
			continue
		}
		var p told
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return fault.New(catalog.Internal, "the payload of event %d cannot be read", e.ID).With(err)
		}
		if level == RefsOnly {
			p = told{Tool: p.Tool}
		}
		at := e.Time.Format(timeLayout)
		out.RecentDecisions = append(out.RecentDecisions, schema.RecentDecision{
			Agent: e.Actor, Tool: p.Tool, Action: p.Action, Reasoning: p.Reasoning, Timestamp: at,
		})
		if mutation == "knowledge" && level != RefsOnly {
			out.KnowledgeDelta = append(out.KnowledgeDelta, schema.KnowledgeChange{
				Agent: e.Actor, Category: p.Category, Key: p.Key, Timestamp: at,
			})
		}
	}
	if n := len(out.RecentDecisions); n > recentDecisions {
		out.RecentDecisions = out.RecentDecisions[n-recentDecisions:]
	}
	out.ConflictAlerts = conflicts(out.KnowledgeDelta)
	return nil
}

// conflicts are the entries that more than one agent wrote, sorted. Whether they wrote the same is not in the log.
func conflicts(changes []schema.KnowledgeChange) []schema.ConflictAlert {
	type entry struct{ category, key string }
	agents := map[entry][]string{}
	for _, c := range changes {
		e := entry{c.Category, c.Key}
		if c.Agent != nil && !slices.Contains(agents[e], *c.Agent) {
			agents[e] = append(agents[e], *c.Agent)
		}
	}
	alerts := []schema.ConflictAlert{}
	for e, names := range agents {
		if len(names) > 1 {
			slices.Sort(names)
			alerts = append(alerts, schema.ConflictAlert{Category: e.category, Key: e.key, Agents: names})
		}
	}
	slices.SortFunc(alerts, func(a, b schema.ConflictAlert) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Key, b.Key))
	})
	return alerts
}
