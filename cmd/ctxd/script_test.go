package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ctxd/ctxd/internal/contracttest"
	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ctxd": main})
}

// Each file below testdata/script is a story that a stranger can read: it drives the real program over its command line,
// HTTP, SSE and MCP. Every answer is judged by the contract.
func TestScripts(t *testing.T) {
	src := goroot.Src(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOROOT_SRC", src)
			home, err := os.MkdirTemp("", "ctxd-home") // outside of the workspace, as the data folder must be
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(home) })
			e.Setenv("HOME", home)
			e.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
			e.Values["session"] = &session{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":   serve,
			"stop":    stopServer,
			"http":    request,
			"follow":  follow,
			"events":  waitEvents,
			"mcp":     mcpCall,
			"plugged": plugged,
		},
	})
}

// session is what a script has started.
type session struct {
	mu     sync.Mutex
	server *exec.Cmd
	exited chan error
	url    string
	client *http.Client
	stream map[string]*capture
}

func of(ts *testscript.TestScript) *session { return ts.Value("session").(*session) }

// serve ARGS...: start the server on a free port, and put its address into $URL.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("serve cannot be negated; use ! exec ctxd serve")
	}
	s := of(ts)
	cmd := exec.Command("ctxd", append([]string{"serve", "--port", "0", "--json"}, args...)...)
	cmd.Path = lookup(ts, "ctxd")
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environ(ts)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		_ = cmd.Wait() // why it ended stands in stderr
		ts.Fatalf("ctxd serve ended: %s", stderr.String())
	}
	var hello struct{ URL string }
	ts.Check(json.Unmarshal(line, &hello))
	s.server, s.url, s.exited = cmd, hello.URL, make(chan error, 1)
	s.client = &http.Client{Transport: contracttest.Transport{Base: &http.Transport{DisableKeepAlives: true}}, Timeout: time.Minute}
	go func() { s.exited <- cmd.Wait() }()
	ts.Setenv("URL", s.url)
	ts.Defer(func() { _ = cmd.Process.Kill() }) // it may have ended already
}

// lookup finds a program on the PATH of the script.
func lookup(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, name); exists(p) {
			return p
		}
	}
	ts.Fatalf("%s is not on the PATH", name)
	return ""
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, k := range []string{"PATH", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR", "CTXD_CONFIG", "CTXD_AUTH_TOKEN"} {
		if v := ts.Getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// stop [int|term|kill|hup]: signal the server, and but for hup wait until it has ended, cleanly and within 5 seconds.
func stopServer(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	sig := syscall.SIGINT
	if len(args) > 0 {
		sig = map[string]syscall.Signal{"int": syscall.SIGINT, "term": syscall.SIGTERM, "kill": syscall.SIGKILL, "hup": syscall.SIGHUP}[args[0]]
	}
	ts.Check(s.server.Process.Signal(sig))
	if sig == syscall.SIGHUP {
		return
	}
	select {
	case err := <-s.exited:
		if (err != nil) != (sig == syscall.SIGKILL) {
			ts.Fatalf("the server ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		ts.Fatalf("the server still runs 20 seconds after %v", sig)
	}
}

// http STATUS METHOD PATH [FILE|BODY] [-H 'Name: value']...: send a request; the answer goes to the files body and header.
func request(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: http STATUS METHOD PATH [BODY] [-H header]...")
	}
	s := of(ts)
	var body string
	var headers []string
	for rest := args[3:]; len(rest) > 0; rest = rest[1:] {
		if rest[0] == "-H" && len(rest) > 1 {
			headers = append(headers, rest[1])
			rest = rest[1:]
			continue
		}
		body = rest[0]
	}
	r, err := http.NewRequest(args[1], s.url+args[2], strings.NewReader(body))
	ts.Check(err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := s.client.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	ts.Check(err)
	var head strings.Builder
	ts.Check(resp.Header.Write(&head))
	ts.Check(os.WriteFile(ts.MkAbs("body"), raw, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("header"), []byte(head.String()), 0o600))
	if got := strconv.Itoa(resp.StatusCode); got != args[0] {
		ts.Fatalf("%s %s: %s, want %s\n%s", args[1], args[2], got, args[0], raw)
	}
}

// capture is an event stream on its way into a file.
type capture struct {
	mu     sync.Mutex
	frames []string
	more   chan struct{}
	ended  bool
	cancel context.CancelFunc
}

// follow NAME PATH [Last-Event-ID]: follow an event stream under a name. It returns when the headers are there.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+args[1], nil)
	ts.Check(err)
	if len(args) > 2 {
		r.Header.Set("Last-Event-ID", args[2])
	}
	client := &http.Client{Transport: contracttest.Transport{Base: &http.Transport{DisableKeepAlives: true}}}
	resp, err := client.Do(r)
	ts.Check(err)
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s", args[1], resp.Status)
	}
	c := &capture{more: make(chan struct{}, 1), cancel: cancel}
	s.mu.Lock()
	if s.stream == nil {
		s.stream = map[string]*capture{}
	}
	s.stream[args[0]] = c
	s.mu.Unlock()
	ts.Defer(cancel)
	go c.read(resp.Body)
}

func (c *capture) read(body io.ReadCloser) {
	defer body.Close()
	lines := bufio.NewReader(body)
	var frame strings.Builder
	for {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil:
			c.add("", true)
			return
		case line != "\n":
			frame.WriteString(line)
		default:
			if strings.Contains(frame.String(), "data: ") {
				c.add(frame.String(), false)
			}
			frame.Reset()
		}
	}
}

