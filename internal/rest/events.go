package rest

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/rest"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/eventlog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
)

// place finds workspace and channel of a request about events; channel nil is "default".
func (s *Server) place(ctx context.Context, header, query, channel *string) (workspace, ch string, err error) {
	ws, err := s.Pipeline.Locate(of(ctx).principal, action.Where{Header: header, Query: query})
	if err != nil {
		return "", "", err
	}
	ch = "default"
	if channel != nil {
		ch = *channel
	}
	if err := identity.CheckID("channelId", ch); err != nil {
		return "", "", err
	}
	s.Meter.Workspace(ws.ID())
	return ws.ID(), ch, nil
}

// level is how much of payloads the caller sees (http.md E8): what he asks for, or otherwise; full needs audit, and without
// the scope events it is refs_only.
func level(who identity.Principal, asked *string, otherwise eventlog.Level) (eventlog.Level, error) {
	l := otherwise
	if asked != nil {
		var ok bool
		if l, ok = eventlog.ParseLevel(*asked); !ok {
			return l, fault.New(catalog.InvalidRequest, "redaction is refs_only, summary or full")
		}
	}
	switch {
	case l == eventlog.Full && !who.Has(catalog.ScopeAudit):
		return l, fault.New(catalog.ScopeDenied, "redaction=full needs the scope audit, which this token does not hold")
	case !who.Has(catalog.ScopeEvents):
		return eventlog.RefsOnly, nil
	}
	return l, nil
}

// bounded is a limit as the caller gave it, clamped to a cap (http.md R4).
func bounded(name string, asked *int, otherwise, most int) (int, error) {
	if asked == nil {
		return otherwise, nil
	}
	if *asked < 1 {
		return 0, fault.New(catalog.InvalidRequest, "%s is 1 or more", name)
	}
	return min(*asked, most), nil
}

// StreamEvents opens an event stream.
func (s handlers) StreamEvents(ctx context.Context, r rest.StreamEventsRequestObject) (rest.StreamEventsResponseObject, error) {
	p := r.Params
	who := of(ctx).principal
	q, err := s.streamQuery(ctx, p)
	if err != nil {
		return nil, err
	}
	l, err := level(who, p.Redaction, eventlog.RefsOnly)
	if err != nil {
		return nil, err
	}
	leave, err := s.Streams.Open(of(ctx).key)
	if err != nil {
		return nil, err
	}
	return &stream{s: s.Server, ctx: ctx, query: q, level: l, leave: leave}, nil
}

func (s handlers) streamQuery(ctx context.Context, p rest.StreamEventsParams) (q eventlog.Query, err error) {
	if q.Workspace, q.Channel, err = s.place(ctx, p.XLeanctxWorkspace, p.WorkspaceId, p.ChannelId); err != nil {
		return q, err
	}
	for _, since := range []*int64{p.Since, p.LastEventID} {
		if since != nil && *since < 0 {
			return q, fault.New(catalog.InvalidRequest, "since and Last-Event-ID are 0 or more")
		}
		if since != nil {
			q.Since = max(q.Since, *since)
		}
	}
	if q.Limit, err = bounded("limit", p.Limit, eventlog.DefaultLimit, eventlog.MaxLimit); err != nil {
		return q, err
	}
	if p.Replay != nil {
		switch *p.Replay {
		case "all":
		case "tail":
			q.Tail = true
		default:
			return q, fault.New(catalog.InvalidRequest, "replay is all or tail")
		}
	}
	q.Kinds, err = kinds(p.Kind)
	return q, err
}

