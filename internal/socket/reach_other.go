//go:build !linux

package socket

import (
	"fmt"
	"path/filepath"
)

// reach gives the path of a name in a folder, unless it is too long for a socket.
func reach(dir, name string) (path string, done func(), err error) {
	if path = filepath.Join(dir, name); len(path) > maxPath {
		return "", nil, fmt.Errorf("the path %s is too long for a socket, %d bytes of at most %d; --data-dir names a shorter one", path, len(path), maxPath)
	}
	return path, func() {}, nil
}
