package repotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/testkit"
)

// unbound are codes that no declared operation answers with, with the reason why they exist.
var unbound = map[string]string{}

// checkReachable wants every error code among those that some operation of api/openapi.yaml may answer with.
func checkReachable(openapi []byte, codes []string, excused map[string]string) []problem {
	var doc struct {
		Common map[string][]string                  `yaml:"x-common-errors"`
		Paths  map[string]map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(openapi, &doc); err != nil {
		return []problem{{"api/openapi.yaml", err.Error(), "write an OpenAPI document"}}
	}
	reached := map[string]bool{}
	for _, list := range doc.Common {
		for _, code := range list {
			reached[code] = true
		}
	}
	for _, item := range doc.Paths {
		for _, op := range item {
			list, _ := op["x-errors"].([]any)
			for _, code := range list {
				reached[fmt.Sprint(code)] = true
			}
		}
	}
	var out []problem
	for _, code := range codes {
		switch {
		case !reached[code] && excused[code] == "":
			out = append(out, problem{"error " + code, "is in the x-errors of no operation", "add it where it occurs in api/openapi.yaml, or say in unbound why there is no such place"})
		case reached[code] && excused[code] != "":
			out = append(out, problem{"error " + code, "is the error of an operation by now", "take it out of unbound in this test"})
		}
	}
	return out
}

func TestErrorCodesBelongToOperations(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, r := range catalog.Errors {
		codes = append(codes, string(r.Code))
	}
	passes(t, checkReachable(repository(t)["api/openapi.yaml"], codes, unbound))
}

func TestUnreachableErrorCodeIsCaught(t *testing.T) {
	t.Parallel()
	const doc = "x-common-errors: {all: [internal]}\npaths: {/a: {get: {x-errors: [not_ready]}}}\n"
	catches(t, checkReachable([]byte(doc), []string{"internal", "not_ready", "teapot", "gone"}, map[string]string{"gone": "never sent", "not_ready": "not yet"}),
		"error teapot: is in the x-errors of no operation", "error not_ready: is the error of an operation by now")
}

// checkModes asks for a mode as written in the catalogue, and for what is no mode of this build.
func checkModes(modes, others []string, accepts func(mode string) bool) []problem {
	var out []problem
	for _, m := range modes {
		if !accepts(strings.Replace(m, "N-M", "1-2", 1)) {
			out = append(out, problem{"read mode " + m, "is in the catalogue, but refused", "implement it in internal/tool, or drop the row"})
		}
	}
	for _, m := range others {
		if !slices.Contains(modes, m) && accepts(m) {
			out = append(out, problem{"read mode " + m, "is accepted, but not in the catalogue", "add a row to api/catalog/read_modes.yaml"})
		}
	}
	return out
}

// Modes that other builds, or older descriptions of ctx_read, have.
var otherModes = []string{
	"aggressive", "context", "density", "entropy", "graph", "handle", "lines", "lines:", "lines:a-b", "map", "outline", "raw",
	"signatures", "summary", "symbols", "task", "FULL", " full", "",
}

func TestReadModesAreThoseOfTheCatalogue(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	var modes []string
	for _, m := range catalog.ReadModes {
		modes = append(modes, m.Mode)
	}
	passes(t, checkModes(modes, otherModes, func(mode string) bool {
		a := s.Call(fmt.Sprintf(`{"name": "ctx_read", "arguments": {"path": "README.md", "mode": %q}}`, mode))
		return !strings.Contains(string(a.Body), "bad_mode") // mode diff has nothing to compare with yet
	}))
}

func TestWrongReadModesAreCaught(t *testing.T) {
	t.Parallel()
	accepts := func(mode string) bool { return mode == "full" || mode == "raw" || mode == "lines:1-2" }
	catches(t, checkModes([]string{"full", "lines:N-M", "map"}, []string{"raw", "diff"}, accepts),
		"read mode map: is in the catalogue, but refused", "read mode raw: is accepted, but not in the catalogue")
}
