// Package sources reads what the contract is written in by hand (api/openapi.yaml, api/catalog, schemas and
// schemas/manifest), checks that it holds together, and gives it to the generators.
//
// It writes nothing; each generator turns it into its own files. Only the generators below tools/ import it.
package sources

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/tools/internal/doc"
)

// Sources is the contract as written.
type Sources struct {
	Root      string // folder of the repository
	OpenAPI   *doc.Object
	Errors    []Error
	Scopes    []Scope
	Events    []Event
	Metrics   []Metric
	Deprec    []Deprecation
	ReadModes []ReadMode
	Tools     []*Tool   // by name
	Schemas   []*Schema // by file name
}

// Schema is one file of schemas/.
type Schema struct {
	File string // base name
	Doc  *doc.Object
}

// Title is the Go name of the root type.
func (s *Schema) Title() string { return s.Doc.String("title") }

// Load reads everything below root.
func Load(root string) (*Sources, error) {
	s := &Sources{Root: root}
	for _, step := range []func() error{s.loadCatalog, s.loadSchemas, s.loadTools, s.loadOpenAPI} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Sources) read(elem ...string) (*doc.Object, error) {
	name := filepath.Join(append([]string{s.Root}, elem...)...)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	o, err := doc.ParseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(elem...), err)
	}
	return o, nil
}

func (s *Sources) loadOpenAPI() (err error) {
	s.OpenAPI, err = s.read("api", "openapi.yaml")
	return err
}

func (s *Sources) loadSchemas() error {
	names, err := filepath.Glob(filepath.Join(s.Root, "schemas", "*.schema.json"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	owner := map[string]string{}
	for _, name := range names {
		base := filepath.Base(name)
		d, err := s.read("schemas", base)
		if err != nil {
			return err
		}
		sch := &Schema{File: base, Doc: d}
		if err := sch.check(owner); err != nil {
			return fmt.Errorf("schemas/%s: %w", base, err)
		}
		s.Schemas = append(s.Schemas, sch)
	}
	return nil
}

// check keeps the type names of all schemas apart, since they share one Go package and one components section.
func (s *Schema) check(owner map[string]string) error {
	want := "https://ctxd.dev/schemas/" + s.File
	if got := s.Doc.String("$id"); got != want {
		return fmt.Errorf("$id is %q, want %q", got, want)
	}
	names := []string{s.Title()}
	if defs := s.Doc.Object("$defs"); defs != nil && s.File != PartsFile {
		names = append(names, defs.Keys()...)
	}
	for _, n := range names {
		if n == "" || strings.ToUpper(n[:1]) != n[:1] {
			return fmt.Errorf("%q is no exported name", n)
		}
		if other, taken := owner[n]; taken {
			return fmt.Errorf("the name %s is taken by schemas/%s", n, other)
		}
		owner[n] = s.File
	}
	return nil
}

// Schema returns a schema by file name, or nil.
func (s *Sources) Schema(file string) *Schema {
	for _, sch := range s.Schemas {
		if sch.File == file {
			return sch
		}
	}
	return nil
}
