//go:build !linux || portable

package workspace

import "os"

// rawFile is an open file that one goroutine reads once.
type rawFile struct{ f *os.File }

func (d folder) raw(name string) (rawFile, error) {
	f, err := d.open(name)
	return rawFile{f}, err
}

// rawOf takes over an open file.
func rawOf(f *os.File) rawFile { return rawFile{f} }

func (f rawFile) stat() (node, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return node{}, err
	}
	return node{fi.Mode(), IdentityOf(fi)}, nil
}

// Read implements io.Reader.
func (f rawFile) Read(b []byte) (int, error) { return f.f.Read(b) }

func (f rawFile) close() {
	if f.f != nil {
		_ = f.f.Close() // nothing was written
	}
}
