// Package revision is the only place that runs git: it tells the commit and branch of a workspace, what differs from the commit,
// and files as they were at a revision.
//
// A repository is a stranger's: whoever wrote its configuration can name programs for git to run (fsmonitor, hooks, filters,
// textconv, external diffs, ssh, aliases) and places outside to read. So git never sees it. Each call makes a temporary git
// folder with a configuration of ours and links to the objects, refs and index, and lets git read through those; no setting of
// the repository, of its submodules, of the user or of the environment counts, but for a few words that only say how to
// compare files. Nothing is written to the repository, and nothing is fetched.
//
// It keeps nothing between calls and does not watch. It imports workspace, for the jail, and fault. Whoever shows content of
// another time may import it. git 2.30 or later is wanted.
package revision

import (
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/ctxd/ctxd/internal/workspace"
)

// Options say how git is run.
type Options struct {
	Program string        // absolute path of git; "": the one in the search path, looked for once
	Scratch string        // folder for temporary files, outside of every workspace; "": that of the system
	Timeout time.Duration // for one call; 0: 10 s
}

const (
	defaultTimeout = 10 * time.Second
	maxRunning     = 4 // programs at once, so that many callers do not take all of the machine
)

// Git is the git program. Its methods may be called from many goroutines at once.
type Git struct {
	scratch string
	timeout time.Duration
	program func() (string, error)
	running chan struct{}
}

// New does nothing yet: git is looked for when it is first needed.
func New(o Options) *Git {
	g := &Git{scratch: o.Scratch, timeout: o.Timeout, running: make(chan struct{}, maxRunning)}
	if g.timeout <= 0 {
		g.timeout = defaultTimeout
	}
	g.program = sync.OnceValues(func() (string, error) { return find(o.Program) })
	return g
}

// find gives the absolute path of git. A relative entry of the search path finds nothing: it could lead into a workspace.
func find(program string) (string, error) {
	if program == "" {
		program = "git"
	}
	p, err := exec.LookPath(program)
	if err != nil || !filepath.IsAbs(p) {
		return "", missing("git is not installed where the server looks for programs; install it, or put it into the search path").With(err)
	}
	return p, nil
}

// Of gives the repository of a workspace, whether there is one or not. It looks at nothing yet.
func (g *Git) Of(w *workspace.Workspace) *Repo { return &Repo{git: g, w: w} }

// Repo is the repository that the root of a workspace lies in, be it deeper than the repository's top. It is found anew for
// each call. Its methods may be called from many goroutines at once.
//
// Each may fail with the fault reasons git_missing, no_repository, foreign_repository and git_failed, or with the error of its
// context.
type Repo struct {
	git *Git
	w   *workspace.Workspace
}

// programFor gives git, unless it lies in the workspace: nothing in there is run.
func (r *Repo) programFor() (string, error) {
	p, err := r.git.program()
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return "", missing("git was there and is gone; install it again, and restart the server").With(err)
	}
	if inside(r.w.Root(), real) || inside(r.w.Root(), p) {
		return "", missing("the git that the server finds lies in the workspace, and nothing in there is run; put another first in the search path")
	}
	return p, nil
}
