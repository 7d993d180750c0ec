// Package testkit starts real servers for tests, and gives them small repositories to serve.
//
// Only tests import it.
package testkit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/config"
	"github.com/ctxd/ctxd/internal/contracttest"
)

// Settings are values of the configuration by key, as the file has them.
type Settings map[string]any

// Server is a server that runs in the process of the test, until the test ends.
type Server struct {
	*app.Server
	T      testing.TB
	URL    string
	Client *http.Client // judges every answer by the contract
	Logs   *Buffer
}

// Start serves a copy of the example repository on a free port of loopback. Limits that would get in the way of a test are
// off unless the test sets them.
func Start(t testing.TB, set Settings) *Server {
	t.Helper()
	values := Settings{"port": 0, "max_rps": 0, "data_dir": filepath.Join(t.TempDir(), "data")}
	if set["workspaces"] == nil && set["project_root"] == nil {
		values["project_root"] = Example(t)
	}
	for k, v := range set {
		values[k] = v
	}
	logs := &Buffer{}
	s, err := app.Start(t.Context(), app.Options{
		Config: Config(t, values), Version: app.Version, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(logs, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	base := &http.Transport{}
	t.Cleanup(func() {
		base.CloseIdleConnections()
		if err := s.Stop(); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
	return &Server{Server: s, T: t, URL: s.URL(), Client: &http.Client{Transport: contracttest.Transport{Base: base}}, Logs: logs}
}

// Config makes a configuration of values as a file would hold them.
func Config(t testing.TB, values Settings) *config.Config {
	t.Helper()
	raw, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.ParseFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Merge(config.Layer{Name: "file", Values: file})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Answer is an answer over HTTP.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Code is the error_code of the envelope or of an error of JSON-RPC, or "".
func (a Answer) Code() string {
	var e struct {
		Code  string `json:"error_code"`
		Error struct {
			Data struct {
				Code string `json:"error_code"`
			} `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(a.Body, &e) != nil {
		var flat struct {
			Code string `json:"error_code"`
		}
		_ = json.Unmarshal(a.Body, &flat) // an answer that is no JSON has no code
		return flat.Code
	}
	if e.Code != "" {
		return e.Code
	}
	return e.Error.Data.Code
}

// Decode reads the body into v.
func (a Answer) Decode(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, v); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
}

// Do sends a request. Headers come in pairs; a value of "-" takes the header away.
func (s *Server) Do(method, path, body string, headers ...string) Answer {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case strings.EqualFold(headers[i], "Host"):
			r.Host = headers[i+1]
		case headers[i+1] == "-":
			r.Header.Del(headers[i])
		default:
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	resp, err := s.Client.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return Answer{resp.StatusCode, resp.Header, raw}
}

// Get is Do for GET.
func (s *Server) Get(path string, headers ...string) Answer {
	s.T.Helper()
	return s.Do(http.MethodGet, path, "", headers...)
}

// Call is a POST of a call.
func (s *Server) Call(body string, headers ...string) Answer {
	s.T.Helper()
	return s.Do(http.MethodPost, "/v1/tools/call", body, headers...)
}

// Tool calls a tool that must succeed, and gives its text and its data.
func (s *Server) Tool(name string, arguments any) (text string, data json.RawMessage) {
	s.T.Helper()
	raw, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		s.T.Fatal(err)
	}
	a := s.Call(string(raw))
	if a.Status != http.StatusOK {
		s.T.Fatalf("%s: %d %s", raw, a.Status, a.Body)
	}
	var r struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent json.RawMessage
		}
	}
	a.Decode(s.T, &r)
	return r.Result.Content[0].Text, r.Result.StructuredContent
}

// Frame is one event of a stream.
type Frame struct {
	ID    string
	Event string
	Data  string
}

// Stream is an open event stream.
type Stream struct {
	t      testing.TB
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// Follow opens an event stream, which ends with the test.
func (s *Server) Follow(path string, headers ...string) *Stream {
	s.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.T.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := s.Client.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(resp.Body) // what there is of it helps
		s.T.Fatalf("%s: %d %s", path, resp.StatusCode, raw)
	}
	return &Stream{s.T, resp, bufio.NewReader(resp.Body), cancel}
}

// Header is the header of the answer.
func (s *Stream) Header() http.Header { return s.resp.Header }

// Next waits for the next event; ok is false when the stream has ended. Comments are passed over, and every event is judged.
func (s *Stream) Next() (f Frame, ok bool) {
	s.t.Helper()
	for {
		block, err := s.block()
		if err != nil {
			return Frame{}, false
		}
		f = Frame{}
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				f.ID = value
			case "event":
				f.Event = value
			case "data":
				f.Data = value
			}
		}
		if f.Event == "" {
			continue
		}
		if f.ID != "" {
			if err := contracttest.Event([]byte(f.Data)); err != nil {
				s.t.Fatalf("event %s: %v", f.Data, err)
			}
		}
		return f, true
	}
}

// block reads up to an empty line.
func (s *Stream) block() (string, error) {
	var b strings.Builder
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return "", err
		}
		if line == "\n" {
			return b.String(), nil
		}
		b.WriteString(line)
	}
}

// Close ends the stream.
func (s *Stream) Close() {
	s.cancel()
	_ = s.resp.Body.Close() // it was cut off
}

// Buffer collects what several goroutines write.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Example makes a copy of the repository that the examples of the tools are about.
func Example(t testing.TB) string {
	t.Helper()
	return Write(t, map[string]string{
		"README.md":           "# Example\n\nA small repository.\n\nCall `Hello(name)`.\n",
		"go.mod":              "module example.com/greet\n\ngo 1.26\n",
		".gitignore":          "/bin/\n*.log\n",
		"greet/greet.go":      "// Package greet says hello.\npackage greet\n\nimport \"fmt\"\n\n// Friend is who is greeted when nobody is named.\nconst Friend = \"friend\"\n\n// Hello greets somebody by name.\n//\n// It does not shout.\nfunc Hello(name string) string {\n\treturn fmt.Sprintf(\"Hello, %s.\", name)\n}\n",
		"greet/greet_test.go": "package greet\n\nimport \"testing\"\n\nfunc TestHello(t *testing.T) {\n\tif got := Hello(\"Ada\"); got != \"Hello, Ada.\" {\n\t\tt.Errorf(\"got %q\", got)\n\t}\n}\n",
		"bin/greet":           "built\n",
		"debug.log":           "noise\n",
		".env":                "SECRET=1\n",
	})
}

// Write makes a folder of files by path.
func Write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
