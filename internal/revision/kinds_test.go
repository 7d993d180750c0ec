package revision

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every kind of repository gives the same answers: its commit, its branch, a file that was changed, an old file.
func TestKinds(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "1\n", "dir/b": "1\n", "deep/er/c": "1\n"}
	for name, lay := range map[string]func(t *testing.T) (dir, branch string){
		"plain":  func(t *testing.T) (string, string) { return project(t, files), "main" },
		"sha256": func(t *testing.T) (string, string) { return project(t, files, "--object-format=sha256"), "main" },
		"reftable": func(t *testing.T) (string, string) {
			needReftable(t)
			return project(t, files, "--ref-format=reftable"), "main"
		},
		"worktree": func(t *testing.T) (string, string) { return worktree(t, project(t, files)), "tree" },
		"worktree, reftable": func(t *testing.T) (string, string) {
			needReftable(t)
			return worktree(t, project(t, files, "--ref-format=reftable")), "tree"
		},
		"worktree inside of a bare one": func(t *testing.T) (string, string) {
			top := t.TempDir()
			git(t, top, "clone", "-q", "--bare", project(t, files), ".bare")
			write(t, filepath.Join(top, ".git"), "gitdir: ./.bare\n")
			git(t, top, "worktree", "add", "-q", "-b", "tree", "tree")
			return filepath.Join(top, "tree"), "tree"
		},
		"submodule": func(t *testing.T) (string, string) {
			dir := project(t, nil)
			git(t, dir, "submodule", "--quiet", "add", project(t, files), "sub")
			return filepath.Join(dir, "sub"), "main"
		},
		"git folder elsewhere": func(t *testing.T) (string, string) {
			dir, elsewhere := project(t, files), filepath.Join(t.TempDir(), "git")
			git(t, dir, "init", "-q", "--separate-git-dir", elsewhere)
			git(t, dir, "config", "core.worktree", dir) // else it is foreign
			return dir, "main"
		},
		"shallow": func(t *testing.T) (string, string) {
			from, dir := project(t, files), t.TempDir()
			git(t, from, "commit", "-q", "--allow-empty", "-m", "second")
			git(t, dir, "clone", "-q", "--depth", "1", "file://"+from, ".")
			if _, err := repoAt(t, dir).Resolve(t.Context(), "HEAD~1"); reasonOf(err) != NoSuchRevision || !strings.Contains(err.Error(), "shallow") {
				t.Errorf("before the first: %v", err)
			}
			return dir, "main"
		},
		"partial": func(t *testing.T) (string, string) {
			from, dir := project(t, files), t.TempDir()
			git(t, from, "config", "uploadpack.allowFilter", "true")
			old := commitOf(t, from, "HEAD")
			write(t, filepath.Join(from, "a"), "0\n")
			git(t, from, "commit", "-q", "-a", "-m", "second")
			write(t, filepath.Join(from, "a"), "1\n")
			git(t, from, "commit", "-q", "-a", "-m", "third")
			git(t, dir, "clone", "-q", "--filter=blob:none", "file://"+from, ".")
			if _, err := repoAt(t, dir).Show(t.Context(), "HEAD~1", "a", 0); reasonOf(err) != ObjectMissing {
				t.Errorf("what was not fetched: %v", err)
			}
			if got, err := repoAt(t, dir).Resolve(t.Context(), "HEAD~2"); got != old || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			return dir, "main"
		},
		"sparse": func(t *testing.T) (string, string) {
			dir := project(t, files)
			git(t, dir, "sparse-checkout", "set", "--cone", "dir")
			return dir, "main"
		},
		"sparse index": func(t *testing.T) (string, string) {
			dir := project(t, files)
			git(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "dir")
			return dir, "main"
		},
		"split index": func(t *testing.T) (string, string) {
			dir := project(t, files)
			git(t, dir, "update-index", "--split-index")
			return dir, "main"
		},
		"untracked cache": func(t *testing.T) (string, string) {
			dir := project(t, files)
			git(t, dir, "update-index", "--force-untracked-cache")
			git(t, dir, "status")
			return dir, "main"
		},
		"packed": func(t *testing.T) (string, string) {
			dir := project(t, files)
			git(t, dir, "gc", "-q")
			return dir, "main"
		},
		"odd name": func(t *testing.T) (string, string) {
			dir := filepath.Join(t.TempDir(), "[a] *\n'é")
			if err := os.Rename(project(t, files), dir); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "update-index", "--split-index")
			return dir, "main"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, branch := lay(t)
			checkKind(t, dir, branch)
		})
	}
}