func (c *capture) add(frame string, ended bool) {
	c.mu.Lock()
	if c.ended = ended; !ended {
		c.frames = append(c.frames, frame)
	}
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// events NAME N: wait until the stream has given N events (or, with "end", until it has ended), judge them, and write them
// to the file NAME; the id of the last one goes to $LAST.
func waitEvents(ts *testscript.TestScript, neg bool, args []string) {
	c := of(ts).stream[args[0]]
	if c == nil {
		ts.Fatalf("no stream is called %s", args[0])
	}
	deadline := time.After(time.Minute)
	for {
		c.mu.Lock()
		n, ended := len(c.frames), c.ended
		c.mu.Unlock()
		if args[1] == "end" && ended || args[1] != "end" && strconv.Itoa(n) == args[1] {
			break
		}
		select {
		case <-c.more:
		case <-deadline:
			ts.Fatalf("%d events after a minute, want %s:\n%s", n, args[1], strings.Join(c.frames, "\n"))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last := ""
	for _, f := range c.frames {
		_, data, _ := strings.Cut(f, "data: ")
		if err := contracttest.Event([]byte(strings.TrimSpace(data))); err != nil {
			ts.Fatalf("%s: %v", f, err)
		}
		if id, rest, ok := strings.Cut(strings.TrimPrefix(f, "id: "), "\n"); ok && rest != "" {
			last = id
		}
	}
	ts.Setenv("LAST", last)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(c.frames, "\n")), 0o600))
}

// mcp stdio|http list|TOOL [ARGUMENTS]: one request through the client of the official SDK; the result goes to the file body.
func mcpCall(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: of(ts).url + "/mcp"}
	if args[0] == "stdio" {
		cmd := exec.Command(lookup(ts, "ctxd"), "mcp", "--project-root", ts.Getenv("ROOT"))
		cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
		transport = &mcp.CommandTransport{Command: cmd}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil)
	conn, err := client.Connect(ctx, transport, nil)
	ts.Check(err)
	defer conn.Close()
	var result any
	if args[1] == "list" {
		result, err = conn.ListTools(ctx, nil)
	} else {
		var arguments json.RawMessage = []byte("{}")
		if len(args) > 2 {
			arguments = []byte(args[2])
		}
		var res *mcp.CallToolResult
		res, err = conn.CallTool(ctx, &mcp.CallToolParams{Name: args[1], Arguments: arguments})
		if err == nil && res.IsError != neg {
			err = errors.New("the tool failed, or was meant to")
		}
		result = res
	}
	ts.Check(err)
	raw, err := json.MarshalIndent(result, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("body"), raw, 0o600))
	if res, ok := result.(*mcp.CallToolResult); ok {
		text := ""
		for _, c := range res.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text += t.Text
			}
		}
		ts.Check(os.WriteFile(ts.MkAbs("text"), fmt.Append(nil, text), 0o600))
	}
}
