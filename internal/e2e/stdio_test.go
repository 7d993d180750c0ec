package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/testkit"
)

// wire is a client on stdio that writes what it likes.
type wire struct {
	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

func wireTo(t testing.TB, in io.WriteCloser, out io.Reader) *wire {
	t.Helper()
	w := &wire{t, in, bufio.NewReader(out)}
	w.say(fmt.Sprintf(initialize, "2025-03-26"))
	if got := w.hear(); !strings.Contains(got, `"protocolVersion":"2025-03-26"`) {
		t.Fatal(got)
	}
	w.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) say(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) hear() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatalf("%q %v", line, err)
	}
	if !json.Valid([]byte(line)) {
		w.t.Fatalf("no JSON: %q", line)
	}
	return line
}

const readA = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ctx_read","arguments":{"path":"a.txt"}}}`

// On stdio every line gets its answer, whatever it is, and the session goes on.
func TestStdioLines(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		in, out := serveStdio(t, set)
		everyLine(t, wireTo(t, in, out))
	})
	testkit.Start(t, set)
	t.Run("attached", func(t *testing.T) {
		t.Parallel()
		in, out, _ := attach(t, options(t, set))
		everyLine(t, wireTo(t, in, out))
	})
}

func everyLine(t *testing.T, w *wire) {
	for _, c := range []struct{ line, want string }{
		{"garbage", `"code":-32700`},
		{"{", `"code":-32700`},
		{"\x00\xff", `"code":-32700`},
		{strings.Repeat("[", 10000), `"code":-32700`},
		{`{"jsonrpc":"2.0","id":4,"method":"ping","id":4}`, `"code":-32700`},
		{"null", `"code":-32600`},
		{"[]", `"code":-32600`},
		{"7", `"code":-32600`},
		{`{"id":5,"method":"ping"}`, `"id":5,"error":{"code":-32600`},
		{`{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"id":"x","error":{"code":-32600`},
		{`{"jsonrpc":"2.0"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","method":7,"id":6}`, `"id":6,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","method":"ping","id":{}}`, `"id":null,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","method":"ping","id":1.5}`, `"code":-32600`},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"},7]`, `"code":-32600`},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"code":-32600`},
		{`{"jsonrpc":"2.0","method":"nope","id":8}`, `"code":-32601`},
		{`{"jsonrpc":"2.0","method":"tools/call","id":9}`, `"id":9,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","method":"tools/call","id":10,"params":{"name":7}}`, `"id":10,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","method":"initialize","id":11,"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"id":11,"error"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized","id":12}`, `"id":12,"error"`},
		{strings.Repeat("x", 20<<20), `"error_code":"payload_too_large"`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", 1<<20) + `"}}`, `"id":1,"result"`},
	} {
		w.say(c.line)
		got := w.hear()
		if !strings.Contains(got, c.want) || strings.Contains(got, `"error"`) && !strings.Contains(got, `"error_code"`) || strings.Contains(got, "*mcp.") {
			t.Errorf("%.100q: %.500s", c.line, got)
		}
	}
	for _, silent := range []string{"", "  ", "\r", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","method":"nope"}`, `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`} {
		w.say(silent)
	}
	w.say(fmt.Sprintf(readA, 1000) + "\r")
	if got := w.hear(); !strings.Contains(got, `"id":1000`) || !strings.Contains(got, "five") {
		t.Errorf("after all that: %s", got)
	}
}

// A batch on stdio is answered by one line, notifications in it or not.
func TestStdioBatch(t *testing.T) {
	t.Parallel()
	in, out := serveStdio(t, onData(t, testkit.Settings{"project_root": repository(t)}))
	w := wireTo(t, in, out)
	w.say(`[` + fmt.Sprintf(readA, 1) + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}},{"jsonrpc":"2.0","method":"notifications/x"},` + fmt.Sprintf(readA, 2) + `,{"jsonrpc":"2.0","id":3,"method":"nope"}]`)
	var list []map[string]any
	if line := w.hear(); json.Unmarshal([]byte(line), &list) != nil || len(list) != 3 {
		t.Errorf("%s", line)
	}
	w.say(`[` + fmt.Sprintf(readA, 1) + `]`) // the ids are free again
	if line := w.hear(); json.Unmarshal([]byte(line), &list) != nil || len(list) != 1 {
		t.Errorf("%s", line)
	}
}

// The end of the input waits for the answers: what was asked is answered, and all of it is in the log.
func TestStdioEndOfInput(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	in, out := serveStdio(t, set)
	w := wireTo(t, in, out)
	const n = 60
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, readA+"\n", i+1)
	}
	all.WriteString(`[` + fmt.Sprintf(readA, n+1) + `,{"jsonrpc":"2.0","method":"notifications/x"}]` + "\n")
	fmt.Fprintf(&all, readA, n+2) // without an end of line
	go func() {
		_, _ = io.WriteString(in, all.String()) // the test fails if it does not get through
		_ = in.Close()
	}()
	rest, err := io.ReadAll(w.out)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n + 2 {
		if got := strings.Count(string(rest), fmt.Sprintf(`"id":%d,`, i+1)); got != 1 {
			t.Errorf("%d answers to %d", got, i+1)
		}
	}
	s := testkit.Start(t, set)
	eventually(t, func() bool { return len(history(t, s, "default")) == n+2 }) // it closes its store behind its output
}

// A call that was cancelled does not keep the session open after the end of the input.
func TestStdioCancelAndEnd(t *testing.T) {
	t.Parallel()
	b := newBlocker()
	c := compose(t, plan{tools: b.before})
	in, out := c.pipe(t)
	w := wireTo(t, in, out)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_tree"}}`)
	<-b.started
	w.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-b.ended
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 1)
	go func() {
		rest, err := io.ReadAll(w.out)
		done <- fmt.Sprint(string(rest), err)
	}()
	select {
	case rest := <-done:
		if strings.Contains(rest, `"result"`) {
			t.Errorf("%s", rest)
		}
	case <-time.After(time.Minute):
		t.Error("the session goes on")
	}
	if e := history(t, c.Server, "default")[0]; e.says("error_code") != "request_canceled" {
		t.Errorf("%+v", e)
	}
}
