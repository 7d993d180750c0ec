package repotest

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// tree is a set of files by their path in the repository, with slashes.
type tree map[string][]byte

func (f tree) names() []string { return slices.Sorted(maps.Keys(f)) }

// with is a copy in which some files are other ones; nil takes a file away.
func (f tree) with(files map[string]string, gone ...string) tree {
	out := maps.Clone(f)
	for name, text := range files {
		out[name] = []byte(text)
	}
	for _, name := range gone {
		delete(out, name)
	}
	return out
}

// edited is a copy in which old became new in one file, which must hold it.
func (f tree) edited(t *testing.T, name, old, new string) tree {
	t.Helper()
	if !bytes.Contains(f[name], []byte(old)) {
		t.Fatalf("nothing to plant: %s holds no %q", name, old)
	}
	return f.with(map[string]string{name: strings.Replace(string(f[name]), old, new, 1)})
}

// below are the files of a folder.
func (f tree) below(dir string) tree {
	out := tree{}
	for name, data := range f {
		if strings.HasPrefix(name, dir+"/") {
			out[name] = data
		}
	}
	return out
}

// repository is the working tree: what git tracks and what it would track if it were added, without what it ignores.
func repository(t *testing.T) tree {
	t.Helper()
	files, err := readRepository()
	if err != nil {
		t.Fatalf("the gates look at a git checkout: %v", err)
	}
	return maps.Clone(files)
}

var readRepository = sync.OnceValues(func() (tree, error) {
	cmd := exec.Command("git", "ls-files", "-co", "--exclude-standard", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := tree{}
	for name := range strings.SplitSeq(strings.Trim(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // tracked, and deleted since
		}
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
})

// write puts the files into a temporary folder.
func (f tree) write(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range f {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readTree reads every file of a folder.
func readTree(t *testing.T, dir string) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
