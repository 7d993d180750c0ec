//go:build unix

package revision

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/workspace"
)

// A8: a repository that came with its files cannot make another one readable: whatever of its git folder leads elsewhere.
func TestForeignRepository(t *testing.T) {
	t.Parallel()
	private := project(t, map[string]string{"secret": "FOREIGN"})
	commit := commitOf(t, private, "HEAD")
	theirs := filepath.Join(private, ".git")
	for name, lay := range map[string]func(t *testing.T, dir string){
		"git file": func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: "+theirs+"\n") },
		"git file, relative": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".git"), "gitdir: "+relative(t, dir, theirs)+"\n")
		},
		"symlink": func(t *testing.T, dir string) { symlink(t, theirs, filepath.Join(dir, ".git")) },
		"git file to a link": func(t *testing.T, dir string) {
			symlink(t, theirs, filepath.Join(dir, "in"))
			write(t, filepath.Join(dir, ".git"), "gitdir: in\n")
		},
		"commondir": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/main\n")
			write(t, filepath.Join(dir, ".git/commondir"), theirs+"\n")
		},
		"objects":      func(t *testing.T, dir string) { borrow(t, dir, theirs, "objects") },
		"refs":         func(t *testing.T, dir string) { borrow(t, dir, theirs, "objects", "refs") },
		"fan-out":      func(t *testing.T, dir string) { borrow(t, dir, theirs, "objects/"+commit[:2]) },
		"alternates":   func(t *testing.T, dir string) { alternates(t, dir, filepath.Join(theirs, "objects")) },
		"alternates 2": func(t *testing.T, dir string) { alternates(t, dir, "../../../"+filepath.Base(private)+"/.git/objects") },
		"alternates 3": func(t *testing.T, dir string) { alternates(t, dir, `"`+filepath.Join(theirs, "objects")+`"`) },
		"index":        func(t *testing.T, dir string) { borrow(t, dir, theirs, "index") },
		"info":         func(t *testing.T, dir string) { borrow(t, dir, theirs, "info") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(filepath.Dir(private), strings.ReplaceAll(name, " ", "-"))
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			lay(t, dir)
			r := repoAt(t, dir)
			all(t, r, ForeignRepository)
			if b, err := r.Show(t.Context(), commit, "secret", 0); reasonOf(err) != ForeignRepository || len(b) > 0 {
				t.Errorf("%q, %v", b, err)
			} else if strings.Contains(err.Error(), theirs) {
				t.Errorf("the message tells of the place: %v", err)
			}
		})
	}
}

func relative(t *testing.T, from, to string) string {
	t.Helper()
	rel, err := filepath.Rel(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// borrow makes a repository with links to parts of another.
func borrow(t *testing.T, dir, theirs string, parts ...string) {
	t.Helper()
	git(t, dir, "init", "-q", "-b", "main")
	for _, p := range parts {
		at := filepath.Join(dir, ".git", p)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		symlink(t, filepath.Join(theirs, p), at)
	}
}

func alternates(t *testing.T, dir, line string) {
	t.Helper()
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, ".git/objects/info/alternates"), line+"\n")
}

// A working tree that the configuration puts elsewhere is not looked at: the workspace is what counts.
func TestWorktreeElsewhere(t *testing.T) {
	t.Parallel()
	dir, other := project(t, map[string]string{"a": "1"}), t.TempDir()
	write(t, filepath.Join(other, "foreign"), "1")
	git(t, dir, "config", "core.worktree", other)
	write(t, filepath.Join(dir, "mine"), "1")
	if got, err := repoAt(t, dir).Dirty(t.Context()); !slices.Equal(brief(got), []string{"mine /untracked"}) || err != nil {
		t.Errorf("%q, %v", brief(got), err)
	}
}

// What another git does meanwhile, and what it left behind, is no matter.
func TestLocks(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"a": "1", "b": "1"})
	for _, p := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock"} {
		write(t, filepath.Join(dir, ".git", p), "")
	}
	write(t, filepath.Join(dir, "a"), "2")
	write(t, filepath.Join(dir, "b"), "1") // git would note in the index that it is unchanged
	before := snapshot(t, dir)
	r := repoAt(t, dir)
	everything(t, r)
	if got, err := r.Dirty(t.Context()); !slices.Equal(brief(got), []string{"a /modified"}) || err != nil {
		t.Errorf("%q, %v", brief(got), err)
	}
	untouched(t, dir, before)
}

