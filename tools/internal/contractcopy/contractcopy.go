// Package contractcopy gives tests of the generators a copy of what the contract is written in (api, schemas, docs), to break
// it. Only tests below tools/ import it.
package contractcopy

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	t.Fatal("no go.mod in any folder above", err)
	return ""
}

// Make copies the contract into a temporary folder, and gives that.
func Make(t testing.TB) string {
	t.Helper()
	from, to := Root(t), t.TempDir()
	for _, pattern := range []string{"api/*", "api/catalog/*", "schemas/*", "schemas/manifest/*", "docs/*.md", "docs/*/*.md", "README.md"} {
		names, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			copyFile(t, name, filepath.Join(to, strings.TrimPrefix(name, from)))
		}
	}
	return to
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	fi, err := os.Stat(from)
	if err == nil && fi.IsDir() {
		return
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Edit replaces text of a file where it stands first. The file must hold it.
func Edit(t testing.TB, root, name, old, new string) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(name))
	data, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s holds no %q", name, old)
	}
	if err := os.WriteFile(full, []byte(strings.Replace(string(data), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
