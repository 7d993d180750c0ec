package setup

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
)

// Entry is the command that a client starts.
type Entry struct {
	Command string
	Args    []string
}

// NewEntry is the entry that serves a folder; the one that the client starts it in where root is "".
func NewEntry(command, root string) Entry {
	if root == "" {
		return Entry{command, []string{"mcp"}}
	}
	return Entry{command, []string{"mcp", projectRootArg, root}}
}

// field is a named value of an entry: a string or a list of strings.
type field struct {
	name  string
	value any
}

// fields are what the client wants to read of an entry, in the order in which its documentation has them.
func (c *Client) fields(e Entry) []field {
	out := []field{{"command", e.Command}, {"args", e.Args}}
	if c.Typed {
		out = slices.Insert(out, 0, field{"type", "stdio"})
	}
	return out
}

// admits refuses an entry that the client would read as another one.
func (c *Client) admits(e Entry) error {
	if c.Expands == "" {
		return nil
	}
	for _, text := range append([]string{e.Command}, e.Args...) {
		if strings.Contains(text, c.Expands) {
			return fault.Tool("would_be_expanded", "%s would take %s in %q for a variable; use a folder, and a place of ctxd, without it in their paths",
				c.Title, c.Expands, text)
		}
	}
	return nil
}

// ours says whether an entry of a file starts ctxd mcp, whatever else it says.
func ours(had map[string]any, e Entry) bool {
	command, _ := had["command"].(string)
	args, ok := texts(had["args"])
	if !ok || len(args) == 0 || args[0] != "mcp" {
		return false
	}
	base := path.Base(strings.ReplaceAll(command, `\`, "/"))
	return command == e.Command || strings.EqualFold(strings.TrimSuffix(base, ".exe"), name)
}

// texts reads a list of strings out of a decoded document.
func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	var out []string
	for _, item := range list {
		text, isText := item.(string)
		ok = ok && isText
		out = append(out, text)
	}
	return out, ok
}

// wanted is the entry to write in the place of one of ours: other flags that somebody gave ctxd there stay.
func wanted(had map[string]any, e Entry) Entry {
	args, _ := texts(had["args"])
	root, rest := splitRoot(args)
	want, _ := splitRoot(e.Args)
	if root == want {
		return Entry{e.Command, args}
	}
	return Entry{e.Command, append(slices.Clone(e.Args), rest...)}
}

// splitRoot takes the folder, and mcp itself, out of the arguments of ctxd mcp.
func splitRoot(args []string) (root string, rest []string) {
	for i := 1; i < len(args); i++ {
		if value, ok := strings.CutPrefix(args[i], projectRootArg+"="); ok {
			root = value
		} else if args[i] == projectRootArg && i+1 < len(args) {
			i++
			root = args[i]
		} else {
			rest = append(rest, args[i])
		}
	}
	return root, rest
}
