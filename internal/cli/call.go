package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

func (c *command) call() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call TOOL [KEY=VALUE | KEY:=JSON]…",
		Short: "Call one tool on the repository, without a server",
		Long: strings.TrimSpace(`
Runs one call through the same pipeline as a server would, with the same events, and prints its text.

KEY=VALUE is read by the type that the tool gives the key; a list takes its key several times. KEY:=JSON is taken as
it is. ctxd tools shows what there is.`),
		Example: "  ctxd call ctx_read path=main.go mode=lines:1-20\n  ctxd call ctx_search pattern='func main' include='*.go'\n  ctxd call ctx_multi_read paths=go.mod paths=README.md",
		Args:    cobra.MinimumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completions(args), cobra.ShellCompDirectiveNoSpace
		},
	}
	s := c.settings(cmd)
	workspace := cmd.Flags().String("workspace", "", "workspace to call in; the default one when absent")
	channel := cmd.Flags().String("channel", "", "channel to call in; default when absent")
	agent := cmd.Flags().String("agent", "", "label of the caller, shown as the actor of the event")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arguments, err := parseArguments(args[0], args[1:])
		if err != nil {
			return err
		}
		o, err := s.options()
		if err != nil {
			return err
		}
		e, err := app.OpenEngine(cmd.Context(), o)
		if err != nil {
			return err
		}
		req := action.Request{ID: app.NewID(), Principal: identity.Local(), Tool: args[0], Arguments: arguments, Actor: *agent}
		if *workspace != "" {
			req.Where.Body = workspace
		}
		if *channel != "" {
			req.Channel = channel
		}
		res, err := e.Pipeline.Call(cmd.Context(), req)
		if closeErr := e.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return failedCall{err, req.ID}
		}
		return c.show(res)
	}
	return cmd
}

// failedCall names the call that failed, as its events do.
type failedCall struct {
	error
	id string
}

// Unwrap gives what went wrong.
func (f failedCall) Unwrap() error { return f.error }

func (c *command) show(res *action.Result) error {
	if !c.json {
		_, err := io.WriteString(c.Stdout, strings.TrimSuffix(res.Text, "\n")+"\n")
		return err
	}
	text := res.Text
	return c.print(schema.CallResponse{Result: schema.CallToolResult{
		Content:           []schema.ContentBlock{{Type: "text", Text: &text}},
		StructuredContent: json.RawMessage(res.Structured),
		Meta:              &schema.CallMeta{CtxdResult: &res.Meta},
	}})
}

// parameter is what the input schema says of one parameter.
type parameter struct {
	Type  string `json:"type"`
	Items struct {
		Type string `json:"type"`
	} `json:"items"`
	Enum []string `json:"enum"`
}

func parameters(name string) map[string]parameter {
	i := slices.IndexFunc(tool.Specs, func(t tool.Spec) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	var in struct {
		Properties map[string]parameter `json:"properties"`
	}
	if err := json.Unmarshal(tool.Specs[i].Input, &in); err != nil {
		return nil // the schemas of built-in tools are admitted, or nothing starts
	}
	return in.Properties
}

// parseArguments reads KEY=VALUE and KEY:=JSON by the types of the tool. What the tool does not know is passed on as text:
// the pipeline says what is wrong with it.
func parseArguments(name string, words []string) ([]byte, error) {
	known := parameters(name)
	out := map[string]any{}
	whole := map[string]bool{} // keys that have their value: a second one would silently win
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || key == "" || key == ":" {
			return nil, usage{fmt.Errorf("%q is neither KEY=VALUE nor KEY:=JSON", w)}
		}
		raw := strings.TrimSuffix(key, ":")
		if _, there := out[raw]; there && (raw != key || whole[raw] || known[raw].Type != "array") {
			return nil, usage{fmt.Errorf("%s stands twice", raw)}
		}
		if whole[raw] = raw != key; whole[raw] {
			v, err := jsondoc.Decode([]byte(value))
			if err != nil {
				return nil, usage{fmt.Errorf("%s: %w", raw, err)}
			}
			out[raw] = v
			continue
		}
		p := known[key]
		if p.Type != "array" {
			out[key] = typed(p.Type, value)
			continue
		}
		list, _ := out[key].([]any)
		out[key] = append(list, typed(p.Items.Type, value))
	}
	return jsondoc.Canonical(out), nil
}

// typed reads a word as a type of JSON; what does not fit stays text, for the schema to refuse.
func typed(kind, text string) any {
	switch kind {
	case "integer", "number", "boolean":
		if v, err := jsondoc.Decode([]byte(text)); err == nil {
			return v
		}
	}
	return text
}

// completions are the tools, then the parameters of the tool that was named.
func completions(args []string) []string {
	var out []string
	if len(args) == 0 {
		for _, t := range tool.Specs {
			out = append(out, t.Name)
		}
		return out
	}
	for name, p := range parameters(args[0]) {
		out = append(out, name+"=")
		for _, v := range p.Enum {
			out = append(out, name+"="+v)
		}
	}
	slices.Sort(out)
	return out
}

func (c *command) tools() *cobra.Command {
	return &cobra.Command{
		Use:   "tools [TOOL]",
		Short: "List the tools, their scopes and what they do to the world",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			specs := tool.Specs
			if len(args) == 1 {
				i := slices.IndexFunc(specs, func(t tool.Spec) bool { return t.Name == args[0] })
				if i < 0 {
					return unknownTool(args[0])
				}
				specs = specs[i : i+1]
			}
			if c.json {
				return c.toolsJSON(specs)
			}
			return c.toolsTable(specs, len(args) == 1)
		},
	}
}

func unknownTool(name string) error {
	var names []string
	for _, t := range tool.Specs {
		names = append(names, t.Name)
	}
	if near := contract.Nearest(name, names); near != "" {
		return fault.New(catalog.InvalidRequest, "there is no tool %q; did you mean %s?", name, near)
	}
	return fault.New(catalog.InvalidRequest, "there is no tool %q; ctxd tools lists those that there are", name)
}
