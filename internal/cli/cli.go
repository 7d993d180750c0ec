// Package cli is the command line: commands, flags, output and exit codes. Each command asks app for what it needs and shows
// what comes back.
//
// It reads arguments, environment and files; nothing below it does. Only cmd/ctxd imports it.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/secret"
)

// Exit codes.
const (
	ExitOK       = 0
	ExitFailed   = 1 // the command could not do what it was asked for
	ExitUsage    = 2 // the command line, the environment or the configuration is wrong
	ExitNoServer = 3 // no server runs, it cannot be reached, or it has gone
)

// noServer stands for an error_code where there was no server to give one.
const noServer catalog.ErrorCode = "no_server"

// IO is what the process gives the command line.
type IO struct {
	Args   []string // without the name of the program
	Getenv func(string) string
	Stdin  io.ReadCloser
	Stdout io.WriteCloser
	Stderr io.Writer

	Terminal bool // somebody sees Stderr as it is written
}

// Run runs one command and gives its exit code.
func Run(ctx context.Context, streams IO) int {
	c := &command{IO: streams}
	root := c.root()
	root.SetArgs(streams.Args)
	root.SetIn(streams.Stdin)
	root.SetOut(streams.Stdout)
	root.SetErr(streams.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	var said silent
	if !errors.As(err, &said) {
		c.complain(err)
	}
	return exitCode(err)
}

// silent is a failure that the command has already shown.
type silent struct{ error }

// Unwrap gives the failure.
func (s silent) Unwrap() error { return s.error }

// usage is a wrong command line.
type usage struct{ error }

func exitCode(err error) int {
	var u usage
	if errors.As(err, &u) || fault.Is(err, catalog.InvalidRequest) {
		return ExitUsage
	}
	var gone *app.Unreachable
	if errors.As(err, &gone) {
		return ExitNoServer
	}
	return ExitFailed
}

// complain shows an error: as a sentence, or with --json in the shape that the server gives it.
func (c *command) complain(err error) {
	f := fault.From(err)
	message := f.Message
	if f.Code == catalog.Internal {
		message = err.Error() // there is no secret between a program and who runs it
	}
	if !c.json {
		fmt.Fprintln(c.Stderr, "ctxd: "+message)
		return
	}
	code := f.Code
	switch exitCode(err) {
	case ExitUsage:
		code = catalog.InvalidRequest
	case ExitNoServer:
		code = noServer
	}
	out := map[string]any{"error": message, "error_code": code}
	if f.Details != nil {
		out["details"] = f.Details
	}
	var call failedCall
	if errors.As(err, &call) {
		out["request_id"] = call.id
	}
	raw, mErr := json.Marshal(out)
	if mErr != nil {
		raw = []byte(message)
	}
	fmt.Fprintln(c.Stderr, string(raw))
}

// command is one run of the program.
type command struct {
	IO
	json bool
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ctxd",
		Short: "A contract-first context server for AI agents",
		Long: strings.TrimSpace(`
ctxd serves the repository that you stand in to AI agents: they read, search and list its files and share what they
work on. Every call is an event, and every answer says what it cost.

Start a server and look at it:
  ctxd serve
  curl -s http://127.0.0.1:8080/v1/tools

Or connect an agent that speaks MCP to the command ctxd mcp, which this writes into the agent's configuration:
  ctxd setup claude-code

Exit codes: 0 done, 1 failed, 2 wrong use, 3 no server runs, can be reached, or is left.`),
		Version:           app.Version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetVersionTemplate("ctxd {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage{fmt.Errorf("%w; %s --help shows what there is", err, cmd.CommandPath())}
	})
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print JSON")
	root.AddCommand(c.serve(), c.mcp(), c.call(), c.tools(), c.openapi(), c.config(), c.version(), c.doctor(), c.setup(),
		c.status(), c.backup(), c.restore())
	for _, sub := range root.Commands() {
		wrapArgs(sub)
	}
	return root
}

// wrapArgs makes wrong arguments a usage error.
func wrapArgs(cmd *cobra.Command) {
	inner := cmd.Args
	if inner == nil {
		inner = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := inner(cmd, args); err != nil {
			return usage{fmt.Errorf("%w; %s --help shows how it is called", err, cmd.CommandPath())}
		}
		return nil
	}
}

// logger writes to stderr: text for people, JSON with --json.
func (c *command) logger() *slog.Logger {
	opts := &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Resolve().Any().(type) { // T9: logs are read by others than callers
		case string:
			a.Value = slog.StringValue(secret.Mask(v))
		case error:
			a.Value = slog.StringValue(secret.Mask(v.Error()))
		}
		return a
	}}
	if c.json {
		return slog.New(slog.NewJSONHandler(c.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(c.Stderr, opts))
}

// print writes a value as JSON, indented for people who ask for it.
func (c *command) print(v any) error {
	e := json.NewEncoder(c.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
