package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/cli"
	"github.com/ctxd/ctxd/internal/testkit"
)

// stdioAt is a session over a pair of pipes.
func stdioAt(t testing.TB, set testkit.Settings) door {
	t.Helper()
	set = onData(t, set)
	in, out := serveStdio(t, set)
	session := connect(t, &mcp.IOTransport{Reader: out, Writer: in})
	return sdkDoor{"mcp-stdio", session, func(t testing.TB) *testkit.Server { return testkit.Start(t, set) }}
}

// serveStdio starts a server on pipes: what is written to in reaches it, and out gives what it says. It ends with the test.
func serveStdio(t testing.TB, set testkit.Settings) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	o := options(t, set)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := app.ServeStdio(ctx, o, inR, outW)
		_ = outW.Close() // a pipe never fails to close
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		_ = outR.Close() // so that nothing waits for a reader
		if err := <-done; err != nil {
			t.Errorf("serving stdio: %v", err)
		}
	})
	return inW, outR
}

// options are what the process would give the app.
func options(t testing.TB, set testkit.Settings) app.Options {
	t.Helper()
	return app.Options{
		Config: testkit.Config(t, set), Version: app.Version, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.DiscardHandler),
	}
}

// cliDoor is the command line.
type cliDoor struct {
	set  testkit.Settings
	file string
}

func cliAt(t testing.TB, set testkit.Settings) door {
	t.Helper()
	set = onData(t, set)
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ctxd.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return cliDoor{set, file}
}

func (d cliDoor) Name() string                          { return "cli" }
func (d cliDoor) Observer(t testing.TB) *testkit.Server { return testkit.Start(t, d.set) }

func (d cliDoor) Call(t testing.TB, r request) outcome {
	t.Helper()
	code, stdout, stderr := run(t, r.words(t, d.file)...)
	return cliOutcome(t, code, stdout, stderr)
}

// words are a call as the command line takes it.
func (r request) words(t testing.TB, file string) []string {
	t.Helper()
	args := []string{"call", "--json", "--config", file, r.tool}
	for flag, v := range map[string]string{"--workspace": r.workspace, "--channel": r.channel, "--agent": r.agent} {
		if v != "" {
			args = append(args, flag+"="+v)
		}
	}
	if r.args != "" {
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(r.args), &members); err != nil {
			t.Fatalf("%v in %s", err, r.args)
		}
		for name, v := range members {
			args = append(args, name+":="+string(v))
		}
	}
	return args
}

// cliOutcome reads what the command line has printed.
func cliOutcome(t testing.TB, code int, stdout, stderr []byte) outcome {
	t.Helper()
	if code == cli.ExitOK {
		var ok struct {
			Result callResult `json:"result"`
		}
		if err := json.Unmarshal(stdout, &ok); err != nil {
			t.Fatalf("%v in %s", err, stdout)
		}
		return ok.Result.outcome(t)
	}
	var e struct {
		Error   string   `json:"error"`
		Code    string   `json:"error_code"`
		Details []detail `json:"details"`
	}
	if err := json.Unmarshal(stderr, &e); err != nil {
		t.Fatalf("%v in %s", err, stderr)
	}
	if want := slices.Contains([]string{"invalid_request"}, e.Code); want != (code == cli.ExitUsage) {
		t.Errorf("exit code %d for %s", code, e.Code)
	}
	return outcome{code: e.Code, message: e.Error, details: e.Details}
}

// programDoor is the command line of the real program.
type programDoor struct{ file string }

func (d programDoor) Name() string                        { return "cli" }
func (d programDoor) Observer(testing.TB) *testkit.Server { return nil } // nobody looks

func (d programDoor) Call(t testing.TB, r request) outcome {
	t.Helper()
	cmd := program(t, r.words(t, d.file)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cliOutcome(t, cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes())
}

// programDoors are REST, MCP and the command line of the real program: what takes long under the race detector goes through
// them. The first two are one server.
func programDoors(t testing.TB, set testkit.Settings) (doors []door, server *started) {
	t.Helper()
	set = with(set, testkit.Settings{"port": 0, "max_rps": 0})
	server = startProgram(t, configured(t, "", onData(t, set)))
	return []door{restDoor{server.Server}, statelessDoor{server.Server}, programDoor{configured(t, "", onData(t, set))}}, server
}

// run is the command line in this process.
func run(t testing.TB, args ...string) (code int, stdout, stderr []byte) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(t.Context(), cli.IO{
		Args: args, Getenv: func(string) string { return "" },
		Stdin: io.NopCloser(&bytes.Buffer{}), Stdout: nopWriteCloser{&out}, Stderr: &errs,
	})
	return code, out.Bytes(), errs.Bytes()
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

func logger(to io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }
