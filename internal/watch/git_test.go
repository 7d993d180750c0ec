package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// needGit skips where there is no git; CI has one.
func needGit(tb testing.TB) {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal("git is missing; CI must have it")
		}
		tb.Skip("git is not installed")
	}
}

func git(tb testing.TB, dir string, args ...string) {
	tb.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// project makes a repository with two branches that differ in files and folders.
func project(t *testing.T) string {
	t.Helper()
	needGit(t)
	root := t.TempDir()
	git(t, root, "init", "-q", "-b", "main")
	for _, p := range []string{"a", "dir/b", "only-main/deep/c"} {
		write(t, filepath.Join(root, p), p)
	}
	write(t, filepath.Join(root, ".gitignore"), "ignored/\n*.o\n")
	git(t, root, "add", ".")
	git(t, root, "commit", "-q", "-m", "main")
	git(t, root, "checkout", "-q", "-b", "other")
	git(t, root, "mv", "only-main", "only-other")
	write(t, filepath.Join(root, "a"), "other")
	git(t, root, "commit", "-q", "-a", "-m", "other")
	git(t, root, "checkout", "-q", "main")
	return root
}

// gitSteps are what git does to a workspace. Some change the revision.
func gitSteps(t *testing.T, root, rel string) []struct {
	what     string
	revision bool
	do       func()
} {
	t.Helper()
	at := func(p string) string { return filepath.Join(root, rel, p) }
	run := func(args ...string) func() { return func() { git(t, root, args...) } }
	return []struct {
		what     string
		revision bool
		do       func()
	}{
		{"checkout", true, run("checkout", "-q", "other")},
		{"and back", true, run("checkout", "-q", "main")},
		{"a branch", true, run("checkout", "-q", "-b", "team/topic")},
		{"an edit", false, func() { write(t, filepath.Join(root, "dir/b"), "edit") }},
		{"stash", true, run("stash", "-q")},
		{"stash pop", true, run("stash", "pop", "-q")},
		{"commit", true, run("commit", "-q", "-a", "-m", "more")},
		{"amend", true, run("commit", "-q", "--amend", "-m", "other words")},
		{"reset", true, run("reset", "-q", "--hard", "HEAD~1")},
		{"move the branch", true, run("update-ref", "refs/heads/team/topic", "other")},
		{"pack refs", true, run("pack-refs", "--all")},
		{"commit after that", true, run("commit", "-q", "--allow-empty", "-m", "packed")},
		{"detach", true, run("checkout", "-q", "--detach")},
		{"what is ignored", false, func() { write(t, at("ignored/deep/x"), "1"); write(t, at("y.o"), "1") }},
		{"is tracked", true, run("add", "-f", filepath.Join(rel, "ignored/deep/x"), filepath.Join(rel, "y.o"))},
		{"and written", false, func() { write(t, at("ignored/deep/x"), "12"); write(t, at("y.o"), "12") }},
		{"and tracked no more", true, run("rm", "-q", "-f", "--cached", filepath.Join(rel, "ignored/deep/x"), filepath.Join(rel, "y.o"))},
	}
}

// Case 9: what git does is told, and that it was git.
func TestGit(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		root := project(t)
		c := watching(t, openAt(t, root), o)
		for _, step := range gitSteps(t, root, ".") {
			c.revision = false
			step.do()
			c.settle(step.what)
			if step.revision {
				c.until("revision after "+step.what, func() bool { return c.revision })
			}
		}
		write(t, filepath.Join(root, ".git/info/exclude"), "dir/\n")
		c.settle("other excludes; dir is tracked")
		git(t, root, "rm", "-q", "-r", "--cached", "dir")
		c.settle("and is no more")
	})
}

// A workspace deeper than the repository's top, whose ignore files above count too.
func TestGitAbove(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		if o.MaxWatches > 0 {
			return // there are fewer folders than that
		}
		top := project(t)
		root := filepath.Join(top, "dir")
		c := watching(t, openAt(t, root), o)
		for _, step := range gitSteps(t, top, "dir") {
			c.revision = false
			step.do()
			c.settle(step.what)
			if step.revision {
				c.until("revision after "+step.what, func() bool { return c.revision })
			}
		}
		write(t, filepath.Join(top, ".gitignore"), "new/\n")
		write(t, filepath.Join(root, "new/x"), "1")
		c.settle("an ignore file above")
		write(t, filepath.Join(top, ".gitignore"), "\n")
		c.settle("that shows more again")
		write(t, filepath.Join(root, "new/x"), "12")
		c.settle("what it showed")
	})
}

// Case 14: worktrees of one repository do not hear of each other's revision, nor of each other's files.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		main, tree := project(t), filepath.Join(t.TempDir(), "tree")
		git(t, main, "worktree", "add", "-q", "-b", "tree", tree)
		one, two := watching(t, openAt(t, main), o), watching(t, openAt(t, tree), o)
		one.revision, two.revision = false, false
		git(t, tree, "checkout", "-q", "--detach", "other")
		two.settle("checkout in the worktree")
		two.until("revision of the worktree", func() bool { return two.revision })
		write(t, filepath.Join(main, "a"), "main")
		one.settle("a file of the main tree")
		if one.revision && o.MaxWatches == 0 && !o.Checking {
			t.Error("the main tree was told of the other's revision")
		}
		if one.told["only-other"] {
			t.Error("the main tree was told of the other's files")
		}
		git(t, main, "commit", "-q", "-a", "-m", "main")
		one.until("revision of the main tree", func() bool { return one.revision })
	})
}

// A repository may come and go, at the root and within.
func TestRepositoriesComeAndGo(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, o Options) {
		needGit(t)
		root := t.TempDir()
		at := func(rel string) string { return filepath.Join(root, rel) }
		write(t, at("sub/x.o"), "1")
		write(t, at("sub/a"), "1")
		write(t, at(".gitignore"), "*.o\n/sub/b\n")
		c := watching(t, openAt(t, root), o)
		for _, dir := range []string{"sub", "."} {
			c.revision = false
			git(t, root, "init", "-q", dir)
			c.until("revision after init of "+dir, func() bool { return c.revision })
			c.settle("init of " + dir)
			write(t, at(dir+"/b"), "1")
			write(t, at(dir+"/x.o"), "12")
			c.settle("files after init of " + dir)
			git(t, at(dir), "add", "-f", "x.o", "b")
			c.settle("add")
			c.revision = false
			git(t, at(dir), "commit", "-q", "-m", "x")
			c.until("revision after a commit in "+dir, func() bool { return c.revision })
		}
		must(t, os.RemoveAll(at("sub/.git")))
		c.settle("a repository that goes")
		write(t, at("sub/x.o"), "123")
		c.settle("a file in what was one")
	})
}
