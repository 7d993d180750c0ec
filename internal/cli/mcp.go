package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/internal/app"
)

func (c *command) mcp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the repository over MCP on stdin and stdout",
		Long: strings.TrimSpace(`
Speaks the Model Context Protocol with the agent that started it. Give agents this command, or let ctxd setup do it:
  ctxd mcp --project-root /path/of/the/repository

Where a ctxd serve of the same folder and configuration runs, it attaches to it, and passes on what agent and server say. Else it
serves by itself. When the server that it is attached to ends, it attaches to the next one or goes on by itself, and answers what
was left without an answer with an error.`),
	}
	s := c.settings(cmd)
	alone := cmd.Flags().Bool("no-attach", false, "serve without a running server, as if there were none")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := s.options()
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
