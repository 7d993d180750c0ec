package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/fault"
)

func (c *command) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the repository over HTTP: REST, SSE and MCP",
		Long: strings.TrimSpace(`
Serves the folder that you stand in, or those that --project-root and --root name, until it is interrupted.

On loopback no token is needed unless one is configured; anything else is bound only with a token. SIGHUP reads
the configuration file again: tokens and allowed hosts change without a restart.

Agents that start ctxd mcp for the same folder attach to this server, and what they do is seen by all who follow it.
Of several servers of a folder, the first one has them. ctxd status shows it.`),
		Example: "  ctxd serve\n  ctxd serve --root ../api --root ../web:frontend\n  ctxd serve --host 0.0.0.0 --auth-token \"$TOKEN\" --allowed-host ctxd.example.com",
	}
	s := c.settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := s.options()
		if err != nil {
			return err
		}
		srv, err := app.Start(cmd.Context(), o)
		if err != nil {
			return err
		}
		hup := make(chan os.Signal, 1)
		signal.Notify(hup, syscall.SIGHUP) // before anybody is told that the server runs: the signal would end the process
		defer signal.Stop(hup)
		c.announce(srv)
		return c.run(cmd.Context(), srv, s, hup)
	}
	return cmd
}

// run waits for the end, and reads the configuration again whenever the process is told to.
func (c *command) run(ctx context.Context, srv *app.Server, s *settings, hup <-chan os.Signal) error {
	for {
		select {
		case <-hup:
			next, err := s.load()
			if err := srv.Reload(next, err); err != nil {
				c.say("the reloaded configuration was refused: %s", fault.From(err).Message)
			} else {
				c.say("reloaded the configuration")
			}
		case err := <-srv.Served():
			return joinStop(err, srv.Stop())
		case <-ctx.Done():
			c.say("stopping")
			return srv.Stop()
		}
	}
}

func joinStop(err, stop error) error {
	if err != nil {
		return err
	}
	return stop
}

// say tells people something on stderr.
func (c *command) say(format string, args ...any) {
	if !c.json {
		fmt.Fprintf(c.Stderr, "ctxd: "+format+"\n", args...)
	}
}

// announce prints where the server is and how to try it.
func (c *command) announce(srv *app.Server) {
	url := srv.URL()
	if c.json {
		hello := map[string]any{"url": url, "pid": os.Getpid(), "data_dir": srv.DataDir, "workspaces": srv.Workspaces.IDs()}
		if path, err := srv.Socket(); err == nil {
			hello["socket"] = path
		}
		if raw, err := json.Marshal(hello); err == nil {
			fmt.Fprintln(c.Stdout, string(raw))
		}
		return
	}
	var b strings.Builder
	for _, id := range srv.Workspaces.IDs() {
		fmt.Fprintf(&b, "ctxd %s serves %s as workspace %q\n", app.Version, srv.Workspaces.Get(id).Root(), id)
	}
	auth := ""
	if srv.NeedsToken() {
		auth = ` -H "Authorization: Bearer $TOKEN"`
	}
	fmt.Fprintf(&b, `
  %[1]s      REST and SSE; MCP at %[1]s/mcp
  data in %[2]s
  %[4]s

Try it:
  curl -s%[3]s %[1]s/v1/tools
  curl -s%[3]s %[1]s/v1/tools/call -H 'Content-Type: application/json' -d '{"name":"ctx_tree","arguments":{"depth":1}}'
  curl -sN%[3]s %[1]s/v1/events

Ctrl-C stops it.
`, url, srv.DataDir, auth, attaching(srv))
	fmt.Fprint(c.Stderr, b.String())
}

// attaching says whether agents attach to the server.
func attaching(srv *app.Server) string {
	if _, err := srv.Socket(); err != nil {
		return "agents do not attach: " + err.Error()
	}
	return "agents that start ctxd mcp for this folder attach to it"
}
