//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the old one, so that a run as root does not lock its owner out. Nobody else may.
func keepOwner(h *os.File, info fs.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = h.Chown(int(s.Uid), int(s.Gid))
	}
}
