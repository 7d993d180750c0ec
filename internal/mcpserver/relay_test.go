package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// half is a connection within the process whose two directions end apart, as those of a socket do.
type half struct {
	*io.PipeReader
	w *io.PipeWriter
}

func (h half) Write(b []byte) (int, error) { return h.w.Write(b) }
func (h half) CloseWrite() error           { return h.w.Close() }
func (h half) Close() error                { return errors.Join(h.w.Close(), h.PipeReader.Close()) }

func pair() (half, half) {
	aR, aW := io.Pipe()
	bR, bW := io.Pipe()
	return half{aR, bW}, half{bR, aW}
}

// mortal answers so many requests, then reads so many more without an answer, and dies, perhaps in the middle of an answer.
// It counts its greetings.
type mortal struct {
	answers, silent int
	torn            bool
	owes            bool
	greeted, ready  int
}

func (m *mortal) serve(c half) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil {
			return
		}
		switch req.Method {
		case "initialize":
			m.greeted++
		case "notifications/initialized":
			m.ready++
			continue
		case "other":
			if m.owes {
				return
			}
		}
		if req.Method == "call" {
			if m.answers == 0 && m.silent == 0 {
				if m.torn {
					fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%s,"res`, req.ID)
				}
				return
			}
			if m.answers == 0 {
				m.silent, m.owes = m.silent-1, true
				continue
			}
			m.answers--
		}
		fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%s,"result":{"of":%q}}`+"\n", req.ID, req.Method)
	}
}

// Whenever servers die, each request gets one answer, the greeting among them, and each server is greeted once and first.
func TestRelayOutlivesServers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *mortal {
			return &mortal{answers: rapid.IntRange(0, 3).Draw(t, "answers"), silent: rapid.IntRange(0, 2).Draw(t, "silent"), torn: rapid.Bool().Draw(t, "torn")}
		}), 0, 4).Draw(t, "servers")
		servers = append(servers, &mortal{answers: 1 << 20}) // the last one lives
		calls := rapid.IntRange(0, 20).Draw(t, "calls")
		used := 0
		done := make(chan struct{}, len(servers))
		next := func(context.Context) (Peer, error) {
			a, b := pair()
			m := servers[used]
			used++
			go func() { m.serve(b); done <- struct{}{} }()
			return a, nil
		}
		first, _ := next(t.Context())
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			err := (&Relay{Next: next}).Run(context.Background(), first, inR, outW)
			_ = outW.Close()
			ended <- err
		}()
		go func() {
			fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":"h\u0065llo","method":"initialize"}`)
			fmt.Fprintln(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			for i := range calls {
				fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%d,"method":"call"}`+"\n", i)
			}
			fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":"end","method":"other"}`)
		}()
		answers := map[string]int{}
		lines := bufio.NewScanner(outR)
		for len(answers) < calls+2 && lines.Scan() {
			var a struct {
				ID     json.RawMessage `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  json.RawMessage `json:"error"`
			}
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				t.Fatalf("%v in %q", err, lines.Text())
			}
			if (a.Result == nil) == (a.Error == nil) || a.Error != nil && !strings.Contains(string(a.Error), `"internal"`) {
				t.Fatalf("%s", lines.Text())
			}
			if string(a.ID) == `"hello"` && a.Result == nil {
				t.Fatalf("the greeting failed: %s", lines.Text())
			}
			answers[string(a.ID)]++
		}
		_ = inW.Close()
		for lines.Scan() {
			t.Fatalf("one more: %s", lines.Text())
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		for id, n := range answers {
			if n != 1 {
				t.Fatalf("%d answers to %s", n, id)
			}
		}
		for range used {
			<-done
		}
		for i, m := range servers[:used] {
			if m.greeted > 1 || m.ready > 1 || i == used-1 && m.greeted != 1 {
				t.Fatalf("server %d was greeted %d and %d times", i, m.greeted, m.ready)
			}
		}
	})
}

// What was asked before the last word and has no answer when the server dies is told; and a client that does not read ends it.
func TestRelayEnds(t *testing.T) {
	t.Parallel()
	run := func(serve func(half), in string, out io.WriteCloser) error {
		a, b := pair()
		go serve(b)
		r := Relay{Next: func(context.Context) (Peer, error) { return nil, errors.New("no other") }}
		return r.Run(t.Context(), a, io.NopCloser(strings.NewReader(in)), out)
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"call"}` + "\n"
	var told lines
	err := run(func(c half) { _, _ = io.ReadAll(c); c.Close() }, call, &told)
	if !errors.Is(err, ErrPeerEnded) || !strings.Contains(told.String(), `"id":1,"error"`) {
		t.Errorf("%v %s", err, told.String())
	}
	err = run((&mortal{answers: 1}).serve, call, closedPipe{})
	if !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	told = lines{}
	long := strings.Repeat("x", maxLine+1) + "\n"
	if err = run((&mortal{answers: 1}).serve, long+call, &told); err != nil {
		t.Error(err)
	}
	if got := told.String(); !strings.Contains(got, "payload_too_large") || !strings.Contains(got, `"result"`) {
		t.Error(got)
	}
}

type lines struct{ strings.Builder }

func (*lines) Close() error { return nil }

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, net.ErrClosed }
func (closedPipe) Close() error              { return nil }
