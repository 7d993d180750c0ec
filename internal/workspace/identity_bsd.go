//go:build darwin || freebsd || netbsd

package workspace

import (
	"io/fs"
	"syscall"
)

// IdentityOf takes the identity from what a look at a file gave.
func IdentityOf(fi fs.FileInfo) Identity {
	id := Identity{Size: fi.Size(), MtimeNs: fi.ModTime().UnixNano()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		id.CtimeNs, id.Ino, id.Dev = st.Ctimespec.Nano(), st.Ino, uint64(st.Dev)
	}
	return id
}
