//go:build !linux

package socket

import "net"

// samePeer relies on the modes of the folder and of the socket here.
func samePeer(*net.UnixConn) error { return nil }
