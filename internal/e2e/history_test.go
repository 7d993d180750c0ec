package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// event is an entry of the log as a stream shows it.
type event struct {
	ID       int64          `json:"id"`
	Kind     string         `json:"kind"`
	Channel  string         `json:"channelId"`
	Actor    *string        `json:"actor"`
	ParentID *int64         `json:"parentId"`
	Version  int64          `json:"version"`
	Payload  map[string]any `json:"payload"`
}

func (e event) says(key string) string {
	if e.Payload[key] == nil {
		return ""
	}
	return fmt.Sprint(e.Payload[key])
}

// history is what the log of a channel holds, oldest first. Headers come in pairs.
func history(t testing.TB, s *testkit.Server, channel string, headers ...string) []event {
	t.Helper()
	var sum struct {
		Total int `json:"totalEvents"`
	}
	s.Get("/v1/context/summary?channelId="+channel, headers...).Decode(t, &sum)
	if sum.Total == 0 {
		return nil
	}
	stream := s.Follow("/v1/events?redaction=full&limit=1000&channelId="+channel, headers...)
	defer stream.Close()
	var list []event
	for len(list) < sum.Total {
		list = append(list, next(t, stream))
	}
	return list
}

// recorded is the history behind a door, once it has n events: what another process has queued, a read does not wait for.
func recorded(t testing.TB, d door, channel string, n int) (list []event) {
	t.Helper()
	s := d.Observer(t)
	eventually(t, func() bool {
		list = history(t, s, channel)
		return len(list) >= n
	})
	return list
}

// next waits for the next event of a stream.
func next(t testing.TB, stream *testkit.Stream) (e event) {
	t.Helper()
	f, ok := stream.Next()
	if !ok {
		t.Fatal("the stream has ended")
	}
	if err := json.Unmarshal([]byte(f.Data), &e); err != nil {
		t.Fatalf("%v in %s", err, f.Data)
	}
	if fmt.Sprint(e.ID) != f.ID || e.Kind != f.Event {
		t.Fatalf("the frame %s %s holds the event %d %s", f.ID, f.Event, e.ID, e.Kind)
	}
	return e
}
