package repotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// surfaces are what a deprecation may name: operations and their parameters, tools, and keys of the configuration.
func surfaces(files tree) ([]string, error) {
	var out []string
	var doc openapiDoc
	if err := json.Unmarshal(files["api/openapi.json"], &doc); err != nil {
		return nil, fmt.Errorf("api/openapi.json: %w", err)
	}
	for _, item := range doc.Paths {
		for _, op := range item {
			out = append(out, "operation "+op.ID)
			for _, p := range op.Parameters {
				out = append(out, "parameter "+op.ID+"."+doc.name(p))
			}
		}
	}
	capabilities, err := capabilitiesOf(files["gen/tool/manifest.gen.json"])
	if err != nil {
		return nil, fmt.Errorf("gen/tool/manifest.gen.json: %w", err)
	}
	for _, c := range capabilities {
		for _, b := range c.Bindings {
			out = append(out, "tool "+b.Name)
		}
	}
	var config struct{ Properties map[string]any }
	if err := json.Unmarshal(files["schemas/config.schema.json"], &config); err != nil {
		return nil, fmt.Errorf("schemas/config.schema.json: %w", err)
	}
	for key := range config.Properties {
		out = append(out, "config "+key)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// openapiDoc is what surfaces are read from.
type openapiDoc struct {
	Paths map[string]map[string]struct {
		ID         string           `json:"operationId"`
		Parameters []parameterOrRef `json:"parameters"`
	}
	Components struct{ Parameters map[string]parameterOrRef }
}

type parameterOrRef struct {
	Ref  string `json:"$ref"`
	Name string
}

func (d openapiDoc) name(p parameterOrRef) string {
	if p.Ref != "" {
		return d.Components.Parameters[path.Base(p.Ref)].Name
	}
	return p.Name
}

// without takes what may go out of a released document, so that what is left can be compared.
func without(document []byte, gone []string) ([]byte, error) {
	var doc map[string]any
	var typed openapiDoc
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(document, &typed); err != nil {
		return nil, err
	}
	paths, _ := doc["paths"].(map[string]any)
	for name, item := range typed.Paths {
		members, _ := paths[name].(map[string]any)
		for method, op := range item {
			if slices.Contains(gone, "operation "+op.ID) {
				delete(members, method)
				continue
			}
			raw, _ := members[method].(map[string]any)
			var kept []any
			for i, p := range op.Parameters {
				if !slices.Contains(gone, "parameter "+op.ID+"."+typed.name(p)) {
					kept = append(kept, raw["parameters"].([]any)[i])
				}
			}
			raw["parameters"] = kept
		}
		if len(members) == 0 {
			delete(paths, name)
		}
	}
	dropCalls(doc, gone)
	return json.Marshal(doc)
}

// dropCalls takes the calls of tools out of the choices of the request.
func dropCalls(doc map[string]any, gone []string) {
	components, _ := doc["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for _, s := range schemas {
		s, _ := s.(map[string]any)
		branches, ok := s["oneOf"].([]any)
		if !ok {
			continue
		}
		s["oneOf"] = slices.DeleteFunc(branches, func(b any) bool {
			ref, _ := b.(map[string]any)["$ref"].(string)
			called, _ := json.Marshal(schemas[path.Base(ref)])
			var call struct {
				Properties struct{ Name struct{ Enum []string } }
			}
			return json.Unmarshal(called, &call) == nil && len(call.Properties.Name.Enum) == 1 && slices.Contains(gone, "tool "+call.Properties.Name.Enum[0])
		})
	}
}

// What may go is taken out of the baseline, and nothing else is.
func TestWithoutTakesSurfacesOut(t *testing.T) {
	t.Parallel()
	files := repository(t)
	for _, surface := range []string{"operation getMetrics", "operation endMCP", "parameter streamEvents.replay", "parameter listTools.x-leanctx-workspace", "tool ctx_tree"} {
		out, err := without(files["api/openapi.json"], []string{surface})
		if err != nil {
			t.Fatal(err)
		}
		if found := checkOpenAPI(files["api/openapi.json"], out); len(found) == 0 {
			t.Errorf("%s is still there", surface)
		}
	}
	all, err := surfaces(files)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, s := range all {
		have[strings.Fields(s)[0]]++
	}
	if got := slices.Sorted(maps.Keys(have)); !slices.Equal(got, []string{"config", "operation", "parameter", "tool"}) {
		t.Errorf("surfaces of %v", got)
	}
}