// A repository of another user is read: nothing in it is trusted anyway.
func TestOtherOwner(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"a": "1"})
	if os.Geteuid() == 0 {
		for _, p := range []string{dir, filepath.Join(dir, ".git")} {
			if err := os.Chown(p, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tryGit(dir, "status"); err == nil {
			t.Error("git itself does not mind the owner, so this test says nothing")
		}
	}
	write(t, filepath.Join(dir, "a"), "2")
	everything(t, repoAt(t, dir))
}

// A git that hangs is ended in time.
func TestDeadline(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"a": "1"})
	if err := syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := New(Options{Scratch: t.TempDir(), Timeout: 200 * time.Millisecond}).Of(open(t, workspace.Options{Root: dir}))
	if _, err := r.Dirty(t.Context()); reasonOf(err) != GitFailed || !strings.Contains(err.Error(), "200ms") {
		t.Errorf("waiting for a FIFO: %v", err)
	}
}

// A git whose caller goes away is ended, with what it started.
func TestKilledAsGroup(t *testing.T) {
	t.Parallel()
	dir, slow := project(t, map[string]string{"a": "1"}), filepath.Join(t.TempDir(), "git")
	pid := slow + ".pid"
	write(t, slow, "#!/bin/sh\nsleep 600 &\necho $! >"+pid+".new\nmv "+pid+".new "+pid+"\nwait\n")
	if err := os.Chmod(slow, 0o755); err != nil {
		t.Fatal(err)
	}
	r := New(Options{Scratch: t.TempDir(), Program: slow, Timeout: 5 * time.Minute}).Of(open(t, workspace.Options{Root: dir}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() {
		_, err := r.Resolve(ctx, "HEAD")
		done <- err
	}()
	eventually(t, "it started something", func() bool { return fired(pid) })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	b, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "what it started is gone", func() bool { return exec.Command("kill", "-0", strings.TrimSpace(string(b))).Run() != nil })
}

// eventually waits until something is so; it does not rely on how long that takes.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1500 {
		if is() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("not so after 30 s: %s", what)
}

// Output beyond the limit ends git at once.
func TestOutputLimit(t *testing.T) {
	t.Parallel()
	dir := project(t, nil)
	endless := filepath.Join(t.TempDir(), "git")
	write(t, endless, "#!/bin/sh\nexec yes\n")
	if err := os.Chmod(endless, 0o755); err != nil {
		t.Fatal(err)
	}
	r := New(Options{Scratch: t.TempDir(), Program: endless, Timeout: 5 * time.Minute}).Of(open(t, workspace.Options{Root: dir}))
	if _, err := r.Resolve(t.Context(), "HEAD"); reasonOf(err) != GitFailed {
		t.Errorf("resolve: %v", err)
	}
	if _, err := r.Dirty(t.Context()); reasonOf(err) != TooLarge {
		t.Errorf("dirty: %v", err)
	}
}

// A8: the environment of the server does not reach git.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	const child = "CTXD_REVISION_CHILD"
	if dir := os.Getenv(child); dir != "" {
		everything(t, repoAt(t, dir))
		return
	}
	dir, other, tools := project(t, map[string]string{"a": "1"}), project(t, map[string]string{"b": "1"}), t.TempDir()
	write(t, filepath.Join(dir, "a"), "2")
	mark, program := filepath.Join(tools, "ran"), filepath.Join(tools, "program")
	write(t, program, "#!/bin/sh\necho ran >"+mark+"\n")
	write(t, filepath.Join(tools, "config"), "[core]\n\tfsmonitor = "+program+"\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestEnvironment$")
	cmd.Env = append(os.Environ(), child+"="+dir, "GIT_DIR="+other+"/.git", "GIT_WORK_TREE="+other, "GIT_INDEX_FILE="+other+"/.git/index",
		"GIT_OBJECT_DIRECTORY="+other+"/.git/objects", "GIT_COMMON_DIR="+other+"/.git", "GIT_NAMESPACE=x", "GIT_EXTERNAL_DIFF="+program,
		"GIT_SSH_COMMAND="+program, "GIT_ASKPASS="+program, "GIT_PAGER="+program, "GIT_TRACE="+mark, "GIT_TRACE2="+mark, "GIT_TRACE2_EVENT="+mark,
		"GIT_TRACE_SETUP="+mark, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0="+program, "GIT_CONFIG_GLOBAL="+tools+"/config",
		"GIT_CONFIG_SYSTEM="+tools+"/config", "GIT_CONFIG_PARAMETERS='core.fsmonitor="+program+"'", "GIT_EXEC_PATH="+tools, "GIT_ATTR_SOURCE=HEAD", "HOME="+tools)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if fired(mark) {
		t.Error("the environment reached git")
	}
}
