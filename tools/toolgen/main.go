// Toolgen writes gen/catalog (constants and tables of the catalogues, the routes and the configuration keys) and
// gen/tool (typed inputs, the interface that tool handlers implement, and the built-in manifest).
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/tools/internal/sources"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(context.Background(), root); err != nil {
		fmt.Fprintln(os.Stderr, "toolgen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string) error {
	s, err := sources.Load(root)
	if err != nil {
		return err
	}
	files, err := Generate(ctx, s)
	if err != nil {
		return err
	}
	for name, data := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Generate returns every file by its path in the repository.
func Generate(ctx context.Context, s *sources.Sources) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, g := range []func(context.Context, *sources.Sources, map[string][]byte) error{catalogFiles, toolFiles} {
		if err := g(ctx, s, files); err != nil {
			return nil, err
		}
	}
	return files, nil
}
