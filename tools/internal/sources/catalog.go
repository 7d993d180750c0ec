package sources

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Error is a row of api/catalog/errors.yaml.
type Error struct {
	Code      string `yaml:"code"`
	Status    int    `yaml:"status"`
	JSONRPC   int    `yaml:"jsonrpc"`
	Retryable bool   `yaml:"retryable"`
	When      string `yaml:"when"`
	Mend      string `yaml:"mend"`
}

// Scope is a row of api/catalog/scopes.yaml.
type Scope struct {
	Scope    string   `yaml:"scope"`
	Aliases  []string `yaml:"aliases"`
	Contract bool     `yaml:"contract"`
	Grants   string   `yaml:"grants"`
}

// Event is a row of api/catalog/events.yaml.
type Event struct {
	Kind        string `yaml:"kind"`
	Consistency string `yaml:"consistency"`
	Role        string `yaml:"role"`
	Mutation    string `yaml:"mutation"`
	When        string `yaml:"when"`
}

// Metric is a row of api/catalog/metrics.yaml.
type Metric struct {
	Name    string   `yaml:"name"`
	Surface string   `yaml:"surface"`
	Type    string   `yaml:"type"`
	Unit    string   `yaml:"unit"`
	Labels  []string `yaml:"labels"`
	Help    string   `yaml:"help"`
}

// Deprecation is a row of api/catalog/deprecations.yaml.
type Deprecation struct {
	Surface     string `yaml:"surface"`
	Since       string `yaml:"since"`
	Replacement string `yaml:"replacement"`
	Removal     string `yaml:"removal"`
}

// ReadMode is a row of api/catalog/read_modes.yaml.
type ReadMode struct {
	Mode     string `yaml:"mode"`
	Fidelity string `yaml:"fidelity"`
	Gives    string `yaml:"gives"`
}

var (
	codePattern = regexp.MustCompile(`^[a-z]+([_.][a-z]+)*$`)
	namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

func (s *Sources) loadCatalog() error {
	for _, c := range []struct {
		file string
		rows any
	}{
		{"errors.yaml", &s.Errors},
		{"scopes.yaml", &s.Scopes},
		{"events.yaml", &s.Events},
		{"metrics.yaml", &s.Metrics},
		{"deprecations.yaml", &s.Deprec},
		{"read_modes.yaml", &s.ReadModes},
	} {
		data, err := os.ReadFile(filepath.Join(s.Root, "api", "catalog", c.file))
		if err != nil {
			return err
		}
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		if err := d.Decode(c.rows); err != nil {
			return fmt.Errorf("api/catalog/%s: %w", c.file, err)
		}
	}
	return s.checkCatalog()
}

func (s *Sources) checkCatalog() error {
	seen := map[string]bool{}
	once := func(list, name string, pattern *regexp.Regexp) error {
		if !pattern.MatchString(name) {
			return fmt.Errorf("api/catalog/%s.yaml: %q does not match %s", list, name, pattern)
		}
		if seen[list+" "+name] {
			return fmt.Errorf("api/catalog/%s.yaml: %q stands twice", list, name)
		}
		seen[list+" "+name] = true
		return nil
	}
	for _, e := range s.Errors {
		if err := once("errors", e.Code, codePattern); err != nil {
			return err
		}
		if e.Status < 400 || e.Status > 599 || e.When == "" || e.Mend == "" || e.JSONRPC >= 0 {
			return fmt.Errorf("api/catalog/errors.yaml: the row of %q is not whole", e.Code)
		}
	}
	for _, r := range s.Scopes {
		for _, n := range append([]string{r.Scope}, r.Aliases...) {
			if err := once("scopes", n, namePattern); err != nil {
				return err
			}
		}
	}
	for _, r := range s.Events {
		if err := once("events", r.Kind, namePattern); err != nil {
			return err
		}
		if !oneOf(r.Consistency, "local", "eventual", "strong") || !oneOf(r.Role, "primary", "secondary") || !oneOf(r.Mutation, "", "session", "knowledge") {
			return fmt.Errorf("api/catalog/events.yaml: the row of %q has an unknown word", r.Kind)
		}
	}
	for _, r := range s.Metrics {
		if err := once("metrics", r.Name, namePattern); err != nil {
			return err
		}
		if !oneOf(r.Surface, "json", "prometheus") || !oneOf(r.Type, "counter", "gauge", "histogram") {
			return fmt.Errorf("api/catalog/metrics.yaml: the row of %q has an unknown word", r.Name)
		}
	}
	return nil
}

func oneOf(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}
