//go:build unix

package watch

import (
	"os"
	"syscall"
)

// manyNames says whether a file has other names (hard links), under which it has changed too.
func manyNames(p string) bool {
	fi, err := os.Lstat(p)
	if err != nil || !fi.Mode().IsRegular() {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
