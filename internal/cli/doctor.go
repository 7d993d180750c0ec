package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/fault"
)

func (c *command) doctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that ctxd can work here, and say how to mend what is wrong",
		Long:  "Checks the configuration, the folders, the database and the address. It takes the flags of serve.",
	}
	s := c.settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := s.options()
		checks := []app.Check{{Name: "configuration", Err: err}}
		if err == nil {
			checks = append(checks, app.Diagnose(cmd.Context(), o)...)
		}
		return c.report(checks)
	}
	return cmd
}

// report shows what was checked. A failed check fails the command.
func (c *command) report(checks []app.Check) error {
	type row struct {
		Check string `json:"check"`
		OK    bool   `json:"ok"`
		Says  string `json:"says,omitempty"`
	}
	var rows []row
	failed := 0
	for _, k := range checks {
		r := row{Check: k.Name, OK: k.Err == nil, Says: k.Says}
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
			if !r.OK {
				word = "FAIL"
			}
			fmt.Fprintf(c.Stdout, "%s  %-13s  %s\n", word, r.Check, r.Says)
		}
	}
	if failed > 0 {
		return silent{errors.New("a check has failed")}
	}
	return nil
}