// kinds reads a list of event kinds.
func kinds(text *string) ([]catalog.EventKind, error) {
	if text == nil {
		return nil, nil
	}
	var out []catalog.EventKind
	for word := range strings.SplitSeq(*text, ",") {
		k := catalog.EventKind(word)
		if !slices.ContainsFunc(catalog.Events, func(r catalog.EventRow) bool { return r.Kind == k }) {
			return nil, fault.New(catalog.InvalidRequest, "there is no event kind %q", clip(word))
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}

// SearchEvents searches the log.
func (s handlers) SearchEvents(ctx context.Context, r rest.SearchEventsRequestObject) (rest.SearchEventsResponseObject, error) {
	p := r.Params
	ws, _, err := s.place(ctx, p.XLeanctxWorkspace, p.WorkspaceId, p.ChannelId)
	if err != nil {
		return nil, err
	}
	limit, err := bounded("limit", p.Limit, 20, 100)
	if err != nil {
		return nil, err
	}
	l, err := level(of(ctx).principal, p.Redaction, eventlog.Summary)
	if err != nil {
		return nil, err
	}
	found, truncated, err := s.Log.Search(ctx, eventlog.SearchQuery{Text: p.Q, Workspace: ws, Channel: p.ChannelId, Limit: limit, Level: l})
	if err != nil {
		return nil, err
	}
	b := []byte(`{"query":`)
	b = append(b, encodeLine(p.Q)...)
	b = append(append(b, `,"workspaceId":`...), encodeLine(ws)...)
	b = append(append(b, `,"channelId":`...), encodeLine(p.ChannelId)...)
	b = appendEvents(append(b, `,"results":`...), found, l)
	b = append(append(b, `,"count":`...), encodeLine(len(found))...)
	b = append(append(b, `,"limit":`...), encodeLine(limit)...)
	b = append(append(b, `,"truncated":`...), encodeLine(truncated)...)
	return raw{kind: "application/json", body: append(b, "}\n"...)}, nil
}

// TraceEvent follows the causes of an event.
func (s handlers) TraceEvent(ctx context.Context, r rest.TraceEventRequestObject) (rest.TraceEventResponseObject, error) {
	p := r.Params
	ws, _, err := s.place(ctx, p.XLeanctxWorkspace, p.WorkspaceId, nil)
	if err != nil {
		return nil, err
	}
	if p.Id < 1 {
		return nil, fault.New(catalog.InvalidRequest, "id is 1 or more")
	}
	depth, err := bounded("depth", p.Depth, 20, 50)
	if err != nil {
		return nil, err
	}
	l, err := level(of(ctx).principal, p.Redaction, eventlog.Summary)
	if err != nil {
		return nil, err
	}
	chain, err := s.Log.Lineage(ctx, ws, p.Id, depth)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"eventId":`), encodeLine(p.Id)...)
	b = appendEvents(append(b, `,"chain":`...), chain, l)
	b = append(append(b, `,"depth":`...), encodeLine(len(chain))...)
	return raw{kind: "application/json", body: append(b, "}\n"...)}, nil
}

func encodeLine(v any) []byte {
	b := encode(v)
	return b[:len(b)-1]
}

func appendEvents(b []byte, list []eventlog.Event, l eventlog.Level) []byte {
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.AppendJSON(b, l)
	}
	return append(b, ']')
}

// GetSummary digests a channel.
func (s handlers) GetSummary(ctx context.Context, r rest.GetSummaryRequestObject) (rest.GetSummaryResponseObject, error) {
	p := r.Params
	ws, ch, err := s.place(ctx, p.XLeanctxWorkspace, p.WorkspaceId, p.ChannelId)
	if err != nil {
		return nil, err
	}
	limit, err := bounded("limit", p.Limit, 100, 500)
	if err != nil {
		return nil, err
	}
	l, err := level(of(ctx).principal, nil, eventlog.Summary)
	if err != nil {
		return nil, err
	}
	sum, err := s.Log.Summary(ctx, ws, ch, limit, l)
	if err != nil {
		return nil, err
	}
	return object(sum), nil
}

// GetMetrics gives the counters.
func (s handlers) GetMetrics(ctx context.Context, r rest.GetMetricsRequestObject) (rest.GetMetricsResponseObject, error) {
	if err := s.anywhere(ctx, r.Params.XLeanctxWorkspace); err != nil {
		return nil, err
	}
	format := "json"
	if r.Params.Format != nil {
		format = *r.Params.Format
	}
	switch format {
	case "json":
		return object(s.Meter.Snapshot()), nil
	case "prometheus":
		var b strings.Builder
		if err := s.Meter.WritePrometheus(&b); err != nil {
			return nil, err
		}
		return raw{kind: "text/plain; version=0.0.4", body: []byte(b.String())}, nil
	}
	return nil, fault.New(catalog.InvalidRequest, "format is json or prometheus")
}
