package e2e

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/contracttest"
	"github.com/ctxd/ctxd/internal/testkit"
)

// A server that has stopped leaves no goroutine: neither of streams nor of sessions nor of calls. Not parallel: it counts.
func TestStopLeavesNothing(t *testing.T) {
	set := onData(t, testkit.Settings{"project_root": repository(t), "port": 0, "stateful_mode": true})
	here := goleak.IgnoreCurrent()
	s, err := app.Start(t.Context(), options(t, set))
	if err != nil {
		t.Fatal(err)
	}
	base := &http.Transport{}
	kit := &testkit.Server{Server: s, T: t, URL: s.URL(), Client: &http.Client{Transport: contracttest.Transport{Base: base}}}
	work(t, kit, 6)
	streams := []*testkit.Stream{kit.Follow("/v1/events"), kit.Follow("/v1/events?kind=session_mutated")}
	for range 3 {
		id := begin(t, kit)
		kit.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_tree"}}`, "Mcp-Session-Id", id)
		streams = append(streams, kit.Follow("/mcp", "Mcp-Session-Id", id))
	}
	started := time.Now()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("stopping took %v", took)
	}
	for _, st := range streams {
		ends(t, st, 20*time.Second)
		st.Close()
	}
	if err := <-s.Served(); !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	base.CloseIdleConnections()
	if err := goleak.Find(here); err != nil {
		t.Error(err)
	}
}
