package workspace

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// needGit skips where there is no git to compare with; CI has one.
func needGit(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal("git is missing; CI must have it")
		}
		tb.Skip("git is not installed: nothing to compare with")
	}
}

// git runs git with nothing of the user's configuration.
func git(tb testing.TB, dir string, stdin []byte, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	// check-ignore says 1 for "nothing is ignored".
	if code := cmd.ProcessState.ExitCode(); err != nil && (code != 1 || !slices.Contains(args, "check-ignore")) {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// initRepo makes the least that git takes for a repository; a real init costs ten times as much.
func initRepo(tb testing.TB, dir string) {
	tb.Helper()
	for _, d := range []string{"objects", "refs/heads", "info"} {
		mkdir(tb, filepath.Join(dir, ".git", d))
	}
	write(tb, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
}

func mkdir(tb testing.TB, dir string) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
}

func write(tb testing.TB, path, content string) {
	tb.Helper()
	mkdir(tb, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func symlink(tb testing.TB, target, path string) {
	tb.Helper()
	mkdir(tb, filepath.Dir(path))
	if err := os.Symlink(target, path); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, o Options) *Workspace {
	tb.Helper()
	w, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Error(err)
		}
	})
	return w
}

func openAt(tb testing.TB, root string) *Workspace {
	tb.Helper()
	return open(tb, Options{ID: "t", Root: root})
}

// walkAll gives what a walk visits but for folders, and the skips.
func walkAll(tb testing.TB, w *Workspace, rel string, o WalkOptions) ([]string, Skips) {
	tb.Helper()
	var got []string
	skips, err := w.Walk(context.Background(), rel, o, func(e Entry) error {
		if e.Type != TypeFolder {
			got = append(got, e.Path)
		}
		return nil
	})
	if err != nil {
		tb.Fatalf("walk %q: %v", rel, err)
	}
	return got, skips
}

// lsFiles gives what git lists of a working tree as far as it exists, sorted by names, without the nested repositories that it
// lists as "name/".
func lsFiles(tb testing.TB, dir string, args ...string) []string {
	tb.Helper()
	out := git(tb, dir, nil, append(args, "ls-files", "-co", "--exclude-standard", "-z")...)
	var list []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if fi, err := os.Lstat(filepath.Join(dir, name)); name == "" || err != nil || fi.IsDir() {
			continue
		}
		list = append(list, name)
	}
	slices.SortFunc(list, byNames)
	return slices.Compact(list)
}

func byNames(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) }

// differ tells what only one of two sorted lists holds.
func differ(want, got []string) string {
	var b strings.Builder
	for _, s := range want {
		if !slices.Contains(got, s) {
			b.WriteString("\n  only git: " + quote(s))
		}
	}
	for _, s := range got {
		if !slices.Contains(want, s) {
			b.WriteString("\n  only we:  " + quote(s))
		}
	}
	if b.Len() == 0 && !slices.Equal(want, got) {
		b.WriteString("\n  another order")
	}
	return b.String()
}
