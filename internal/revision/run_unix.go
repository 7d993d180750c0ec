//go:build unix

package revision

import (
	"os/exec"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// apart puts git at the head of a process group, and kills the group instead of git alone.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
