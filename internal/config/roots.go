package config

import (
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
)

// DefaultWorkspace is the id of the workspace that project_root configures.
const DefaultWorkspace = "default"

// ParseRoot reads a workspace as the flag --root gives it: PATH[:ID]. Without an id, the name of the folder is the id. isDir
// tells whether a path names a folder, so that a path with a colon in it is legal.
func ParseRoot(text string, isDir func(string) bool) (map[string]any, error) {
	path, id := text, ""
	if !isDir(text) {
		if i := strings.LastIndexByte(text, ':'); i > 0 {
			path, id = text[:i], text[i+1:]
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.New(catalog.InvalidRequest, "--root %q: the path cannot be made absolute", text)
	}
	if id == "" {
		id = filepath.Base(abs)
	}
	if err := identity.CheckID("the id of a workspace", id); err != nil {
		return nil, fault.New(catalog.InvalidRequest, "--root %q: %w; write PATH:ID", text, err)
	}
	return map[string]any{"id": id, "root": abs}, nil
}

// Roots are the folders to serve, and the id of the default one. project_root is served as "default" if it was set, or
// if nothing else is.
func (c *Config) Roots() (list []schema.WorkspaceConfig, defaultID string, err error) {
	if len(c.Workspaces) == 0 || c.Source("project_root") != "default" {
		list = append(list, schema.WorkspaceConfig{ID: DefaultWorkspace, Root: c.ProjectRoot})
	}
	list = append(list, c.Workspaces...)
	defaultID = list[0].ID
	seen := map[string]bool{}
	for _, w := range list {
		if err := identity.CheckID("the id of a workspace", w.ID); err != nil {
			return nil, "", err
		}
		if seen[w.ID] {
			return nil, "", fault.New(catalog.InvalidRequest, "two workspaces are called %q", w.ID)
		}
		seen[w.ID] = true
		if w.ID == DefaultWorkspace {
			defaultID = w.ID
		}
	}
	if c.DefaultWorkspaceID != nil {
		if defaultID = *c.DefaultWorkspaceID; !seen[defaultID] {
			return nil, "", fault.New(catalog.InvalidRequest, "defaultWorkspaceId is %q, which is not served", defaultID)
		}
	}
	return list, defaultID, nil
}
