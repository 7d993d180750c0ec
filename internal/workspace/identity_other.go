//go:build !linux && !darwin && !freebsd && !netbsd

package workspace

import "io/fs"

// IdentityOf takes the identity from what a look at a file gave.
func IdentityOf(fi fs.FileInfo) Identity {
	return Identity{Size: fi.Size(), MtimeNs: fi.ModTime().UnixNano()}
}
