// Specbundle writes the documents that client teams download: api/openapi.json, the whole API, and
// api/http-mcp-v1.openapi.json, the routes of the public contract alone.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "specbundle:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	s, err := sources.Load(root)
	if err != nil {
		return err
	}
	whole, contract, err := Bundle(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "api", "openapi.json"), doc.Marshal(whole), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "api", "http-mcp-v1.openapi.json"), doc.Marshal(contract), 0o644)
}
