package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/fault"
)

func (c *command) doctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that ctxd can work here, and say how to mend what is wrong",
		Long: strings.TrimSpace(`
Checks the configuration, the folders, git, the server that may run, every page of the database, the tools and the address, and says
how to mend what is wrong. It takes the flags of serve.

Exit codes: 0 nothing is wrong (warnings are no fault), 1 something is, 2 wrong use.`),
	}
	s := c.settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := s.options()
		checks := []app.Check{s.check(o, err)}
		if err == nil {
			p := c.progress("checking")
			checks = append(checks, app.Diagnose(cmd.Context(), o)...)
			p.end()
		}
		return c.report(checks)
	}
	return cmd
}

// check judges the configuration: whether it can be read, and by whom its secrets can.
func (s *settings) check(o app.Options, err error) app.Check {
	c := app.Check{Name: "configuration", Err: err}
	if err != nil {
		return c
	}
	c.Says = "the defaults, the environment and the flags"
	if file := s.configFile(); file != "" {
		c.Says = file
		if o.Config.AuthToken != nil && othersRead(file) {
			c.Warn = "others can read the token in it; chmod 600 " + file + " closes it"
		}
	}
	if file := s.c.Getenv(tokenFileEnv); file != "" && c.Warn == "" && othersRead(file) {
		c.Warn = "others can read the token file " + file + "; chmod 600 closes it"
	}
	return c
}

// othersRead says whether a file can be read by more than its owner.
func othersRead(file string) bool {
	info, err := os.Stat(file)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o044 != 0
}

// report shows what was checked. A failed check fails the command.
func (c *command) report(checks []app.Check) error {
	type row struct {
		Check string `json:"check"`
		OK    bool   `json:"ok"`
		Says  string `json:"says,omitempty"`
		Warn  string `json:"warning,omitempty"`
	}
	var rows []row
	failed := 0
	for _, k := range checks {
		r := row{Check: k.Name, OK: k.Err == nil, Says: k.Says, Warn: k.Warn}
		if k.Err != nil {
			failed++
			r.Says = strings.TrimSpace(fault.From(k.Err).Message)
		}
		rows = append(rows, r)
	}
	if c.json {
		if err := c.print(map[string]any{"checks": rows, "failed": failed}); err != nil {
			return err
		}
	} else {
		for _, r := range rows {
			word := "ok  "
			switch {
			case !r.OK:
				word = "FAIL"
			case r.Warn != "":
				word = "warn"
			}
			fmt.Fprintf(c.Stdout, "%s  %-13s  %s\n", word, r.Check, r.Says)
			if r.Warn != "" {
				fmt.Fprintf(c.Stdout, "      %-13s  %s\n", "", r.Warn)
			}
		}
	}
	if failed > 0 {
		return silent{errors.New("a check has failed")}
	}
	return nil
}
