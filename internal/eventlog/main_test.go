package eventlog

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/store"
)

// TestMain also runs the children that the tests start from this binary.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CTXD_EVENTLOG_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openIn(t testing.TB, dir string) *Log {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: dir})
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(s, time.Now)
}

func openTemp(t testing.TB) *Log { return openIn(t, t.TempDir()) }

// call is the draft of a usual event.
func call(channel string, n int) Draft {
	tokens := n
	return Draft{
		Workspace: "w", Channel: channel, Kind: catalog.EventToolCallRecorded, Actor: new("agent-a"),
		Payload: Payload{
			Tool: "ctx_read", Path: fmt.Sprintf("internal/store/file%d.go", n), Outcome: "ok", Capability: "ctx_read",
			CallID:      fmt.Sprintf("01932c07-1234-7abc-8def-%012x", n),
			Arguments:   fmt.Appendf(nil, `{"mode":"full","path":"internal/store/file%d.go"}`, n),
			ContentHash: fmt.Sprintf("%064x", n), Tokens: &tokens,
		},
	}
}

// add appends events, each in a job of its own, and gives them as they were stored.
func (l *Log) add(t testing.TB, drafts ...Draft) []Event {
	t.Helper()
	out := make([]Event, len(drafts))
	for i, d := range drafts {
		must(t, l.s.Write(context.Background(), func(tx *store.Tx) (err error) {
			out[i], err = l.Append(tx, d)
			return err
		}))
	}
	return out
}

// queue appends events without waiting.
func (l *Log) queue(t testing.TB, drafts ...Draft) {
	t.Helper()
	for _, d := range drafts {
		must(t, l.s.Queue(func(tx *store.Tx) error {
			_, err := l.Append(tx, d)
			return err
		}))
	}
}

// all pages through a channel.
func (l *Log) all(t testing.TB, channel string) []Event {
	t.Helper()
	out := []Event{}
	for q := (Query{Workspace: "w", Channel: channel, Limit: MaxLimit}); ; q.Since = out[len(out)-1].ID {
		page, err := l.Page(context.Background(), q)
		must(t, err)
		if out = append(out, page...); len(page) == 0 {
			return out
		}
	}
}

func ids(events []Event) []int64 {
	out := make([]int64, len(events))
	for i, e := range events {
		out[i] = e.ID
	}
	return out
}
