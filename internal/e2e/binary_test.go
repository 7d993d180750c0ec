package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/testkit"
)

// A5, X2: SIGHUP reads the file again. A token that is gone ends its stream; a file that is refused shows in /ready.
func TestA5SIGHUP(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t), "port": 0, "tokens": tokens(everything("ci", nil), everything("other", nil))})
	file := configured(t, "", set)
	s := startProgram(t, file)
	stream := s.Follow("/v1/events", "Authorization", bearer("ci"))
	configured(t, file, with(set, testkit.Settings{"tokens": tokens(everything("other", nil))}))
	s.signal(syscall.SIGHUP)
	ends(t, stream, 20*time.Second)
	if a := s.Get("/v1/tools", "Authorization", bearer("ci")); a.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if err := os.WriteFile(file, []byte(`{"max_rsp":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	eventually(t, func() bool { return s.Get("/ready").Status == http.StatusServiceUnavailable })
	if a := s.Get("/ready"); !strings.Contains(string(a.Body), `did you mean \"max_rps\"?`) {
		t.Errorf("%s", a.Body)
	}
	if a := s.Get("/v1/tools?limit=0", "Authorization", bearer("other")); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	configured(t, file, set)
	s.signal(syscall.SIGHUP)
	eventually(t, func() bool { return s.Get("/ready").Status == http.StatusOK })
}

// E5: SIGTERM ends streams and the process within 5 s, and loses nothing.
func TestE5SIGTERM(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t), "port": 0, "max_rps": 0})
	s := startProgram(t, configured(t, "", set))
	stream := s.Follow("/v1/events")
	work(t, s.Server, 30)
	s.signal(syscall.SIGTERM)
	if code := exits(t, s.cmd, 20*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, s.stderr)
	}
	ends(t, stream, 20*time.Second)
	if events := history(t, testkit.Start(t, set), "default"); len(events) != 40 {
		t.Errorf("%d events", len(events))
	}
}

// E2: what was answered after it changed something is there after kill -9.
func TestE2Durability(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t), "port": 0, "max_rps": 0})
	s := startProgram(t, configured(t, "", set))
	for i := range 10 {
		if a := s.Call(fmt.Sprintf(`{"name":"ctx_session","arguments":{"action":"finding","value":"f%d"}}`, i)); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	s.signal(syscall.SIGKILL)
	exits(t, s.cmd, 20*time.Second)
	again := testkit.Start(t, set)
	if text, _ := again.Tool("ctx_session", map[string]any{}); !strings.Contains(text, "session v10") || !strings.Contains(text, "f9") {
		t.Errorf("%s", text)
	}
	if n := len(kind(history(t, again, "default"), "session_mutated")); n != 10 {
		t.Errorf("%d mutations are in the log", n)
	}
}

// E2: a read of the log waits for what was queued before it, and a clean stop loses nothing.
func TestE2Queued(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t)})
	s := testkit.Start(t, set)
	for i := range 20 {
		s.Call(`{"name":"ctx_tree"}`)
		if got := len(history(t, s, "default")); got != i+1 {
			t.Fatalf("%d events after %d calls", got, i+1)
		}
	}
	s.Call(`{"name":"ctx_tree"}`)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := len(history(t, testkit.Start(t, set), "default")); got != 21 {
		t.Errorf("%d events", got)
	}
}

// The real binary speaks MCP on stdio with the official client, ends with its input, and on SIGTERM even if nobody reads.
func TestBinaryStdio(t *testing.T) {
	t.Parallel()
	root := repository(t)
	args := func() []string {
		return []string{"mcp", "--project-root", root, "--data-dir", filepath.Join(t.TempDir(), "data")}
	}
	cmd := program(t, args()...)
	session := connect(t, &mcp.CommandTransport{Command: cmd})
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(tool.Specs) {
		t.Fatalf("%v %v", err, list)
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ctx_read", Arguments: map[string]any{"path": "a.txt"}})
	if err != nil || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "five") {
		t.Errorf("%v %v", err, res)
	}
	piped := program(t, args()...)
	piped.Stdin = strings.NewReader(fmt.Sprintf(initialize+"\n", "2025-06-18") + fmt.Sprintf(readA, 1) + "\n" + fmt.Sprintf(readA, 2))
	var out bytes.Buffer
	piped.Stdout = &out
	if err := piped.Start(); err != nil {
		t.Fatal(err)
	}
	if code := exits(t, piped, 20*time.Second); code != 0 || strings.Count(out.String(), "five") < 2 {
		t.Errorf("exit code %d: %s", code, &out)
	}
	deaf := program(t, args()...) // nobody reads what it says
	in, err := deaf.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	deaf.Stdout = w
	if err := deaf.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, initialize+"\n", "2025-06-18")
	for i := range 300 {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i)
	}
	if _, err := bufio.NewReader(r).ReadByte(); err != nil { // it has begun to speak
		t.Fatal(err)
	}
	if err := deaf.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := exits(t, deaf, 20*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	_ = in.Close()
}

// The commands that people and scripts begin with.
func TestBinaryCommands(t *testing.T) {
	t.Parallel()
	root, data := repository(t), filepath.Join(t.TempDir(), "data")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"version"}, 0, "ctxd "},
		{[]string{"tools"}, 0, "ctx_read"},
		{[]string{"openapi"}, 0, `"openapi"`},
		{[]string{"call", "ctx_read", "path=a.txt", "--project-root", root, "--data-dir", data}, 0, "a.txt 5L\none\n"},
		{[]string{"call", "ctx_read", "path=none.txt", "--project-root", root, "--data-dir", data}, 1, "ctxd: nothing is at"},
		{[]string{"call", "ctx_read", "path", "--project-root", root}, 2, "neither KEY=VALUE"},
		{[]string{"call", "ctx_read", "path=a.txt", "path=b.txt", "--project-root", root}, 2, "stands twice"},
		{[]string{"call", "ctx_read", "paths=a.txt", "paths:=[\"b.txt\"]", "--project-root", root}, 2, "stands twice"},
		{[]string{"call", "ctx_read", "paths=a.txt", "paths=bare.txt", "--project-root", root, "--data-dir", data}, 0, "bare.txt 1L"},
		{[]string{"serve", "--host", "0.0.0.0", "--project-root", root, "--data-dir", data}, 2, "needs a token"},
		{[]string{"serve", "--nope"}, 2, "--nope"},
		{[]string{"doctor", "--project-root", root, "--data-dir", data, "--port", "0"}, 0, "can be written"},
	} {
		cmd := program(t, c.args...)
		out, _ := cmd.CombinedOutput() // its exit code says whether it failed
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("%v: %d %.500s", c.args, code, out)
		}
	}
}
