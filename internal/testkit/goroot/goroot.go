// Package goroot finds the source of the Go installation, which tests use as a real repository.
//
// Only tests import it. It stands apart from testkit so that tests inside the engine can use it too.
package goroot

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var dir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
})

// Src is GOROOT/src.
func Src(t testing.TB) string {
	t.Helper()
	root, err := dir()
	if err != nil || root == "" {
		t.Fatalf("go env GOROOT: %v", err)
	}
	return filepath.Join(root, "src")
}
