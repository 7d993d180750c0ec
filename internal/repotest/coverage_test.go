package repotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/contract"
)

// coverage notes which places of the schemas a set of examples reaches. A place is "event.schema.json#/properties/kind", a
// value of an enumeration "… = local", and a value that the enumeration lacks "… refused".
type coverage struct {
	schemas map[string]map[string]any
	reached map[string]bool
}

func newCoverage(files tree) (*coverage, error) {
	c := &coverage{schemas: map[string]map[string]any{}, reached: map[string]bool{}}
	for _, name := range files.names() {
		base := path.Base(name)
		if path.Dir(name) != "schemas" || !strings.HasSuffix(base, ".schema.json") || base == partsSchema+".schema.json" {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal(files[name], &doc); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.schemas[base] = doc
	}
	return c, nil
}

// place is a schema within a file.
type place struct {
	file, pointer string
	schema        map[string]any
}

func (p place) String() string { return p.file + "#" + p.pointer }

func (p place) child(schema any, keys ...string) (place, bool) {
	s, ok := schema.(map[string]any)
	return place{p.file, p.pointer + "/" + strings.Join(keys, "/"), s}, ok
}

// follow finds what a reference names.
func (c *coverage) follow(from place, ref string) (place, bool) {
	file, pointer, _ := strings.Cut(ref, "#")
	if file == "" {
		file = from.file
	}
	at := any(c.schemas[file])
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if key != "" {
			o, _ := at.(map[string]any)
			at = o[key]
		}
	}
	s, ok := at.(map[string]any)
	return place{file, pointer, s}, ok
}

// visit marks what a document reaches. Of alternatives it follows those that the document satisfies.
func (c *coverage) visit(p place, v any) {
	if ref, ok := p.schema["$ref"].(string); ok {
		if next, ok := c.follow(p, ref); ok {
			c.visit(next, v)
		}
	}
	c.value(p, v)
	switch v := v.(type) {
	case map[string]any:
		c.object(p, v)
	case []any:
		if next, ok := p.child(p.schema["items"], "items"); ok {
			for _, e := range v {
				c.visit(next, e)
			}
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		branches, _ := p.schema[key].([]any)
		for i, b := range branches {
			if next, ok := p.child(b, key, fmt.Sprint(i)); ok && satisfies(next, v) {
				c.visit(next, v)
			}
		}
	}
}

func (c *coverage) object(p place, v map[string]any) {
	props, _ := p.schema["properties"].(map[string]any)
	for name, member := range v {
		next, ok := p.child(props[name], "properties", name)
		if !ok {
			next, ok = p.child(p.schema["additionalProperties"], "additionalProperties")
		}
		if ok {
			c.reached[next.String()] = true
			c.visit(next, member)
		}
	}
}

func (c *coverage) value(p place, v any) {
	for _, key := range enumerations {
		for _, known := range values(p, key) {
			if known == v {
				c.reached[fmt.Sprintf("%s = %v", p, v)] = true
			}
		}
	}
	if list := values(p, "enum"); list != nil && !slices.Contains(list, v) {
		c.reached[p.String()+" refused"] = true
	}
}

var enumerations = []string{"enum", "const", "x-extensible-enum"}

func values(p place, key string) []any {
	if key == "const" && p.schema[key] != nil {
		return []any{p.schema[key]}
	}
	list, _ := p.schema[key].([]any)
	return list
}

func satisfies(p place, v any) bool {
	s, err := contract.Named(strings.TrimSuffix(p.file, ".schema.json") + "#" + p.pointer)
	return err == nil && len(s.Judge(v)) == 0
}

// wanted calls need for each place that a valid example must reach, and refuse for each enumeration that an invalid one must
// break. Choices tell their branches apart by enumerations of their own, which break as a choice.
func wanted(p place, choice bool, need, refuse func(string)) {
	for _, key := range enumerations {
		for _, v := range values(p, key) {
			need(fmt.Sprintf("%s = %v", p, v))
		}
	}
	if p.schema["enum"] != nil && !choice {
		refuse(p.String() + " refused")
	}
	for _, part := range p.parts() {
		if part.property {
			need(part.String())
		}
		wanted(part.place, choice || part.choice, need, refuse)
	}
}

// part is a schema right below another one.
type part struct {
	place
	property bool // a member
	choice   bool // a branch of several
}

func (p place) parts() []part {
	var out []part
	add := func(schema any, property, choice bool, keys ...string) {
		if next, ok := p.child(schema, keys...); ok {
			out = append(out, part{next, property, choice})
		}
	}
	for _, key := range []string{"properties", "$defs"} {
		named, _ := p.schema[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			add(named[name], key == "properties", false, key, name)
		}
	}
	add(p.schema["items"], false, false, "items")
	add(p.schema["additionalProperties"], false, false, "additionalProperties")
	for _, key := range []string{"oneOf", "anyOf"} {
		branches, _ := p.schema[key].([]any)
		for i, b := range branches {
			add(b, false, true, key, fmt.Sprint(i))
		}
	}
	return out
}

// checkCoverage wants every member and every word of an enumeration in a valid example, and every closed enumeration broken in
// an invalid one: what no example shows, nobody has thought through.
func checkCoverage(files tree) []problem {
	good, err := newCoverage(files)
	if err != nil {
		return []problem{{"schemas", err.Error(), "write JSON"}}
	}
	bad, _ := newCoverage(files)
	examples := files.below(examplesDir)
	for _, name := range examples.names() {
		file, part, _ := strings.Cut(schemaOf(path.Base(path.Dir(name))), "#")
		p, ok := good.follow(place{}, file+".schema.json#"+part)
		var v any
		if !ok || json.Unmarshal(examples[name], &v) != nil {
			continue // checkExamples says so
		}
		if strings.HasPrefix(path.Base(name), "valid-") {
			good.visit(p, v)
		} else {
			bad.visit(p, v)
		}
	}
	var out []problem
	report := func(c *coverage, kind string) func(string) {
		return func(what string) {
			if !c.reached[what] {
				out = append(out, problem{"schemas/" + what, "is in no " + kind + " example", "show it in " + examplesDir})
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(good.schemas)) {
		wanted(place{file, "", good.schemas[file]}, false, report(good, "valid"), report(bad, "invalid"))
	}
	return out
}

func TestExamplesCoverSchemas(t *testing.T) {
	t.Parallel()
	passes(t, checkCoverage(repository(t)))
}

func TestUncoveredSchemasAreCaught(t *testing.T) {
	t.Parallel()
	files := repository(t).
		edited(t, "schemas/ready.schema.json", `["ready"]`, `["ready", "almost"]`).
		edited(t, "schemas/ready.schema.json", `"checks": {`, `"why": { "type": "object", "properties": { "text": { "type": "string" } } }, "checks": {`).
		with(nil, examplesDir+"/capability-v1/invalid-enum-risk.json", examplesDir+"/event/valid-slow-call.json")
	catches(t, checkCoverage(files),
		"schemas/ready.schema.json#/properties/status = almost: is in no valid example",
		"schemas/ready.schema.json#/properties/why: is in no valid example",
		"schemas/ready.schema.json#/properties/why/properties/text: is in no valid example",
		"schemas/capability-v1.schema.json#/$defs/Capability/properties/risk refused: is in no invalid example",
		"schemas/event.schema.json#/$defs/EventPayload/properties/outcome = timeout: is in no valid example",
	)
}
