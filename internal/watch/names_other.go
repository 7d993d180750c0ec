//go:build !unix

package watch

// manyNames does not know hard links here.
func manyNames(string) bool { return false }
