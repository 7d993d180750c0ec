package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/config"
	"github.com/ctxd/ctxd/internal/fault"
)

func (c *command) mcp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the repository over MCP on stdin and stdout",
		Long: strings.TrimSpace(`
Speaks the Model Context Protocol with the agent that started it. Give agents this command, or let ctxd setup do it:
  ctxd mcp --project-root /path/of/the/repository

Where no folder is named, it serves the one in $CLAUDE_PROJECT_DIR, or else the one that it is started in. It refuses to serve your
home folder, or one that holds it, unless that is named.

Where a ctxd serve of the same folder and configuration runs, it attaches to it, and passes on what agent and server say. Else it
serves by itself. When the server that it is attached to ends, it attaches to the next one or goes on by itself, and answers what
was left without an answer with an error.`),
	}
	s := c.settings(cmd)
	alone := cmd.Flags().Bool("no-attach", false, "serve without a running server, as if there were none")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := s.unasked()
		if err != nil {
			return err
		}
		if !*alone {
			if a := c.attach(cmd.Context(), o); a != nil {
				return a.Relay(cmd.Context(), c.Stdin, c.Stdout)
			}
		}
		return app.ServeStdio(cmd.Context(), o, c.Stdin, c.Stdout)
	}
	return cmd
}

// attach gives the conversation with a running server, or nil, and says why where there is one that cannot be had.
func (c *command) attach(ctx context.Context, o app.Options) *app.Attachment {
	a, err := app.Attach(ctx, o)
	if err != nil {
		c.say("not attached, serving by itself: %s", err)
	}
	return a
}

// projectEnv is where a client says which folder its session is about.
const projectEnv = "CLAUDE_PROJECT_DIR"

// unasked are the options of a process that an agent has started, perhaps anywhere and without naming a folder.
func (s *settings) unasked() (app.Options, error) {
	o, err := s.options()
	if err != nil || o.Config.Source("project_root") != "default" || o.Config.Source("workspaces") != "default" {
		return o, err
	}
	if dir := s.c.Getenv(projectEnv); filepath.IsAbs(dir) {
		if o, err = s.options(config.Layer{Name: projectEnv, Values: map[string]any{"project_root": dir}}); err != nil {
			return o, err
		}
	}
	return o, s.c.modest(o.Config.ProjectRoot)
}

// modest refuses a folder that holds everything that somebody has: nobody has asked for it.
func (c *command) modest(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var what string
	switch home, err := os.Stat(c.home()); {
	case filepath.Dir(abs) == abs:
		what = "the root of the file system"
	case err != nil:
		return nil //nolint:nilerr // there is no home that it could be
	default:
		what = holding(abs, home, c.home())
	}
	if what == "" {
		return nil
	}
	return fault.New(catalog.InvalidRequest, "no folder is named, and %s is %s: an agent could read all that you have; name the repository with "+
		"--project-root PATH, which ctxd setup writes into the configuration of the client", abs, what)
}

// holding says what a folder is to a home folder, "" for nothing that matters.
func holding(dir string, home os.FileInfo, path string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return "" // opening it tells that better
	}
	if os.SameFile(info, home) {
		return "your home folder"
	}
	for up := filepath.Dir(path); ; up = filepath.Dir(up) {
		if above, err := os.Stat(up); err == nil && os.SameFile(info, above) {
			return "the folder of your home folder"
		}
		if up == filepath.Dir(up) {
			return ""
		}
	}
}

func (c *command) home() string {
	if home := c.Getenv("HOME"); home != "" {
		return home
	}
	return c.Getenv("USERPROFILE") // on Windows
}
