package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/ctxd/ctxd/internal/fault"
)

// Reasons of the faults of this package.
const (
	NoSuchFile       = "no_such_file"
	OutsideWorkspace = "outside_workspace"
	Refused          = "refused"
	NotAFile         = "not_a_file"
	IsAFolder        = "is_a_folder"
	NotAFolder       = "not_a_folder"
	TooLarge         = "too_large"
	BinaryFile       = "binary_file"
	Unreadable       = "unreadable"
	InvalidPath      = "invalid_path"
	InvalidPattern   = "invalid_pattern"
)

// What keeps a name from being opened, beside what the system says.
var (
	errEscapes = errors.New("a symlink leads out of the root")
	errLoop    = errors.New("symlinks go in a circle")
	errRefused = errors.New("a symlink leads to a refused name")
	errSwapped = errors.New("names changed while they were opened")
	errNoWay   = errors.New("a name on the way is no folder") // or it is a symlink, still to be resolved
)

func invalidPath(format string, args ...any) error { return fault.Tool(InvalidPath, format, args...) }

func outside(p string) error {
	return fault.Tool(OutsideWorkspace, "%s lies outside the workspace; give a path relative to its root", quote(p))
}

func refused(p string) error {
	return fault.Tool(Refused,
		"%s is refused: git's own files, secrets and what the workspace's configuration refuses are not given out", quote(p))
}

// mend makes a fault of what went wrong with a path. The system's own words stay in the cause: they may name places outside.
func mend(rel string, err error) error {
	var f *fault.Fault
	switch {
	case err == nil, errors.As(err, &f), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errEscapes):
		return outsideLink(rel)
	case errors.Is(err, errRefused):
		return fault.Tool(Refused, "%s is a symlink to something that is refused", quote(rel))
	case errors.Is(err, errLoop), errors.Is(err, syscall.ELOOP):
		return fault.Tool(Unreadable, "%s goes through symlinks in a circle", quote(rel)).With(err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, errNoWay):
		return fault.Tool(NoSuchFile, "nothing is at %s; check spelling and letter case, the path is relative to the root",
			quote(rel)).With(err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return invalidPath("%s is longer than the file system allows", quote(rel))
	case errors.Is(err, fs.ErrPermission):
		return fault.Tool(Unreadable, "%s may not be read by the server; change its permissions", quote(rel)).With(err)
	default:
		return fault.Tool(Unreadable, "%s cannot be read now; try again", quote(rel)).With(err)
	}
}

func reasonIs(err error, reason string) bool {
	f := (*fault.Fault)(nil)
	return errors.As(err, &f) && f.Reason() == reason
}

func outsideLink(rel string) error {
	return fault.Tool(OutsideWorkspace,
		"%s goes through a symlink that leads out of the workspace or is absolute; name what it stands for instead", quote(rel))
}

// quote shows a caller's path; a hostile one is cut short.
func quote(p string) string {
	const most = 300
	if len(p) > most {
		return strconv.Quote(p[:most]) + "…"
	}
	return strconv.Quote(p)
}
