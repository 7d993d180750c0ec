package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
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
)

func (c *command) call() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call TOOL [KEY=VALUE | KEY=@FILE | KEY:=JSON | KEY:=@FILE]…",
		Short: "Call one tool, on the repository or on a server",
		Long: strings.TrimSpace(`
Runs one call through the same pipeline as a server would, with the same events, and prints its text. With --server, that server runs
it, over REST.

KEY=VALUE is read by the type that the tool gives the key; a list takes its key several times. KEY:=JSON is taken as it is. @FILE is
what the file holds, and @- what comes on stdin; @@ begins a text with an @. --args is a JSON object of all keys, or of those that
do not follow. ctxd tools shows what there is.

The token for --server is that of --token-file or CTXD_TOKEN_FILE, or else that of --auth-token, CTXD_AUTH_TOKEN or the configuration.

Exit codes: 0 done, 1 the call failed, 2 wrong use, 3 the server cannot be reached.`),
		Example: `  ctxd call ctx_read path=main.go mode=lines:1-20
  ctxd call ctx_search pattern='func main' include='*.go'
  ctxd call ctx_multi_read paths=go.mod paths=README.md
  ctxd call ctx_session action=finding value=@note.txt
  git diff --name-only | jq -R . | jq -s . | ctxd call ctx_multi_read paths:=@-
  echo '{"path": "go.mod"}' | ctxd call ctx_read --args -
  ctxd call ctx_tree --server https://ctxd.example.com --token-file ~/.ctxd-token`,
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completions(args), cobra.ShellCompDirectiveNoSpace
		},
	}
	o := callOptions{settings: c.settings(cmd)}
	f := cmd.Flags()
	f.StringVar(&o.args, "args", "", "arguments as JSON, @FILE or - for stdin")
	f.StringVar(&o.server, "server", "", "address of a server that is to run the call, as http://127.0.0.1:8080")
	f.StringVar(&o.tokenFile, "token-file", "", "file that holds the token for --server ("+tokenFileEnv+")")
	f.StringVar(&o.workspace, "workspace", "", "workspace to call in; the default one when absent")
	f.StringVar(&o.channel, "channel", "", "channel to call in; default when absent")
	f.StringVar(&o.agent, "agent", "", "label of the caller, shown as the actor of the event")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arguments, err := c.readArguments(args[0], o.args, args[1:])
		if err != nil {
			return err
		}
		p := c.progress(args[0] + " runs")
		var res *schema.CallResponse
		if o.server == "" {
			res, err = c.callHere(cmd.Context(), o, args[0], arguments)
		} else {
			res, err = c.callThere(cmd.Context(), o, args[0], arguments)
		}
		p.end()
		if err != nil {
			return err
		}
		return c.show(res)
	}
	return cmd
}

// callOptions are the flags of a call.
type callOptions struct {
	*settings
	args, server, tokenFile, workspace, channel, agent string
}

func (c *command) callHere(ctx context.Context, o callOptions, tool string, arguments []byte) (*schema.CallResponse, error) {
	opts, err := o.options()
	if err != nil {
		return nil, err
	}
	e, err := app.OpenEngine(ctx, opts)
	if err != nil {
		return nil, err
	}
	req := action.Request{ID: app.NewID(), Principal: identity.Local(), Tool: tool, Arguments: arguments, Actor: o.agent}
	if o.workspace != "" {
		req.Where.Body = &o.workspace
	}
	if o.channel != "" {
		req.Channel = &o.channel
	}
	res, err := e.Pipeline.Call(ctx, req)
	if closeErr := e.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, failedCall{err, req.ID}
	}
	text := res.Text
	return &schema.CallResponse{Result: schema.CallToolResult{
		Content:           []schema.ContentBlock{{Type: "text", Text: &text}},
		StructuredContent: json.RawMessage(res.Structured),
		Meta:              &schema.CallMeta{CtxdResult: &res.Meta},
	}}, nil
}

func (c *command) callThere(ctx context.Context, o callOptions, tool string, arguments []byte) (*schema.CallResponse, error) {
	token, err := o.token()
	if err != nil {
		return nil, err
	}
	call := schema.CallRequest{Name: tool, Arguments: arguments}
	if o.workspace != "" {
		call.WorkspaceID = &o.workspace
	}
	if o.channel != "" {
		call.ChannelID = &o.channel
	}
	res, err := app.Remote{URL: o.server, Token: token, Agent: o.agent}.Call(ctx, call)
	var f *app.RemoteFault
	if errors.As(err, &f) {
		return nil, failedCall{err, f.RequestID}
	}
	return res, err
}

// tokenFileEnv names the file of the token where no flag does.
const tokenFileEnv = "CTXD_TOKEN_FILE"

// token is the token for a server, "" for none.
func (o callOptions) token() (string, error) {
	file := o.tokenFile
	if file == "" {
		file = o.c.Getenv(tokenFileEnv)
	}
	if file == "" {
		cfg, err := o.load()
		if err != nil || cfg.AuthToken == nil {
			return "", err
		}
		return *cfg.AuthToken, nil
	}
	raw, err := readAll(file, nil)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", usage{fmt.Errorf("the file %s holds no token, which is one word", file)}
	}
	if others(file) {
		o.c.say("others can read the token file %s; chmod 600 closes it", file)
	}
	return token, nil
}

// others says whether somebody else may read a file.
func others(file string) bool {
	info, err := os.Stat(file)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// failedCall names the call that failed, as its events do.
type failedCall struct {
	error
	id string
}

// Unwrap gives what went wrong.
func (f failedCall) Unwrap() error { return f.error }

func (c *command) show(res *schema.CallResponse) error {
	if c.json {
		return c.print(res)
	}
	for _, block := range res.Result.Content {
		if block.Text == nil {
			continue
		}
		if _, err := io.WriteString(c.Stdout, strings.TrimSuffix(*block.Text, "\n")+"\n"); err != nil {
			return err
		}
	}
	return nil
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
