// Docgen writes the marked regions of README.md and docs/: what stands between <!-- name --> and <!-- /name -->, for every
// name that it knows a table of.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/tools/internal/sources"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	s, err := sources.Load(root)
	if err != nil {
		return err
	}
	files, err := documents(root)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		out, err := Fill(s, string(data), seen)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if out == string(data) {
			continue
		}
		if err := os.WriteFile(name, []byte(out), 0o644); err != nil {
			return err
		}
	}
	for name := range regions {
		if !seen[name] {
			return fmt.Errorf("no document shows the region %s", name)
		}
	}
	return nil
}

// documents are the files that may hold regions, sorted.
func documents(root string) ([]string, error) {
	out := []string{filepath.Join(root, "README.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			out = append(out, path)
		}
		return err
	})
	slices.Sort(out)
	return out, err
}

// Fill replaces the regions of one document, and notes in seen which there are.
func Fill(s *sources.Sources, text string, seen map[string]bool) (string, error) {
	for name, table := range regions {
		open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
		before, rest, ok := strings.Cut(text, open)
		if !ok {
			continue
		}
		_, after, ok := strings.Cut(rest, end)
		if !ok || strings.Contains(after, open) {
			return "", fmt.Errorf("the region %s is not closed, or stands twice", name)
		}
		seen[name] = true
		text = before + open + table(s) + end + after
	}
	for _, m := range closing.FindAllStringSubmatch(text, -1) {
		if name := m[1]; regions[name] == nil || !strings.Contains(text, "<!-- "+name+" -->\n") {
			return "", fmt.Errorf("the region %s is not opened, or there is no table of that name", name)
		}
	}
	return text, nil
}

var closing = regexp.MustCompile(`<!-- /([a-z-]+) -->`)
