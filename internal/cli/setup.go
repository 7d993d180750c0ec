package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/setup"
)

// setupFlags are the flags of ctxd setup.
type setupFlags struct {
	root, scope          string
	print, remove, force bool
	fixed                bool // whether root was named
}

func (c *command) setup() *cobra.Command {
	f := setupFlags{}
	cmd := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Plug ctxd into an AI client, or show which have it",
		Long: strings.TrimSpace(`
Writes the command ctxd mcp into the configuration file of a client: ` + strings.Join(setup.Names(), ", ") + `.
Without a client it lists them, with their files and whether ctxd is in there.

Only the entry of ctxd is written. Everything else in the file stays as it is, comments included, and the file as it
was before lies beside it as FILE.ctxd-backup. A file that is broken or unusual is left alone, with a word on why.

The file of a project, in the folder that ctxd serves, is written unless --scope user asks for that of your own.
There the folder is left out for clients that start servers in the folder that you open.`),
		Example: "  ctxd setup\n  ctxd setup claude-code\n  ctxd setup codex --scope user\n  ctxd setup zed --print\n  ctxd setup cursor --remove",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return setup.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.fixed = cmd.Flags().Changed("project-root")
		return c.runSetup(f, args)
	}
	return cmd
}

func (f *setupFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", "", "whose file: project or user")
	flags.BoolVar(&f.print, "print", false, "print what would be written, and write nothing")
	flags.BoolVar(&f.remove, "remove", false, "take the entry out again")
	flags.BoolVar(&f.force, "force", false, "replace, or take out, an entry called ctxd that starts something else")
	flags.StringVar(&f.root, "project-root", ".", "folder to serve")
	flags.SortFlags = false
	scopes := cobra.FixedCompletions([]string{string(setup.Project), string(setup.User)}, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("scope", scopes) // fails for flags that are not there
}

func (c *command) runSetup(f setupFlags, args []string) error {
	host, err := c.host(f.root)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := setup.Command(self, c.Getenv("PATH"), runtime.GOOS)
	if len(args) == 0 {
		if f.print || f.remove || f.force || f.scope != "" {
			return usage{errors.New("name a client; ctxd setup lists them")}
		}
		return c.listClients(host, command)
	}
	t, err := f.target(host, args[0], command)
	if err != nil {
		return err
	}
	switch {
	case f.print && f.remove:
		return usage{errors.New("--print shows what would be written; it does not go with --remove")}
	case f.print:
		return c.printEntry(t)
	}
	edit := t.Put
	if f.remove {
		edit = t.Take
	}
	r, err := edit(f.force)
	if err != nil {
		return err
	}
	return c.showChange(t, r, f.remove)
}

// host is this machine, and the folder to serve.
func (c *command) host(root string) (setup.Host, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return setup.Host{}, err
	}
	if !isDir(abs) {
		return setup.Host{}, fault.New(catalog.InvalidRequest, "there is no folder %s", abs)
	}
	h := setup.Host{OS: runtime.GOOS, Home: c.Getenv("HOME"), Root: abs, Variables: map[string]string{}}
	if h.Home == "" {
		h.Home = c.Getenv("USERPROFILE") // as Windows calls it
	}
	for _, v := range setup.Variables() {
		h.Variables[v] = c.Getenv(v)
	}
	return h, nil
}

// target is the file that the command line names.
func (f *setupFlags) target(h setup.Host, name, command string) (*setup.Target, error) {
	client := setup.Find(name)
	if client == nil {
		return nil, unknownClient(name)
	}
	scope := setup.Scope(f.scope)
	switch scope {
	case "":
		scope = client.Scopes()[0]
	case setup.Project, setup.User:
	default:
		return nil, usage{fmt.Errorf("--scope is project or user, not %q", f.scope)}
	}
	return setup.NewTarget(client, scope, h, command, f.fixed)
}

func unknownClient(name string) error {
	if near := contract.Nearest(name, setup.Names()); near != "" {
		return fault.New(catalog.InvalidRequest, "there is no client %q; did you mean %s?", name, near)
	}
	return fault.New(catalog.InvalidRequest, "there is no client %q; there are %s", name, strings.Join(setup.Names(), ", "))
}

func (c *command) printEntry(t *setup.Target) error {
	r, err := t.Print()
	if err != nil {
		return err
	}
	if c.json {
		return c.print(r)
	}
	c.say("this belongs in %s (%s)", r.File, t.Client.Format)
	c.sayAll(r.Notes)
	_, err = fmt.Fprint(c.Stdout, r.Snippet)
	return err
}

func (c *command) sayAll(notes []string) {
	for _, n := range notes {
		c.say("%s", n)
	}
}

func (c *command) showChange(t *setup.Target, r *setup.Result, remove bool) error {
	if c.json {
		return c.print(r)
	}
	switch {
	case r.Change == setup.Unchanged && remove:
		fmt.Fprintf(c.Stdout, "unchanged: ctxd is not in %s\n", r.File)
	case r.Change == setup.Unchanged:
		fmt.Fprintf(c.Stdout, "unchanged: ctxd is in %s\n", r.File)
	default:
		preposition := map[setup.Change]string{setup.Added: "to", setup.Updated: "in", setup.Removed: "from"}[r.Change]
		fmt.Fprintf(c.Stdout, "%s ctxd %s %s\n", r.Change, preposition, r.File)
	}
	if r.Changed && r.Backup != "" {
		c.say("a copy of the file from before: %s", r.Backup)
	}
	if r.Changed && !remove {
		c.say("next: %s", t.Client.Next)
	}
	c.sayAll(r.Notes)
	return nil
}

// clientRow is one file of the list.
type clientRow struct {
	Client string       `json:"client"`
	Title  string       `json:"title"`
	Scope  setup.Scope  `json:"scope"`
	File   string       `json:"file,omitempty"`
	Format setup.Format `json:"format"`
	State  setup.State  `json:"state"`
	Says   string       `json:"says,omitempty"` // why the file is refused
}

func (c *command) listClients(h setup.Host, command string) error {
	var rows []clientRow
	for i := range setup.Clients {
		client := &setup.Clients[i]
		for _, scope := range client.Scopes() {
			rows = append(rows, rowOf(client, scope, h, command))
		}
	}
	if c.json {
		return c.print(map[string]any{"clients": rows})
	}
	words := map[setup.State]string{
		setup.Absent: "no", setup.Current: "yes", setup.Different: "yes, with another command", setup.Foreign: "another program under this name",
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLIENT\tSCOPE\tCTXD\tFILE")
	for _, r := range rows {
		if r.State == setup.Refused {
			words[r.State] = "cannot be read"
			c.say("%s", r.Says)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Client, r.Scope, words[r.State], r.File)
	}
	return w.Flush()
}

func rowOf(client *setup.Client, scope setup.Scope, h setup.Host, command string) clientRow {
	row := clientRow{Client: client.Name, Title: client.Title, Scope: scope, Format: client.Format, State: setup.Refused}
	t, err := setup.NewTarget(client, scope, h, command, false)
	if err == nil {
		row.File = t.File
		row.State, err = t.Look()
	}
	if err != nil {
		row.Says = fault.From(err).Message
	}
	return row
}
