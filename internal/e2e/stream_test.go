package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/rest"
	"github.com/ctxd/ctxd/internal/testkit"
)

// work makes n calls, of which every third changes something: 4 events for 3 calls.
func work(t testing.TB, s *testkit.Server, n int) {
	t.Helper()
	for i := range n {
		body := `{"name":"ctx_session"}`
		if i%3 == 2 {
			body = fmt.Sprintf(`{"name":"ctx_session","arguments":{"action":"finding","value":"finding %d"}}`, i)
		}
		if a := s.Call(body); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
}

func ids(list []event) (out []int64) {
	for _, e := range list {
		out = append(out, e.ID)
	}
	return out
}

func take(t testing.TB, stream *testkit.Stream, n int) (list []event) {
	t.Helper()
	for range n {
		list = append(list, next(t, stream))
	}
	return list
}

// E5: a stream gives everything after since, whatever its limit, once and in order, and goes on with what comes.
func TestE5Replay(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	work(t, s, 30)
	all := history(t, s, "default")
	if len(all) != 40 {
		t.Fatalf("%d events", len(all))
	}
	middle, late := all[20].ID, all[35].ID
	for name, c := range map[string]struct {
		query string
		lasts string // Last-Event-ID
		want  []event
	}{
		"all":                    {"", "", all},
		"limit 1":                {"?limit=1", "", all},
		"limit 7":                {"?limit=7", "", all},
		"a huge limit":           {"?limit=1000000000", "", all},
		"since":                  {fmt.Sprintf("?since=%d&limit=3", middle), "", all[21:]},
		"since 0":                {"?since=0", "", all},
		"Last-Event-ID":          {"?limit=1", fmt.Sprint(middle), all[21:]},
		"Last-Event-ID is later": {fmt.Sprintf("?since=%d", middle), fmt.Sprint(late), all[36:]},
		"since is later":         {fmt.Sprintf("?since=%d", late), fmt.Sprint(middle), all[36:]},
		"since the end":          {fmt.Sprintf("?since=%d", all[39].ID), "", nil},
		"since the future":       {"?since=9000000000000000000", "", nil},
		"tail":                   {"?replay=tail&limit=3", "", all[37:]},
		"tail and since":         {fmt.Sprintf("?replay=tail&limit=30&since=%d", late), "", all[36:]},
		"replay all":             {"?replay=all&limit=2", "", all},
		"one kind":               {"?kind=session_mutated&limit=1", "", kind(all, "session_mutated")},
		"two kinds":              {"?kind=session_mutated,tool_call_recorded&limit=4", "", all},
		"a kind twice":           {"?kind=session_mutated,session_mutated", "", kind(all, "session_mutated")},
		"a kind that none has":   {"?kind=proof_added", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var headers []string
			if c.lasts != "" {
				headers = []string{"Last-Event-ID", c.lasts}
			}
			stream := s.Follow("/v1/events"+c.query, headers...)
			if got := take(t, stream, len(c.want)); !slices.Equal(ids(got), ids(c.want)) {
				t.Errorf("%v, want %v", ids(got), ids(c.want))
			}
		})
	}
	t.Run("live", func(t *testing.T) {
		t.Parallel()
		other := testkit.Start(t, nil)
		every := other.Follow("/v1/events")
		mutations := other.Follow("/v1/events?kind=session_mutated&since=0")
		elsewhere := other.Follow("/v1/events?channelId=other")
		work(t, other, 9)
		if got := take(t, every, 12); len(kind(got, "session_mutated")) != 3 || !slices.IsSorted(ids(got)) {
			t.Errorf("%v", got)
		}
		take(t, mutations, 3)
		other.Call(`{"name":"ctx_session","channelId":"other"}`)
		if e := next(t, elsewhere); e.Channel != "other" || e.Version != 1 {
			t.Errorf("%+v", e)
		}
	})
}

func kind(list []event, name string) []event {
	return slices.DeleteFunc(slices.Clone(list), func(e event) bool { return e.Kind != name })
}

// E7: the frames byte by byte, the headers at once, and comments while nothing happens.
func TestE7Frames(t *testing.T) {
	t.Parallel()
	c := compose(t, plan{rest: func(r *rest.Config) { r.KeepAlive = 30 * time.Millisecond; r.WriteTimeout = 50 * time.Millisecond }})
	resp, err := c.Client.Get(c.URL + "/v1/events?channelId=quiet") // an empty store: only the headers can come
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Content-Length": ""} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	lines := bufio.NewReader(resp.Body)
	read := func() string {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	for range 5 { // longer than a client may take to accept a piece: silence is not slowness
		if a, b := read(), read(); a != ": keep-alive\n" || b != "\n" {
			t.Fatalf("%q %q", a, b)
		}
	}
	c.Call(`{"name":"ctx_session","channelId":"quiet"}`)
	var frame []string
	for line := ""; line != "\n" || len(frame) == 0; {
		if line = read(); strings.HasPrefix(line, ":") {
			read()
			continue
		}
		frame = append(frame, line)
	}
	if len(frame) != 4 || !strings.HasPrefix(frame[0], "id: ") || frame[1] != "event: tool_call_recorded\n" || !strings.HasPrefix(frame[2], `data: {"id":`) || strings.Contains(strings.Join(frame, ""), "\r") {
		t.Errorf("%q", frame)
	}
	for _, want := range []string{`"actor":null`, `"parentId":null`, `"channelId":"quiet"`} {
		if !strings.Contains(frame[2], want) {
			t.Errorf("no %s in %s", want, frame[2])
		}
	}
}

// A client that reads no more is cut off, and frees its place.
func TestReaderThatStops(t *testing.T) {
	t.Parallel()
	c := compose(t, plan{buffer: 4 << 10, rest: func(r *rest.Config) { r.WriteTimeout = 100 * time.Millisecond }})
	conn := dial(t, c.Server)
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /v1/events?redaction=full HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return c.engine.Meter.StreamsActive.Load() == 1 })
	long := strings.Repeat("x", 4000)
	eventually(t, func() bool { // until the buffers between are full
		for range 20 {
			c.Call(`{"name":"ctx_read","arguments":{"path":"` + long[:3900] + `"}}`)
		}
		return c.engine.Meter.StreamsActive.Load() == 0
	})
	if s := c.Logs.String(); strings.Contains(s, "level=ERROR") {
		t.Errorf("a client that goes is no fault of ours: %s", s)
	}
}

// E5: a server that stops ends its streams soon; after its restart they go on from the last id, without loss or repeat.
func TestE5StopAndResume(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	var got []int64
	last := "0"
	for round := range 4 {
		s := testkit.Start(t, set)
		stream := s.Follow("/v1/events?limit=2", "Last-Event-ID", last)
		for _, e := range take(t, stream, min(round, 1)*4) { // what was written while it was cut off
			got = append(got, e.ID)
		}
		work(t, s, 6)
		for _, e := range take(t, stream, 4) { // not all: the rest comes after the restart
			got = append(got, e.ID)
			last = fmt.Sprint(e.ID)
		}
		started := time.Now()
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(started); took > 25*time.Second {
			t.Errorf("stopping took %v", took)
		}
		ends(t, stream, 20*time.Second)
	}
	s := testkit.Start(t, set)
	want := ids(history(t, s, "default"))
	if len(got) != 28 || !slices.Equal(got, want[:28]) {
		t.Errorf("%v, want %v", got, want)
	}
}
