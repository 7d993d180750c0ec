//go:build !unix

package revision

import "os/exec"

const nonblock = 0

// apart has nothing to do where there are no process groups: git alone is killed, and starts nothing by itself.
func apart(*exec.Cmd) {}
