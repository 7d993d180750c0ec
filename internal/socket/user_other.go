//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package socket

import "os"

const supported = false

func ours(os.FileInfo) bool { return false }
