package repotest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// manifestCapability is what a caller relies on in a published capability.
type manifestCapability struct {
	ID       string
	Kind     string
	Input    map[string]any `json:"input_schema"`
	Auth     struct{ Scopes []string }
	Bindings []struct{ Profile, Name, Action string }
	Contract *struct {
		SideEffects []string `json:"side_effects"`
		Idempotency struct {
			Requirement string
			KeyScope    string `json:"key_scope"`
		}
	}
}

func capabilitiesOf(manifest []byte) (map[string]manifestCapability, error) {
	var m struct{ Capabilities []manifestCapability }
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, err
	}
	out := map[string]manifestCapability{}
	for _, c := range m.Capabilities {
		out[c.ID] = c
	}
	return out, nil
}

// checkCapabilities wants that the id of a capability keeps its meaning: whoever holds a call, a policy or a record of it must
// not find something else behind it. Capabilities of the tools in gone may go.
func checkCapabilities(released, now []byte, gone []string) []problem {
	before, err := capabilitiesOf(released)
	if err != nil {
		return []problem{{"api/released", "the released manifest cannot be read: " + err.Error(), "restore it"}}
	}
	after, err := capabilitiesOf(now)
	if err != nil {
		return []problem{{"gen/tool/manifest.gen.json", err.Error(), "run go generate ./..."}}
	}
	var out []problem
	for _, id := range slices.Sorted(maps.Keys(before)) {
		b, a := before[id], after[id]
		if a.ID == "" {
			if len(b.Bindings) == 0 || !slices.Contains(gone, b.Bindings[0].Name) {
				out = append(out, problem{id, "was released, and is gone", "bring it back, and deprecate its tool first"})
			}
			continue
		}
		for _, wrong := range changedMeaning(b, a) {
			out = append(out, problem{id, wrong, "keep it, and publish the other meaning under another id"})
		}
	}
	return out
}

func changedMeaning(b, a manifestCapability) []string {
	var out []string
	changed := func(what string, before, after any) {
		if !reflect.DeepEqual(before, after) {
			out = append(out, fmt.Sprintf("%s was %v, is %v", what, before, after))
		}
	}
	changed("kind", b.Kind, a.Kind)
	changed("binding", b.Bindings, a.Bindings)
	for _, s := range a.Auth.Scopes {
		if !slices.Contains(b.Auth.Scopes, s) {
			out = append(out, "needs the scope "+s+", which it did not")
		}
	}
	if changed("having a contract", b.Contract != nil, a.Contract != nil); b.Contract != nil && a.Contract != nil {
		changed("side effects", slices.Sorted(slices.Values(b.Contract.SideEffects)), slices.Sorted(slices.Values(a.Contract.SideEffects)))
		changed("key scope", b.Contract.Idempotency.KeyScope, a.Contract.Idempotency.KeyScope)
		if a.Contract.Idempotency.Requirement == "required" { // callers that send no key would be refused
			changed("requirement of a key", b.Contract.Idempotency.Requirement, a.Contract.Idempotency.Requirement)
		}
	}
	return append(out, narrowed("input", b.Input, a.Input)...)
}

// narrowed tells where a schema refuses what another one took, or takes it to mean something else. It knows the part of JSON
// Schema that inputs are written in (tools.md T2); what it does not know must not change.
func narrowed(at string, before, after map[string]any) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, at+" "+fmt.Sprintf(format, args...)) }
	for _, t := range list(before["type"]) {
		if types := list(after["type"]); len(types) > 0 && !slices.Contains(types, t) && !(t == "integer" && slices.Contains(types, any("number"))) {
			say("is no longer of type %v", t)
		}
	}
	if before["type"] == nil && after["type"] != nil {
		say("is of type %v only", after["type"])
	}
	if words := list(after["enum"]); len(words) > 0 {
		if before["enum"] == nil {
			say("takes %v only", words)
		}
		for _, w := range list(before["enum"]) {
			if !slices.Contains(words, w) {
				say("no longer takes %v", w)
			}
		}
	}
	for _, name := range list(after["required"]) {
		if !slices.Contains(list(before["required"]), name) {
			say("requires %v", name)
		}
	}
	out = append(out, tightened(at, before, after)...)
	return append(out, narrowedParts(at, before, after)...)
}

// Keywords of bounds, and those that may only vanish.
var (
	lowerBounds = []string{"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}
	upperBounds = []string{"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}
	fixed       = []string{"pattern", "format", "multipleOf", "uniqueItems", "const", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "patternProperties", "propertyNames"}
)

func tightened(at string, before, after map[string]any) []string {
	var out []string
	for _, key := range slices.Concat(lowerBounds, upperBounds) {
		b, had := before[key].(float64)
		if a, has := after[key].(float64); has && (!had || slices.Contains(lowerBounds, key) && a > b || slices.Contains(upperBounds, key) && a < b) {
			out = append(out, fmt.Sprintf("%s has the %s %v", at, key, a))
		}
	}
	for _, key := range fixed {
		if after[key] != nil && !reflect.DeepEqual(before[key], after[key]) {
			out = append(out, fmt.Sprintf("%s has another %s", at, key))
		}
	}
	if b, had := before["default"]; had && !reflect.DeepEqual(b, after["default"]) {
		out = append(out, fmt.Sprintf("%s was %v by default, and is %v", at, b, after["default"]))
	}
	return out
}

func narrowedParts(at string, before, after map[string]any) []string {
	var out []string
	old, _ := before["properties"].(map[string]any)
	props, _ := after["properties"].(map[string]any)
	closed, wasClosed := after["additionalProperties"] == false, before["additionalProperties"] == false
	if closed && !wasClosed {
		out = append(out, at+" takes no other members")
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		b, _ := old[name].(map[string]any)
		a, ok := props[name].(map[string]any)
		switch {
		case !ok && closed:
			out = append(out, at+" no longer takes "+name)
		case ok:
			out = append(out, narrowed(at+"/"+name, b, a)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if _, known := old[name]; !known && !wasClosed {
			out = append(out, at+" gives a meaning to "+name+", which was free")
		}
	}
	if a, ok := after["items"].(map[string]any); ok {
		b, _ := before["items"].(map[string]any)
		out = append(out, narrowed(at+"[]", b, a)...)
	}
	return out
}

// list is a value that may be one or several.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

func TestChangedCapabilitiesAreCaught(t *testing.T) {
	t.Parallel()
	f := readFixture(t, "capabilities.json")
	for _, c := range f.Cases {
		t.Run(c.Say, func(t *testing.T) {
			t.Parallel()
			var want []string
			for _, w := range c.Want {
				want = append(want, strings.ReplaceAll(w, "$", "cap:garden:"))
			}
			catches(t, checkCapabilities(wrapManifest(t, f.Base), wrapManifest(t, patched(t, f.Base, c.Patch)), []string{"old"}), want...)
		})
	}
}

// wrapManifest makes a manifest of capabilities by id, which are easier to patch.
func wrapManifest(t *testing.T, byID []byte) []byte {
	t.Helper()
	var m map[string]map[string]any
	if err := json.Unmarshal(byID, &m); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for id, c := range m {
		c["id"] = "cap:garden:" + id
		all = append(all, c)
	}
	out, err := json.Marshal(map[string]any{"capabilities": all})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
