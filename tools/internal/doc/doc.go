// Package doc holds JSON and YAML documents with the order of their members, which the standard library forgets: the
// contract files are read, changed and written by the generators without being reshuffled.
//
// It knows nothing of OpenAPI or JSON Schema. Only the generators below tools/ import it.
package doc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Object is a JSON object that remembers the order of its members. A value in it is nil, a bool, a string, a
// json.Number, a []any or an *Object.
type Object struct {
	keys []string
	vals map[string]any
}

// NewObject builds an object of alternating names and values.
func NewObject(pairs ...any) *Object {
	o := &Object{vals: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Keys returns the names of the members in order.
func (o *Object) Keys() []string { return slices.Clone(o.keys) }

// Len is the number of members.
func (o *Object) Len() int { return len(o.keys) }

// Has says whether there is a member of that name.
func (o *Object) Has(key string) bool { _, ok := o.vals[key]; return ok }

// Get returns a member, or nil.
func (o *Object) Get(key string) any { return o.vals[key] }

// Set replaces a member in its place, or adds it at the end.
func (o *Object) Set(key string, v any) {
	if _, ok := o.vals[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.vals[key] = v
}

// Delete removes members.
func (o *Object) Delete(keys ...string) {
	for _, key := range keys {
		if _, ok := o.vals[key]; !ok {
			continue
		}
		delete(o.vals, key)
		o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
	}
}

// Object returns a member that is an object, or nil.
func (o *Object) Object(key string) *Object { v, _ := o.vals[key].(*Object); return v }

// String returns a member that is a string, or "".
func (o *Object) String(key string) string { v, _ := o.vals[key].(string); return v }

// List returns a member that is an array, or nil.
func (o *Object) List(key string) []any { v, _ := o.vals[key].([]any); return v }

// Strings returns the strings of a member that is an array.
func (o *Object) Strings(key string) []string {
	var out []string
	for _, v := range o.List(key) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Sort orders the members by name.
func (o *Object) Sort() { slices.Sort(o.keys) }

// Parse reads one JSON or YAML document. Anchors and duplicate names are refused.
func Parse(data []byte) (any, error) {
	var n, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&n); err != nil {
		return nil, err
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one document")
	}
	return fromNode(n.Content[0])
}

// ParseObject reads a document whose root is an object.
func ParseObject(data []byte) (*Object, error) {
	v, err := Parse(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, fmt.Errorf("the root is no object")
	}
	return o, nil
}

func fromNode(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		return fromMapping(n)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := fromNode(c)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.ScalarNode:
		return fromScalar(n)
	default:
		return nil, fmt.Errorf("line %d: anchors and aliases are not used here", n.Line)
	}
}

func fromMapping(n *yaml.Node) (any, error) {
	o := NewObject()
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if o.Has(key) {
			return nil, fmt.Errorf("line %d: %q stands twice", n.Content[i].Line, key)
		}
		v, err := fromNode(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		o.Set(key, v)
	}
	return o, nil
}

func fromScalar(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strconv.ParseBool(strings.ToLower(n.Value))
	case "!!int", "!!float":
		if !json.Valid([]byte(n.Value)) {
			return nil, fmt.Errorf("line %d: %q is no JSON number", n.Line, n.Value)
		}
		return json.Number(n.Value), nil
	default:
		return n.Value, nil
	}
}

// Marshal writes v with two spaces of indentation and a final newline. Arrays of scalars stay on one line while short.
func Marshal(v any) []byte {
	var b bytes.Buffer
	write(&b, v, 0)
	b.WriteByte('\n')
	return b.Bytes()
}

// Compact writes v without white space.
func Compact(v any) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, Marshal(v)); err != nil {
		panic(err) // Marshal writes valid JSON
	}
	return b.Bytes()
}

func write(b *bytes.Buffer, v any, depth int) {
	switch v := v.(type) {
	case *Object:
		writeObject(b, v, depth)
	case []any:
		writeList(b, v, depth)
	case string:
		b.Write(quote(v))
	case json.Number:
		b.WriteString(v.String())
	case int:
		b.WriteString(strconv.Itoa(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case nil:
		b.WriteString("null")
	default:
		panic(fmt.Sprintf("doc: a %T is no part of a document", v))
	}
}

func writeObject(b *bytes.Buffer, o *Object, depth int) {
	if o.Len() == 0 {
		b.WriteString("{}")
		return
	}
	b.WriteByte('{')
	for i, k := range o.keys {
		newline(b, depth+1, i > 0)
		b.Write(quote(k))
		b.WriteString(": ")
		write(b, o.vals[k], depth+1)
	}
	newline(b, depth, false)
	b.WriteByte('}')
}

func writeList(b *bytes.Buffer, list []any, depth int) {
	if line, ok := oneLine(list); ok {
		b.WriteString(line)
		return
	}
	b.WriteByte('[')
	for i, v := range list {
		newline(b, depth+1, i > 0)
		write(b, v, depth+1)
	}
	newline(b, depth, false)
	b.WriteByte(']')
}

func oneLine(list []any) (string, bool) {
	parts := make([]string, 0, len(list))
	size := 0
	for _, v := range list {
		switch v.(type) {
		case *Object, []any:
			return "", false
		}
		var b bytes.Buffer
		write(&b, v, 0)
		parts = append(parts, b.String())
		size += b.Len() + 2
	}
	return "[" + strings.Join(parts, ", ") + "]", size <= 100
}

func newline(b *bytes.Buffer, depth int, comma bool) {
	if comma {
		b.WriteByte(',')
	}
	b.WriteByte('\n')
	for range depth {
		b.WriteString("  ")
	}
}

func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Clone copies a document deeply.
func Clone(v any) any {
	switch v := v.(type) {
	case *Object:
		o := NewObject()
		for _, k := range v.keys {
			o.Set(k, Clone(v.vals[k]))
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Clone(v[i])
		}
		return list
	default:
		return v
	}
}

// At follows a JSON pointer (RFC 6901).
func At(v any, pointer string) (any, error) {
	if pointer == "" {
		return v, nil
	}
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch c := v.(type) {
		case *Object:
			if !c.Has(part) {
				return nil, fmt.Errorf("no member %q on the way to %s", part, pointer)
			}
			v = c.Get(part)
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(c) {
				return nil, fmt.Errorf("no element %q on the way to %s", part, pointer)
			}
			v = c[i]
		default:
			return nil, fmt.Errorf("%q is below a scalar on the way to %s", part, pointer)
		}
	}
	return v, nil
}

// Walk calls visit for every object of the document, parents before children, and stops at the first error.
func Walk(v any, visit func(*Object) error) error {
	switch v := v.(type) {
	case *Object:
		if err := visit(v); err != nil {
			return err
		}
		for _, k := range v.Keys() {
			if err := Walk(v.Get(k), visit); err != nil {
				return err
			}
		}
	case []any:
		for _, c := range v {
			if err := Walk(c, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
