package revision

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
)

// State is how a path differs; "" means that it does not.
type State string

// States.
const (
	Modified    State = "modified"
	TypeChanged State = "type_changed" // a file that became a symlink, or the like
	Added       State = "added"
	Deleted     State = "deleted"
	Renamed     State = "renamed"
	Copied      State = "copied"
	Unmerged    State = "unmerged"
	Untracked   State = "untracked"
)

var states = map[byte]State{
	'.': "", 'M': Modified, 'T': TypeChanged, 'A': Added, 'D': Deleted, 'R': Renamed, 'C': Copied, 'U': Unmerged, '?': Untracked,
}

// Status is how a path differs, in two steps as git keeps them.
type Status struct {
	Index    State // index against commit: what is staged; of a conflict, what we did
	Worktree State // file against index: what is not; of a conflict, what they did
	Conflict bool  // a merge left it to be resolved
}

// Change is a path that differs from the commit.
type Change struct {
	Path      string // relative to the root, with slashes
	Status    Status
	OldPath   string // of a renamed or copied one; "" where it lies outside of the root or is refused
	Submodule bool   // another commit of it is checked out; what is changed inside is not looked at
}

const (
	maxChanges      = 100_000
	maxStatusOutput = 64 << 20
)

// Dirty gives what differs from the commit below the root, sorted by path: staged, not staged, untracked and not ignored, renamed,
// in conflict, and submodules at another commit. A repository within that is neither tracked nor a submodule is one untracked
// path. Refused paths are left out.
//
// Filters of the repository are not run: a file that has one (large file storage, encryption) and whose time stamps changed
// counts as modified, though its content may be the same. Settings of the user do not count either. Git renews the time stamps
// of some objects where files lie in a folder that a sparse index leaves out; else it touches nothing.
//
// Fault reason: too_large, for more than 100 000 changes. A bare repository has no working tree: no_repository.
func (r *Repo) Dirty(ctx context.Context) ([]Change, error) {
	var list []Change
	err := r.with(ctx, func(ctx context.Context, s *shadow) error {
		if s.layout.bare() {
			return fault.Tool(NoRepository, "the repository is bare: it has no working tree that could differ")
		}
		out, err := s.status(ctx, r.w.ExcludesFile())
		if err != nil {
			return err
		}
		if list, err = parseStatus(out); err != nil {
			return err
		}
		list = r.below(s.layout.prefix, list)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

func (s *shadow) status(ctx context.Context, excludes string) ([]byte, error) {
	if err := s.withIndex(); err != nil {
		return nil, err
	}
	renames := "--find-renames"
	if s.layout.config["extensions.partialclone"] != "" {
		renames = "--no-renames" // it would need contents that were not fetched
	}
	args := []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=no", "--ignore-submodules=dirty", renames, "--", s.layout.prefix}
	if excludes != "" {
		args = append([]string{"-c", "core.excludesFile=" + excludes}, args...)
	}
	out, err := s.run(ctx, command{args: args, most: maxStatusOutput})
	if errors.Is(err, errTooMuch) {
		return nil, tooMany()
	}
	return out, err
}

func tooMany() error {
	return fault.Tool(TooLarge, "more than %d files differ; ignore what is generated, or commit", maxChanges)
}

var errStatus = errors.New("git status says something unknown")

// parseStatus reads version 2 of git's status: records that end in a NUL, those of renames followed by the old path.
func parseStatus(out []byte) ([]Change, error) {
	records := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var list []Change
	for i := 0; i < len(records); i++ {
		kind, rest, _ := strings.Cut(records[i], " ")
		var c Change
		var ok bool
		switch kind {
		case "1":
			c, ok = entry(rest, 7)
		case "2":
			if c, ok = entry(rest, 8); ok && i+1 < len(records) {
				i++
				c.OldPath = records[i]
			}
		case "u":
			c, ok = entry(rest, 9)
			c.Status.Conflict = true
		case "?":
			c, ok = Change{Path: strings.TrimSuffix(rest, "/"), Status: Status{Worktree: Untracked}}, rest != ""
		case "", "#", "!":
			continue
		}
		if !ok {
			return nil, errStatus
		}
		if list = append(list, c); len(list) > maxChanges {
			return nil, tooMany()
		}
	}
	return list, nil
}

// entry reads "XY sub …" with as many words before the path.
func entry(s string, words int) (Change, bool) {
	parts := strings.SplitN(s, " ", words+1)
	if len(parts) <= words || len(parts[0]) != 2 || parts[1] == "" || parts[words] == "" {
		return Change{}, false
	}
	x, okX := states[parts[0][0]]
	y, okY := states[parts[0][1]]
	c := Change{Path: parts[words], Status: Status{Index: x, Worktree: y}, Submodule: parts[1][0] == 'S'}
	return c, okX && okY
}

// below makes paths of the repository paths of the workspace, and leaves out those that it refuses.
func (r *Repo) below(prefix string, list []Change) []Change {
	out := list[:0]
	for _, c := range list {
		var ok bool
		if c.Path, ok = r.relative(prefix, c.Path); !ok {
			continue
		}
		if c.OldPath != "" {
			c.OldPath, _ = r.relative(prefix, c.OldPath)
		}
		out = append(out, c)
	}
	return out
}

func (r *Repo) relative(prefix, p string) (string, bool) {
	if prefix != "." {
		rest, ok := strings.CutPrefix(p, prefix+"/")
		if !ok {
			return "", false
		}
		p = rest
	}
	rel, err := r.w.Resolve(p)
	if err != nil || rel == "." {
		return "", false
	}
	return rel, true
}
