//go:build !linux && !darwin && !freebsd && !netbsd

package workspace

import "io/fs"

func identityOf(fi fs.FileInfo) Identity {
	return Identity{Size: fi.Size(), MtimeNs: fi.ModTime().UnixNano()}
}
