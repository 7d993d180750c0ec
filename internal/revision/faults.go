package revision

import (
	"strconv"

	"github.com/ctxd/ctxd/internal/fault"
)

// Reasons of the faults of this package, beside those of package workspace for the paths that callers name.
const (
	NoRepository      = "no_repository"      // the workspace lies in none, or in one without a working tree
	ForeignRepository = "foreign_repository" // what `.git` names lies elsewhere, and does not name the workspace back
	NoSuchRevision    = "no_such_revision"
	ObjectMissing     = "object_missing" // a partial clone has not fetched it
	GitMissing        = "git_missing"
	GitFailed         = "git_failed" // or it took too long
	TooLarge          = "too_large"
)

func missing(message string) *fault.Fault { return fault.Tool(GitMissing, "%s", message) }

func failed(format string, args ...any) *fault.Fault { return fault.Tool(GitFailed, format, args...) }

func foreign(what string) *fault.Fault {
	return fault.Tool(ForeignRepository,
		"%s of the workspace's repository lies outside of it, so that files of another one could be read; use a worktree, a submodule or "+
			"a clone of its own", what)
}

func noRevision(rev string) *fault.Fault {
	return fault.Tool(NoSuchRevision, "%s names no commit here; give a branch, a tag, a hash of at least 4 digits, or HEAD~1. "+
		"A shallow clone holds no older ones", quote(rev))
}

// quote shows a caller's word; a hostile one is cut short.
func quote(s string) string {
	const most = 300
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
