package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// Host is the machine and the folder that clients are set up for.
type Host struct {
	OS        string            // as in GOOS
	Home      string            // home folder, absolute
	Root      string            // folder that ctxd serves, absolute
	Variables map[string]string // values of Variables in the environment
}

// Variables are those of the environment that move the files of clients.
func Variables() []string {
	var out []string
	for _, c := range Clients {
		for _, f := range c.User {
			if f.Variable != "" && !slices.Contains(out, f.Variable) {
				out = append(out, f.Variable)
			}
		}
	}
	return out
}

// Scopes are those that the client has, the one to take where none is named first.
func (c *Client) Scopes() []Scope {
	if c.Project == "" {
		return []Scope{User}
	}
	return []Scope{Project, User}
}

// File is the client's file for a scope.
func (c *Client) File(h Host, s Scope) (string, error) {
	switch {
	case !slices.Contains(c.Scopes(), s):
		return "", fault.New(catalog.InvalidRequest, "%s has no file of a project; leave --scope out, or say --scope user", c.Title)
	case s == Project:
		return filepath.Join(h.Root, filepath.FromSlash(c.Project)), nil
	}
	f := c.folder(h.OS)
	if dir := h.Variables[f.Variable]; f.Variable != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(f.File)), nil
	}
	if !filepath.IsAbs(h.Home) {
		return "", fault.New(catalog.InvalidRequest, "the home folder is unknown, so %s has no file of a user; set HOME, or say --scope project", c.Title)
	}
	return filepath.Join(h.Home, filepath.FromSlash(strings.TrimPrefix(f.Default, "~")), filepath.FromSlash(f.File)), nil
}

func (c *Client) folder(system string) Folder {
	i := slices.IndexFunc(c.User, func(f Folder) bool { return f.OS == "" || f.OS == system })
	return c.User[i]
}

// Command is what an entry starts: the plain name where the search path leads to this very program, which survives updates that
// move it, else its path. Executable is the path of this program, searchPath the value of PATH.
func Command(executable, searchPath, system string) string {
	self, err := os.Stat(executable)
	if err != nil {
		return executable
	}
	program := name
	if system == "windows" {
		program += ".exe"
	}
	for _, dir := range filepath.SplitList(searchPath) {
		if !filepath.IsAbs(dir) {
			continue // what it leads to depends on where the client stands
		}
		found, err := os.Stat(filepath.Join(dir, program))
		if err != nil || found.IsDir() {
			continue
		}
		if os.SameFile(self, found) {
			return name
		}
		break // another ctxd comes first
	}
	return executable
}
