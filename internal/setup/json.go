package setup

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ctxd/ctxd/internal/fault"
)

// maxDepth bounds the nesting of a JSON document: the parser calls itself for each level, and would run out of stack.
const maxDepth = 1000

// jsonText is a parsed document.
type jsonText struct {
	text []byte
	root *hujson.Value // nil where there is nothing but space and comments
}

func parseJSON(text []byte) (*jsonText, error) {
	if deep(text) {
		return nil, fault.Tool("broken_file", "it is nested deeper than %d levels", maxDepth)
	}
	v, err := hujson.Parse(text)
	if err == nil {
		return &jsonText{text, &v}, nil
	}
	if _, blank := hujson.Parse(append(slices.Clone(text), "\n{}"...)); blank == nil {
		return &jsonText{text, nil}, nil
	}
	return nil, fault.Tool("broken_file", "%s", readable(strings.TrimPrefix(err.Error(), "hujson: ")))
}

// deep says whether a document is nested too deeply for the parser. It reads strings and comments as the parser does.
func deep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case rest[0] == '"':
			i += stringEnd(rest)
		case bytes.HasPrefix(rest, []byte("//")):
			i += skipTo(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			i += skipTo(rest[2:], "*/") + 3
		case rest[0] == '{' || rest[0] == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case rest[0] == '}' || rest[0] == ']':
			depth--
		}
	}
	return false
}

// stringEnd is the place of the quote that ends the string with which text begins.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

func skipTo(text []byte, end string) int {
	if i := bytes.Index(text, []byte(end)); i >= 0 {
		return i
	}
	return len(text)
}

// decodeJSON gives the document as plain values, numbers as they are written.
func decodeJSON(text []byte) (map[string]any, error) {
	t, err := parseJSON(text)
	if err != nil || t.root == nil {
		return map[string]any{}, err
	}
	plain := t.root.Clone()
	plain.Standardize()
	d := json.NewDecoder(bytes.NewReader(plain.Pack()))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Tool("broken_file", "%w", err)
	}
	out, ok := v.(map[string]any)
	if !ok {
		return nil, fault.Tool("wrong_type", "it holds no object")
	}
	return out, nil
}

// place is how far a path leads into a document.
type place struct {
	object *hujson.Value // innermost object on the path
	rest   []string      // of the path, below the object
	index  int           // of the member that the path leads to; -1 where it is not there
}

func (p place) members() []hujson.ObjectMember { return p.object.Value.(*hujson.Object).Members }

func (t *jsonText) find(path []string) (place, error) {
	at := t.root
	for i, key := range path {
		if _, ok := at.Value.(*hujson.Object); !ok {
			return place{}, fault.Tool("wrong_type", "%s is no object", strings.Join(path[:i], "."))
		}
		p := place{at, path[i:], -1}
		for n, m := range p.members() {
			if m.Name.Value.(hujson.Literal).String() != key {
				continue
			}
			if p.index >= 0 {
				return place{}, fault.Tool("ambiguous", "%s stands in it twice", strings.Join(path[:i+1], "."))
			}
			p.index = n
		}
		if p.index < 0 || i == len(path)-1 {
			return p, nil
		}
		at = &p.members()[p.index].Value
	}
	return place{}, fault.Tool("wrong_type", "the path is empty")
}

// extras says whether a document has comments, and whether it has trailing commas.
func (t *jsonText) extras() (comments, commas bool) {
	if t.root == nil {
		return len(bytes.TrimSpace(t.text)) > 0, false
	}
	for v := range t.root.All() {
		comments = comments || !v.BeforeExtra.IsStandard() || !v.AfterExtra.IsStandard()
		switch c := v.Value.(type) {
		case *hujson.Object:
			comments = comments || !c.AfterExtra.IsStandard()
			commas = commas || len(c.Members) > 0 && c.Members[len(c.Members)-1].Value.AfterExtra != nil
		case *hujson.Array:
			comments = comments || !c.AfterExtra.IsStandard()
			commas = commas || len(c.Elements) > 0 && c.Elements[len(c.Elements)-1].AfterExtra != nil
		}
	}
	return comments, commas
}
