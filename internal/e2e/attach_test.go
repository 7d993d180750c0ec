package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/socket"
	"github.com/ctxd/ctxd/internal/testkit"
)

// Two agents attached to one server: who follows it sees what both do.
func TestAttachTwo(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	s := testkit.Start(t, set)
	live := s.Follow("/v1/events")
	for i := range 2 {
		in, out, _ := attach(t, options(t, set))
		w := wireTo(t, in, out)
		for id := range 2 {
			w.say(fmt.Sprintf(readA, id))
			if got := w.hear(); !strings.Contains(got, "five") {
				t.Errorf("agent %d, call %d: %s", i, id, got)
			}
			if f, ok := live.Next(); !ok || !strings.Contains(f.Data, `"ctx_read"`) {
				t.Errorf("%v %v", f, ok)
			}
		}
		if _, r := ask(t, set, socket.Ask{Want: socket.Status}); r.Server == nil || r.Server.Attached != i+1 || r.Server.URL != s.URL {
			t.Errorf("%+v", r)
		}
	}
}

// When the server stops, the session goes on, and the client is not bothered: the log is the same.
func TestAttachOutlivesTheServer(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	s := testkit.Start(t, set)
	in, out, ended := attach(t, options(t, set))
	w := wireTo(t, in, out)
	call := func(id int) {
		t.Helper()
		w.say(fmt.Sprintf(readA, id))
		if got := w.hear(); !strings.Contains(got, `"result"`) {
			t.Error(got)
		}
	}
	call(1)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	call(2)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	again := testkit.Start(t, set)
	eventually(t, func() bool { return len(history(t, again, "default")) == 2 })
}

// A server that is killed: the agent goes on by itself, another server takes the socket over, and others attach to that one.
func TestAttachKill9(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t), "port": 0, "max_rps": 0})
	file := configured(t, "", set)
	dir := set["data_dir"].(string)
	first := startProgram(t, file)
	w, _ := startMCP(t, file)
	w.say(fmt.Sprintf(readA, 1))
	if got := w.hear(); !strings.Contains(got, "five") {
		t.Error(got)
	}
	if _, r := ask(t, set, socket.Ask{Want: socket.Status}); r.Server == nil || r.Server.Attached != 1 || r.PID != first.cmd.Process.Pid {
		t.Fatalf("%+v", r)
	}
	first.signal(syscall.SIGKILL)
	exits(t, first.cmd, 30*time.Second)
	if !socket.Stale(t.Context(), dir) {
		t.Error("the socket of the killed server is not there")
	}
	for id := 2; id < 4; id++ {
		w.say(fmt.Sprintf(readA, id))
		if got := w.hear(); !strings.Contains(got, `"result"`) {
			t.Error(got)
		}
	}
	second := startProgram(t, file)
	other, _ := startMCP(t, file)
	other.say(fmt.Sprintf(readA, 1))
	if got := other.hear(); !strings.Contains(got, "five") {
		t.Error(got)
	}
	if _, r := ask(t, set, socket.Ask{Want: socket.Status}); r.Server == nil || r.Server.Attached != 1 || r.PID != second.cmd.Process.Pid {
		t.Errorf("%+v", r)
	}
	w.say(fmt.Sprintf(readA, 4)) // beside the new one
	if got := w.hear(); !strings.Contains(got, `"result"`) {
		t.Error(got)
	}
	// The event of the first read may have died with its server, and no other one.
	eventually(t, func() bool { return len(history(t, second.Server, "default")) >= 4 })
}

// startMCP starts the program that an agent starts.
func startMCP(t testing.TB, file string, args ...string) (*wire, *exec.Cmd) {
	t.Helper()
	cmd := program(t, append([]string{"mcp", "--config", file}, args...)...)
	errs := &testkit.Buffer{}
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return wireTo(t, in, out), cmd
}

// pretend is a server that a test plays: it accepts one attachment and hands over its connection.
func pretend(t testing.TB, dir string, reply func(socket.Ask) *socket.Reply) <-chan *socket.Conn {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := socket.Listen(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan *socket.Conn, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		a, err := c.Hear()
		if err != nil {
			t.Error(err)
		}
		if r := reply(a); r != nil {
			if err := c.Tell(*r); err != nil {
				t.Error(err)
			}
		}
		conns <- c
	}()
	t.Cleanup(func() {
		_ = l.Close() // the test may have done it
		<-done
		select {
		case c := <-conns:
			_ = c.Close()
		default:
		}
	})
	return conns
}

