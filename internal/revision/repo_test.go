package revision

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/workspace"
)

func TestHead(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"a": "1"})
	r := repoAt(t, dir)
	first := commitOf(t, dir, "HEAD")
	for _, c := range []struct{ do, commit, branch string }{
		{"", first, "main"},
		{"checkout -q -b team/topic", first, "team/topic"},
		{"pack-refs --all", first, "team/topic"},
		{"checkout -q --detach", first, ""},
		{"checkout -q --orphan fresh", "", "fresh"},
	} {
		if c.do != "" {
			git(t, dir, strings.Fields(c.do)...)
		}
		if commit, branch, err := r.Head(t.Context()); commit != c.commit || branch != c.branch || err != nil {
			t.Errorf("%q: %q, %q, %v", c.do, commit, branch, err)
		}
	}
	write(t, filepath.Join(dir, ".git/refs/heads/fresh"), strings.Repeat("12", 20)+"\n")
	if _, _, err := r.Head(t.Context()); reasonOf(err) != GitFailed {
		t.Errorf("a branch that leads nowhere: %v", err)
	}
	write(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/../../x\n")
	if commit, _, err := r.Head(t.Context()); commit != "" || reasonOf(err) != GitFailed {
		t.Errorf("a HEAD that is none: %v", err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"a": "1"})
	first := commitOf(t, dir, "HEAD")
	git(t, dir, "tag", "-m", "annotated", "v1")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "second")
	second := commitOf(t, dir, "HEAD")
	r := repoAt(t, dir)
	for rev, want := range map[string]string{
		"HEAD": second, "@": second, "main": second, "refs/heads/main": second, "HEAD~1": first, "HEAD^": first, "v1": first, "v1^{commit}": first,
		"v1^{}": first, first: first, first[:7]: first, strings.ToUpper(first): first, "HEAD@{1}": first,
	} {
		if got, err := r.Resolve(t.Context(), rev); got != want || err != nil {
			t.Errorf("%q: %q, %v", rev, got, err)
		}
	}
	for _, rev := range []string{
		"", "nope", "HEAD~2", "-h", "--all", "--git-dir", "--output=x", "HEAD:a", ":a", ":/second", "HEAD^{/second}", "HEAD..v1", "HEAD...v1", "^HEAD", "HEAD^{tree}",
		"HEAD^!", "HEAD^@", "HE AD", "HEAD\n", "HEAD\x00", "*", "@{u}", "HEAD^9999999999", "HEAD@{9}", strings.Repeat("a", 300), strings.Repeat("0", 40), "refs/../main", "$(id)", "`id`", ";id",
	} {
		if got, err := r.Resolve(t.Context(), rev); got != "" || reasonOf(err) != NoSuchRevision {
			t.Errorf("%q: %q, %v", rev, got, err)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	odd := []string{"-x", "--output=y", ":(top)a", "a b", "é", "new\nline", "*", "%20", "HEAD"}
	files := map[string]string{"a": "one\r\n", "dir/b": "two", "empty": "", "key.pem": "secret", "big": strings.Repeat("x", 5000)}
	for _, p := range odd {
		files[p] = p
	}
	dir := t.TempDir()
	for p, content := range files {
		write(t, filepath.Join(dir, p), content)
	}
	needGit(t)
	symlink(t, "a", filepath.Join(dir, "link"))
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "all")
	write(t, filepath.Join(dir, "a"), "changed since")
	r := repoAt(t, dir)
	for p, want := range map[string]string{"a": "one\r\n", "dir/b": "two", "./dir//b": "two", "empty": "", filepath.Join(dir, "a"): "one\r\n"} {
		if got, err := r.Show(t.Context(), "HEAD", p, 0); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v", p, got, err)
		}
	}
	for _, p := range odd {
		if got, err := r.Show(t.Context(), "HEAD", p, 0); string(got) != p || err != nil {
			t.Errorf("%q: %q, %v", p, got, err)
		}
	}
	for p, want := range map[string]string{
		"dir": workspace.IsAFolder, ".": workspace.IsAFolder, "link": workspace.NotAFile, "no": workspace.NoSuchFile, "a/b": workspace.NoSuchFile,
		"../x": workspace.OutsideWorkspace, ".git/config": workspace.Refused, "key.pem": workspace.Refused, "big": TooLarge, "[a]": workspace.NoSuchFile, "\x00": workspace.InvalidPath,
	} {
		if got, err := r.Show(t.Context(), "HEAD", p, 4999); len(got) > 0 || reasonOf(err) != want {
			t.Errorf("%q: %q, %v, want %s", p, got, err, want)
		}
	}
	if got, err := r.Show(t.Context(), "HEAD", "big", 5000); len(got) != 5000 || err != nil {
		t.Errorf("at the limit: %d, %v", len(got), err)
	}
	if _, err := r.Show(t.Context(), "--all", "a", 0); reasonOf(err) != NoSuchRevision {
		t.Errorf("an option as a revision: %v", err)
	}
}

// The answers without a usable git or repository.
func TestNone(t *testing.T) {
	t.Parallel()
	needGit(t)
	r := repoAt(t, t.TempDir())
	all(t, r, NoRepository)

	dir := t.TempDir()
	git(t, dir, "init", "-q", "--bare")
	all(t, repoAt(t, dir), NoRepository)

	w := open(t, workspace.Options{Root: project(t, nil)})
	all(t, New(Options{Program: filepath.Join(t.TempDir(), "git")}).Of(w), GitMissing)

	write(t, filepath.Join(w.Root(), "bin/git"), "#!/bin/sh\ntouch ran\n")
	if err := os.Chmod(filepath.Join(w.Root(), "bin/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	all(t, New(Options{Program: filepath.Join(w.Root(), "bin/git")}).Of(w), GitMissing)
	outside := filepath.Join(t.TempDir(), "git")
	symlink(t, filepath.Join(w.Root(), "bin/git"), outside)
	all(t, New(Options{Program: outside}).Of(w), GitMissing)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := repoAt(t, w.Root()).Head(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went away: %v", err)
	}
}

// all wants one reason of every method.
func all(t *testing.T, r *Repo, want string) {
	t.Helper()
	_, _, head := r.Head(t.Context())
	_, resolve := r.Resolve(t.Context(), "HEAD")
	_, dirty := r.Dirty(t.Context())
	_, show := r.Show(t.Context(), "HEAD", "a", 0)
	for name, err := range map[string]error{"head": head, "resolve": resolve, "dirty": dirty, "show": show} {
		if reasonOf(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
