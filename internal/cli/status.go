package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/internal/app"
)

func (c *command) status() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what runs on the data folder of the repository",
		Long: strings.TrimSpace(`
Shows the server of the data folder: process, address, version, workspaces, agents attached to it; and the database: size and newest
event. It takes the flags of serve, and starts and makes nothing.

Exit codes: 0 a server runs, 1 failed, 2 wrong use, 3 no server runs or it does not answer.`),
	}
	s := c.settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := s.options()
		if err != nil {
			return err
		}
		state, err := app.Status(cmd.Context(), o)
		if err != nil {
			return err
		}
		if err := c.showState(state); err != nil {
			return err
		}
		if !state.Running {
			return silent{&app.Unreachable{Message: "no server runs"}}
		}
		return nil
	}
	return cmd
}

func (c *command) showState(s app.State) error {
	if c.json {
		return c.print(s)
	}
	var b strings.Builder
	switch v := s.Server; {
	case v != nil:
		fmt.Fprintf(&b, "server      ctxd %s runs as process %d on %s for %v\n", v.Version, v.PID, v.URL, time.Duration(v.UptimeSeconds)*time.Second)
		for _, w := range v.Workspaces {
			fmt.Fprintf(&b, "workspace   %s is %s\n", w.ID, w.Root)
		}
		fmt.Fprintf(&b, "clients     %d attached, %d event streams\n", v.Attached, v.Streams)
	case s.Problem != "":
		fmt.Fprintf(&b, "server      does not answer: %s\n", s.Problem)
	default:
		fmt.Fprintf(&b, "server      none runs; ctxd serve starts one\n")
	}
	fmt.Fprintf(&b, "data        %s\n", s.DataDir)
	switch d := s.Database; {
	case d == nil:
		fmt.Fprintf(&b, "database    none yet\n")
	case d.Problem != "":
		fmt.Fprintf(&b, "database    %s; ctxd doctor says more\n", d.Problem)
	default:
		newest := "of an older ctxd"
		if d.LastEventID != nil {
			newest = fmt.Sprintf("newest event %d", *d.LastEventID)
		}
		use := "not in use"
		if d.InUse {
			use = "in use"
		}
		fmt.Fprintf(&b, "database    %s, %s, %s\n", size(d.Bytes), newest, use)
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	default:
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
}

func (c *command) backup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database into a new file, while servers run",
		Long: strings.TrimSpace(`
Copies the database as it is at one moment into FILE, an SQLite database that only you can read. FILE appears when it is whole, checked
and on the disk, and takes no other file's place. Events, tasks and findings are all in it; the repository is not. It takes the flags
of serve.`),
		Example: "  ctxd backup ~/backups/web-monday.db\n  ctxd restore ~/backups/web-monday.db",
		Args:    cobra.ExactArgs(1),
	}
	s := c.settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := s.options()
		if err != nil {
			return err
		}
		p := c.progress("copying")
		done, err := app.Backup(cmd.Context(), o, args[0], p.tell)
		p.end()
		if err != nil {
			return plain(err)
		}
		return c.copied("backed up", done)
	}
	return cmd
}

func (c *command) restore() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup into the place of the database",
		Long: strings.TrimSpace(`
Checks the backup, then puts a copy of it into the place of the database, in one step. The database that was there stays in the data
folder under another name, which is printed. Refuses as long as any ctxd has the database open. It takes the flags of serve.

Who follows events starts anew then: ids after the newest event of the backup are given out again.`),
		Args: cobra.ExactArgs(1),
	}
	s := c.settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := s.options()
		if err != nil {
			return err
		}
		p := c.progress("copying")
		done, err := app.Restore(cmd.Context(), o, args[0], p.tell)
		p.end()
		if err != nil {
			return plain(err)
		}
		return c.copied("restored", done)
	}
	return cmd
}

// plain says in words that somebody has stopped it.
func plain(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped; nothing has changed")
	}
	return err
}

func (c *command) copied(verb string, d app.Copied) error {
	if c.json {
		return c.print(d)
	}
	newest := ""
	if d.LastEventID != nil {
		newest = fmt.Sprintf(", newest event %d", *d.LastEventID)
	}
	fmt.Fprintf(c.Stdout, "%s %s (%s%s)\n", verb, d.File, size(d.Bytes), newest)
	if d.Kept != "" {
		fmt.Fprintf(c.Stdout, "the database that was there is %s\n", d.Kept)
	}
	return nil
}
