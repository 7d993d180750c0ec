package workspace

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// maxPath bounds a caller's path in bytes; deeper trees than that can hold are walked, but not asked for by name.
const maxPath = 64 << 10

// Resolve turns a caller's path, relative to the root or absolute inside it (by the root as it was given or as it resolves),
// into a clean path relative to the root with slashes; "." is the root. It is lexical: nothing need exist, nothing is decoded
// (%20, \, & and newlines are what they are), and "a/../b" is "b" even where a is a symlink.
//
// Fault reasons: invalid_path, outside_workspace, refused.
func (w *Workspace) Resolve(p string) (string, error) {
	if err := checkPath(p); err != nil {
		return "", err
	}
	rel := p
	if filepath.IsAbs(p) {
		var ok bool
		if rel, ok = w.relative(filepath.Clean(p)); !ok {
			return "", outside(p)
		}
	}
	rel = path.Clean(filepath.ToSlash(rel))
	if rel == ".." || strings.HasPrefix(rel, "../") || strings.HasPrefix(rel, "/") {
		return "", outside(p)
	}
	// Whether the last name is a folder is not known here; Stat, Read and Walk judge it again when they know.
	if w.isRefused(rel, false) {
		return "", refused(p)
	}
	return rel, nil
}

func checkPath(p string) error {
	switch {
	case p == "":
		return invalidPath("the path is empty; \".\" is the root of the workspace")
	case strings.IndexByte(p, 0) >= 0:
		return invalidPath("the path %s holds a NUL byte", quote(p))
	case len(p) > maxPath:
		return invalidPath("the path is %d bytes long; %d are allowed", len(p), maxPath)
	case runtime.GOOS == "windows" && !filepath.IsAbs(p) && p != "." && !filepath.IsLocal(filepath.Clean(p)):
		return outside(p) // drive-relative paths and device names
	}
	return nil
}

// relative gives what follows the root in an absolute, clean path.
func (w *Workspace) relative(abs string) (string, bool) {
	if rel, ok := below(w.given, abs); ok {
		return rel, true
	}
	return below(w.resolved, abs)
}

// below gives the path of p relative to root when p is root or lies in it. Both are clean; whole names are compared, so
// "/a/root_secret" is not in "/a/root".
func below(root, p string) (string, bool) {
	if p == root {
		return ".", true
	}
	if !strings.HasSuffix(root, string(filepath.Separator)) {
		root += string(filepath.Separator)
	}
	return strings.CutPrefix(p, root)
}

// isRefused says whether a clean relative path is refused, or a folder that it lies in.
func (w *Workspace) isRefused(rel string, isDir bool) bool {
	for name := range strings.SplitSeq(rel, "/") {
		if isGitName(name) {
			return true
		}
	}
	return w.refused.Match(rel, isDir)
}

// isGitName says whether a name is git's own, which no workspace shows. Letter case does not count: on some file systems
// .GIT is .git.
func isGitName(name string) bool { return len(name) == 4 && strings.EqualFold(name, ".git") }
