//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package socket

import (
	"os"
	"syscall"
)

const supported = true

// ours says whether a file belongs to the user that this process runs as.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
