package app

import "syscall"

// freeBytes is what is left for us on the disk of a folder, where the system tells.
func freeBytes(dir string) (free int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}