func checkKind(t *testing.T, dir, branch string) {
	t.Helper()
	write(t, filepath.Join(dir, "a"), "2\n")
	write(t, filepath.Join(dir, "fresh"), "2\n")
	r, before := repoAt(t, dir), snapshot(t, dir)
	commit, on, err := r.Head(t.Context())
	if commit != commitOf(t, dir, "HEAD") || on != branch || err != nil {
		t.Errorf("head: %q, %q, %v", commit, on, err)
	}
	for _, rev := range []string{"HEAD", branch, commit} {
		if got, err := r.Resolve(t.Context(), rev); got != commit || err != nil {
			t.Errorf("resolve %s: %q, %v", rev, got, err)
		}
	}
	got, err := r.Dirty(t.Context())
	if !slices.Equal(brief(got), []string{"a /modified", "fresh /untracked"}) || err != nil {
		t.Errorf("dirty: %q, %v", brief(got), err)
	}
	if b, err := r.Show(t.Context(), "HEAD", "a", 0); string(b) != "1\n" || err != nil {
		t.Errorf("show: %q, %v", b, err)
	}
	if b, err := r.Show(t.Context(), "HEAD", "dir/b", 0); string(b) != "1\n" || err != nil {
		t.Errorf("show: %q, %v", b, err)
	}
	untouched(t, dir, before)
}

func worktree(t *testing.T, main string) string {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "tree")
	git(t, main, "worktree", "add", "-q", tree)
	return tree
}

// needReftable skips where git does not know the newer format of refs.
func needReftable(t *testing.T) {
	t.Helper()
	needGit(t)
	if _, err := tryGit(t.TempDir(), "init", "-q", "--ref-format=reftable"); err != nil {
		t.Skip("git is older than 2.45: it knows no reftable")
	}
}

// A repository without a commit, and one without a working tree.
func TestUnbornAndBare(t *testing.T) {
	t.Parallel()
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "trunk")
	write(t, filepath.Join(dir, "a"), "1")
	write(t, filepath.Join(dir, "b"), "1")
	git(t, dir, "add", "a")
	r := repoAt(t, dir)
	if commit, branch, err := r.Head(t.Context()); commit != "" || branch != "trunk" || err != nil {
		t.Errorf("head: %q, %q, %v", commit, branch, err)
	}
	if got, err := r.Dirty(t.Context()); !slices.Equal(brief(got), []string{"a added/", "b /untracked"}) || err != nil {
		t.Errorf("dirty: %q, %v", brief(got), err)
	}
	if _, err := r.Show(t.Context(), "HEAD", "a", 0); reasonOf(err) != NoSuchRevision {
		t.Errorf("show: %v", err)
	}
	top := t.TempDir()
	git(t, top, "clone", "-q", "--bare", project(t, map[string]string{"a": "1"}), ".bare")
	write(t, filepath.Join(top, ".git"), "gitdir: ./.bare\n")
	r = repoAt(t, top)
	if commit, branch, err := r.Head(t.Context()); commit == "" || branch != "main" || err != nil {
		t.Errorf("bare: %q, %q, %v", commit, branch, err)
	}
	if _, err := r.Dirty(t.Context()); reasonOf(err) != NoRepository {
		t.Errorf("bare: %v", err)
	}
	if b, err := r.Show(t.Context(), "HEAD", "a", 0); string(b) != "1" || err != nil {
		t.Errorf("bare: %q, %v", b, err)
	}
}
