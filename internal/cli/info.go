package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/api"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/capability"
	"github.com/ctxd/ctxd/internal/config"
)

func (c *command) toolsJSON(specs []tool.Spec) error {
	entries := capability.Entries(specs)
	return c.print(schema.ToolList{Tools: entries, Total: len(entries), Limit: len(entries)})
}

func (c *command) toolsTable(specs []tool.Spec, whole bool) error {
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tACTION\tSCOPES\tEFFECTS")
	for _, t := range specs {
		for _, cp := range t.Capabilities {
			action := cp.Action
			if action == "" {
				action = "-"
			}
			var scopes []string
			for _, s := range cp.Scopes {
				scopes = append(scopes, string(s))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, action, strings.Join(scopes, " "), strings.Join(cp.SideEffects, " "))
		}
	}
	if err := w.Flush(); err != nil || !whole {
		return err
	}
	return c.toolDetails(specs[0])
}

// toolDetails shows the parameters of one tool.
func (c *command) toolDetails(t tool.Spec) error {
	var in struct {
		Properties map[string]struct {
			Type        string          `json:"type"`
			Description string          `json:"description"`
			Default     json.RawMessage `json:"default"`
			Enum        []string        `json:"enum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(t.Input, &in); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "\n%s\n\n", t.Description)
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PARAMETER\tTYPE\tDEFAULT\tMEANING")
	var names []string
	for name := range in.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := in.Properties[name]
		kind := p.Type
		if len(p.Enum) > 0 {
			kind = strings.Join(p.Enum, "|")
		}
		def := string(p.Default)
		if def == "" {
			def = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, kind, def, p.Description)
	}
	return w.Flush()
}

func (c *command) openapi() *cobra.Command {
	contract := false
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document that client teams download",
		RunE: func(*cobra.Command, []string) error {
			doc := api.OpenAPI
			if contract {
				doc = api.ContractOpenAPI
			}
			_, err := c.Stdout.Write(doc)
			return err
		},
	}
	cmd.Flags().BoolVar(&contract, "contract", false, "only the routes of http-mcp-contract-v1, as /v1/openapi.json gives them")
	return cmd
}

func (c *command) config() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration in force, and where each value comes from",
		Long:  "Shows each key with its value and its source: default, file, environment or flag. It takes the flags of serve.",
	}
	s := c.settings(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		cfg, err := s.load()
		if err != nil {
			return err
		}
		if c.json {
			return c.print(cfg.Settings())
		}
		return c.settingsTable(cfg.Settings())
	}
	return cmd
}

func (c *command) settingsTable(list []config.Setting) error {
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tSOURCE")
	for _, s := range list {
		value := string(s.Value)
		if len(value) > 60 {
			value = value[:57] + "..."
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Key, value, s.Source)
	}
	return w.Flush()
}

func (c *command) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version, and the contracts that it honours",
		RunE: func(*cobra.Command, []string) error {
			if !c.json {
				_, err := fmt.Fprintf(c.Stdout, "ctxd %s (%s %s/%s)\n", app.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
			contracts := map[string]int{}
			for _, k := range capability.Contracts {
				contracts[k.Key] = k.Version
			}
			return c.print(map[string]any{"version": app.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "contracts": contracts})
		},
	}
}
