package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ctxd/ctxd/internal/fault"
)

// fixed are the arguments before every command. The temporary configuration has none of this either: they hold should git ever
// take one from elsewhere.
var fixed = []string{
	"--no-pager", "--literal-pathspecs", "--no-optional-locks", "--no-replace-objects",
	"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.attributesFile=" + os.DevNull, "-c", "protocol.allow=never", "-c", "submodule.recurse=false",
	"-c", "core.bigFileThreshold=32m", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

// environment is all that git gets of one: nothing of the server's own.
func environment(program, gitDir string) []string {
	path := filepath.Dir(program)
	if runtime.GOOS != "windows" {
		path += ":/usr/bin:/bin" // for a git that is a script
	}
	return []string{
		"PATH=" + path, "LC_ALL=C", "HOME=" + gitDir, "XDG_CONFIG_HOME=" + gitDir, "TMPDIR=" + gitDir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(gitDir),
		"GIT_ALLOC_LIMIT=1g", // for one piece: what claims to be larger is not worth the memory
		"GIT_DIR=" + gitDir,
	}
}

// command is one run of git.
type command struct {
	args  []string
	stdin string
	most  int64 // bytes of output; more is errTooMuch
}

var errTooMuch = errors.New("more output than the limit")

// exit is a run that ended with another code than 0.
type exit struct {
	code   int
	stderr string
}

func (e *exit) Error() string { return fmt.Sprintf("git ended with %d: %s", e.code, e.stderr) }

// run runs git in a temporary git folder, which is its working folder too. It is killed with all that it started when ctx
// ends or its output becomes too long. A run that says no by its code is an *exit.
func (s *shadow) run(ctx context.Context, c command) ([]byte, error) {
	select {
	case s.git.running <- struct{}{}:
		defer func() { <-s.git.running }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &bounded{left: c.most, full: func() { cancel(errTooMuch) }}
	stderr := &bounded{left: 4 << 10}
	cmd := exec.CommandContext(ctx, s.program, append(append([]string{}, fixed...), c.args...)...)
	cmd.Dir, cmd.Env = s.dir, append(environment(s.program, s.dir), s.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), out, stderr
	cmd.WaitDelay = time.Second
	apart(cmd)
	err := cmd.Run()
	if code := (*exec.ExitError)(nil); ctx.Err() == nil && errors.As(err, &code) && code.Exited() {
		return out.buf.Bytes(), &exit{code.ExitCode(), stderr.buf.String()}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.buf.Bytes(), err
}

// bounded keeps the first bytes that it is given. Those beyond are an error where full is set, and else dropped.
type bounded struct {
	buf  bytes.Buffer // not embedded: it would read by itself, past the limit
	left int64
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	b.buf.Write(p[:n])
	b.left -= n
	if n < int64(len(p)) && b.full != nil {
		b.full()
		return int(n), errTooMuch
	}
	return len(p), nil
}

var errTimeout = errors.New("the time of the call is over")

// mend makes a fault of what went wrong with a call of ctx. What git said stays in the cause: it may name places outside.
func (g *Git) mend(ctx context.Context, err error) error {
	var f *fault.Fault
	switch {
	case err == nil, errors.As(err, &f):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errTimeout):
		return failed("git took longer than %v; try again, or see why it hangs", g.timeout).With(err)
	default:
		return failed("git could not read the repository; see whether `git status` can").With(err)
	}
}
