package tool

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/token"
)

// pointerPattern is how content is addressed (crc.md C5): c:<8 hex of its hash>:<path>#<first>-<last>.
var pointerPattern = regexp.MustCompile(`^c:([0-9a-f]{8}):(?s:(.+))#(\d{1,9})-(\d{1,9})$`)

// pointed is what a pointer promises.
type pointed struct {
	hash  string
	lines lineRange
}

// pointer names lines of this very content.
func (d *document) pointer(first, last int) string {
	return fmt.Sprintf("c:%s:%s#%d-%d", short(d.sha256), d.path, min(first, last), last)
}

func short(hash string) string { return hash[:8] }

// resolve turns what the caller wrote into a path of the workspace: a path, or a pointer that an answer gave out, unless a
// file of that very name exists.
func (r *reading) resolve(path string) (rel string, want *pointed, err error) {
	if m := pointerPattern.FindStringSubmatch(path); m != nil {
		if _, err := r.call.Workspace.Stat(path); err != nil {
			p := &pointed{hash: m[1]}
			if p.lines.first, err = strconv.Atoi(m[3]); err != nil {
				return "", nil, fault.Tool("bad_path", "%q is no pointer: %w", path, err)
			}
			if p.lines.last, err = strconv.Atoi(m[4]); err != nil {
				return "", nil, fault.Tool("bad_path", "%q is no pointer: %w", path, err)
			}
			rel, err = r.call.Workspace.Resolve(m[2])
			return rel, p, err
		}
	}
	rel, err = r.call.Workspace.Resolve(path)
	return rel, nil, err
}

// cheaper says whether the first text has no more tokens than the second.
func cheaper(ctx context.Context, a, b string) (bool, error) {
	n, err := token.Count(ctx, a)
	if err != nil {
		return false, err
	}
	m, err := token.Count(ctx, b)
	return n <= m, err
}
