package workspace

import (
	"io/fs"
	"syscall"
)

// IdentityOf takes the identity from what a look at a file gave.
func IdentityOf(fi fs.FileInfo) Identity {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return identityOfStat(st)
	}
	return Identity{Size: fi.Size(), MtimeNs: fi.ModTime().UnixNano()}
}

func identityOfStat(st *syscall.Stat_t) Identity {
	return Identity{
		Size:    st.Size,
		MtimeNs: st.Mtim.Nano(),
		CtimeNs: st.Ctim.Nano(),
		Ino:     st.Ino,
		Dev:     uint64(st.Dev), //nolint:unconvert // 32 bits on some platforms
	}
}
