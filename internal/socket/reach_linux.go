package socket

import (
	"os"
	"path/filepath"
	"strconv"
)

// reach gives a path of a name in a folder that is short enough for a socket: through the open folder where the whole is too
// long. So the socket lies in the data folder however deep that is, and nobody has to agree on another place for it.
func reach(dir, name string) (path string, done func(), err error) {
	if path = filepath.Join(dir, name); len(path) <= maxPath {
		return path, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) + "/" + name, func() { _ = f.Close() }, nil
}
