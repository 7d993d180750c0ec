package revision

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/workspace"
)

// gitProgram is the git that is tested: the installed one, or that of CTXD_TEST_GIT, to try another version.
func gitProgram() string {
	if p := os.Getenv("CTXD_TEST_GIT"); p != "" {
		return p
	}
	return "git"
}

// needGit skips where there is no git; CI has one.
func needGit(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath(gitProgram()); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal("git is missing; CI must have it")
		}
		tb.Skip("git is not installed")
	}
}

// tryGit runs git as a user would, with none of his configuration.
func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command(gitProgram(), append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), err
}

func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// project makes a repository with one commit of these files.
func project(tb testing.TB, files map[string]string, initArgs ...string) string {
	tb.Helper()
	needGit(tb)
	dir := tb.TempDir()
	git(tb, dir, append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	for p, content := range files {
		write(tb, filepath.Join(dir, p), content)
	}
	git(tb, dir, "add", "-f", ".")
	git(tb, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func write(tb testing.TB, p, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func appendTo(tb testing.TB, p, content string) {
	tb.Helper()
	b, err := os.ReadFile(p)
	if err != nil {
		tb.Fatal(err)
	}
	write(tb, p, string(b)+content)
}

func symlink(tb testing.TB, target, p string) {
	tb.Helper()
	if err := os.Symlink(target, p); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, o workspace.Options) *workspace.Workspace {
	tb.Helper()
	w, err := workspace.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

// repoAt gives what is tested, in a folder whose temporary files are checked to be gone in the end.
func repoAt(tb testing.TB, root string) *Repo {
	tb.Helper()
	o := Options{Scratch: tb.TempDir(), Program: os.Getenv("CTXD_TEST_GIT")}
	tb.Cleanup(func() {
		if left, err := os.ReadDir(o.Scratch); err != nil || len(left) > 0 {
			tb.Errorf("left behind: %v, %v", left, err)
		}
	})
	return New(o).Of(open(tb, workspace.Options{Root: root, Refused: []string{"*.pem"}}))
}

// reasonOf gives the reason of a fault, "" for no error, or the error itself where it is no fault.
func reasonOf(err error) string {
	var f *fault.Fault
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Reason()
	default:
		return "no fault: " + err.Error()
	}
}

// snapshot is everything below a folder but times of access: kind, mode, size, time of change, content.
func snapshot(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if fi.Mode().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		all[p] = fmt.Sprint(fi.Mode(), fi.Size(), fi.ModTime().UnixNano(), content)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// untouched fails if anything below a folder differs from a snapshot.
func untouched(tb testing.TB, dir string, before map[string]string) {
	tb.Helper()
	after := snapshot(tb, dir)
	for _, p := range slices.Sorted(maps.Keys(after)) {
		if before[p] != after[p] {
			tb.Errorf("%s was written: %q, now %q", p, before[p], after[p])
		}
	}
	for p := range before {
		if after[p] == "" {
			tb.Errorf("%s is gone", p)
		}
	}
}

func commitOf(tb testing.TB, dir, rev string) string {
	tb.Helper()
	return strings.TrimSpace(git(tb, dir, "rev-parse", rev))
}

// brief shows changes as "path index/worktree".
func brief(list []Change) []string {
	var out []string
	for _, c := range list {
		s := fmt.Sprintf("%s %s/%s", c.Path, c.Status.Index, c.Status.Worktree)
		if c.OldPath != "" {
			s += " from " + c.OldPath
		}
		if c.Status.Conflict {
			s += " conflict"
		}
		if c.Submodule {
			s += " submodule"
		}
		out = append(out, s)
	}
	return out
}
