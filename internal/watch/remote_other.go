//go:build !linux

package watch

// remoteAt knows no kinds of file systems here.
func remoteAt(string) string { return "" }