// A server that dies over a call: the call gets an error that says so, and the next one an answer.
func TestAttachLostCall(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	conns := pretend(t, set["data_dir"].(string), func(a socket.Ask) *socket.Reply {
		return &socket.Reply{Handshake: socket.Handshake, Version: a.Version, PID: 1}
	})
	in, out, _ := attach(t, options(t, set))
	w := &wire{t, in, bufio.NewReader(out)}
	c := <-conns
	from := bufio.NewReader(c)
	hear := func(want string) {
		t.Helper()
		if line, err := from.ReadString('\n'); err != nil || !strings.Contains(line, want) {
			t.Fatalf("%s %v", line, err)
		}
	}
	w.say(fmt.Sprintf(initialize, "2025-03-26"))
	hear("initialize")
	if _, err := io.WriteString(c, `{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if got := w.hear(); !strings.Contains(got, `"init"`) {
		t.Fatal(got)
	}
	w.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	hear("initialized")
	w.say(fmt.Sprintf(readA, 1))
	hear(`"id":1`)
	if _, err := io.WriteString(c, `{"jsonrpc":"2.0","id":1,"res`); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.hear(); !strings.Contains(got, `"id":1,"error":{"code":-32603,"message":"the ctxd that was at it has ended`) || !strings.Contains(got, `"error_code":"internal"`) {
		t.Error(got)
	}
	w.say(fmt.Sprintf(readA, 1))
	if got := w.hear(); !strings.Contains(got, "five") {
		t.Error(got)
	}
}

// A server that has another version, serves something else or is none is left alone: the reason is told, and ctxd mcp serves
// by itself.
func TestAttachRefused(t *testing.T) {
	t.Parallel()
	root := repository(t)
	set := onData(t, testkit.Settings{"project_root": root, "workspaces": []any{map[string]any{"id": "b", "root": repository(t)}}})
	testkit.Start(t, set)
	for name, c := range map[string]struct {
		set     testkit.Settings
		version string
		want    string
	}{
		"version":   {set, "0.0.0", "refuses: it is ctxd " + app.Version + ", and this is ctxd 0.0.0"},
		"preset":    {with(set, testkit.Settings{"preset": "nope"}), app.Version, `no preset "nope"`},
		"workspace": {with(set, testkit.Settings{"workspaces": []any{map[string]any{"id": "c", "root": repository(t)}}}), app.Version, `no workspace "c"`},
		"root":      {with(set, testkit.Settings{"project_root": repository(t)}), app.Version, `its workspace "default" is `},
		"rules":     {with(set, testkit.Settings{"refused_files": []any{"x"}}), app.Version, `refuses other files in the workspace "default"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, c.set)
			o.Version = c.version
			if a, err := app.Attach(t.Context(), o); a != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v %v", a, err)
			}
		})
	}
	// A part of what the server has is fine, and no more than that part can be reached.
	in, out, _ := attach(t, options(t, with(set, testkit.Settings{"workspaces": []any{}})))
	w := wireTo(t, in, out)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ctx_read","arguments":{"path":"a.txt","workspaceId":"b"}}}`)
	if got := w.hear(); !strings.Contains(got, "unknown_workspace") {
		t.Error(got)
	}
	if _, r := ask(t, set, socket.Ask{Want: "nothing", Version: app.Version}); !strings.Contains(r.Refused, `does not know what "nothing" is`) {
		t.Errorf("%+v", r)
	}
	if _, r := ask(t, set, socket.Ask{Want: socket.MCP, Version: app.Version, Preset: "full"}); r.Refused != "no workspace was asked for" {
		t.Errorf("%+v", r)
	}
}

// A process that listens and says nothing holds nobody up for long.
func TestAttachSilent(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	pretend(t, set["data_dir"].(string), func(socket.Ask) *socket.Reply { return nil })
	if a, err := app.Attach(t.Context(), options(t, set)); a != nil || err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v %v", a, err)
	}
}

// ctxd mcp tells why it does not attach, and works.
func TestAttachSaysWhyNot(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t), "port": 0})
	testkit.Start(t, set)
	cmd := program(t, "mcp", "--config", configured(t, "", with(set, testkit.Settings{"refused_files": []any{"x"}})))
	cmd.Stdin = strings.NewReader(fmt.Sprintf(initialize, "2025-03-26") + "\n" + fmt.Sprintf(readA, 1) + "\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "five") || !strings.Contains(errs.String(), "ctxd: not attached, serving by itself: the server with the process id") {
		t.Errorf("%v %s %s", err, out, &errs)
	}
}

// A data folder whose path is longer than a socket's may be.
func TestAttachLongPath(t *testing.T) {
	t.Parallel()
	deep := filepath.Join(t.TempDir(), strings.Repeat("deep/", 40), "data")
	set := testkit.Settings{"project_root": repository(t), "data_dir": deep}
	s := testkit.Start(t, set)
	if _, err := s.Socket(); err != nil {
		// Where no way leads around the limit, agents serve by themselves.
		if a, aErr := app.Attach(t.Context(), options(t, set)); a != nil || aErr == nil {
			t.Errorf("%v %v %v", err, a, aErr)
		}
		return
	}
	in, out, _ := attach(t, options(t, set))
	w := wireTo(t, in, out)
	w.say(fmt.Sprintf(readA, 1))
	if got := w.hear(); !strings.Contains(got, "five") {
		t.Error(got)
	}
}

// Two servers of one folder: the first has the socket, and the second says that it does not.
func TestAttachSecondServer(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	first, second := testkit.Start(t, set), testkit.Start(t, set)
	if _, err := first.Socket(); err != nil {
		t.Error(err)
	}
	if _, err := second.Socket(); !errors.Is(err, socket.ErrTaken) {
		t.Error(err)
	}
}
