package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/socket"
)

// Place is what a configuration serves, and where its data lies. Processes of one place may work for each other.
type Place struct {
	DataDir    string // absolute; need not be there
	Default    string // id of a workspace
	Workspaces []socket.Workspace
}

// FindPlace works out the place of a configuration. It opens and makes nothing.
func FindPlace(o Options) (Place, error) {
	roots, defaultID, err := o.Config.Roots()
	if err != nil {
		return Place{}, err
	}
	p := Place{Default: defaultID}
	for _, r := range roots {
		root, err := resolved(r.Root)
		if err != nil {
			return Place{}, err
		}
		p.Workspaces = append(p.Workspaces, socket.Workspace{ID: r.ID, Root: root, Rules: rules(o, r)})
		if r.ID != defaultID {
			continue
		}
		if p.DataDir, err = DataDir(o, r.Root); err != nil {
			return Place{}, err
		}
	}
	return p, nil
}

// rules is a hash of what is refused in a workspace: who attaches must not read more than he could by himself.
func rules(o Options, r schema.WorkspaceConfig) string {
	sum := sha256.Sum256([]byte(strings.Join(refused(o, r), "\n")))
	return hex.EncodeToString(sum[:8])
}

// resolved is an absolute path without links, as far as it is there.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("app: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

// DataDir is where the data of a root lies: what the configuration says, else $XDG_DATA_HOME/ctxd/<hash of the root>.
func DataDir(o Options, root string) (string, error) {
	if o.Config.DataDir != nil {
		return filepath.Abs(*o.Config.DataDir)
	}
	home := o.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(home) {
		if home = o.Getenv("HOME"); !filepath.IsAbs(home) {
			return "", fault.New(catalog.InvalidRequest, "neither XDG_DATA_HOME nor HOME is set; name a folder with --data-dir")
		}
		home = filepath.Join(home, ".local", "share")
	}
	abs, err := resolved(root)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(abs))
	return filepath.Join(home, "ctxd", hex.EncodeToString(sum[:8])), nil
}
