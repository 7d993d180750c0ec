package setup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	burnt "github.com/BurntSushi/toml"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/internal/setup"
)

// decode reads a document with parsers that the package does not use.
func decode(c *setup.Client, doc []byte) (map[string]any, error) {
	doc = bytes.TrimPrefix(doc, []byte("\ufeff"))
	out := map[string]any{}
	if c.Format == setup.TOML {
		_, err := burnt.Decode(string(doc), &out)
		return out, err
	}
	text := stripJSON(string(doc))
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return out, nil
}

// stripJSON takes comments and trailing commas out.
func stripJSON(text string) string {
	var out strings.Builder
	comma := -1 // place in out of a comma after which nothing but space came
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(text)-1)
			out.WriteString(text[i : end+1])
			i, comma = end, -1
		case strings.HasPrefix(text[i:], "//"):
			for i < len(text) && text[i] != '\n' {
				i++
			}
			i--
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return out.String() + text[i:]
			}
			out.WriteByte(' ')
			i += end + 3
		case b == '}' || b == ']':
			if s := out.String(); comma >= 0 {
				out.Reset()
				out.WriteString(s[:comma] + s[comma+1:])
			}
			out.WriteByte(b)
			comma = -1
		case b == ',':
			comma = out.Len()
			out.WriteByte(b)
		default:
			out.WriteByte(b)
			if !strings.ContainsRune(" \t\r\n", rune(b)) {
				comma = -1
			}
		}
	}
	return out.String()
}

// withEntry is a decoded document with what an entry says in the place of the entry; other members of the entry stay.
func withEntry(t rapid.TB, c *setup.Client, doc map[string]any, e setup.Entry) map[string]any {
	t.Helper()
	within, _ := doc[c.Within].(map[string]any)
	if within == nil {
		within = map[string]any{}
	}
	entry, _ := within["ctxd"].(map[string]any)
	if entry == nil {
		entry = map[string]any{}
	}
	args := []any{}
	for _, a := range e.Args {
		args = append(args, a)
	}
	entry["command"], entry["args"] = e.Command, args
	if c.Typed {
		entry["type"] = "stdio"
	}
	within["ctxd"], doc[c.Within] = entry, within
	return doc
}

// parse decodes a document that has to be right.
func parse(t rapid.TB, c *setup.Client, doc []byte) map[string]any {
	t.Helper()
	out, err := decode(c, doc)
	if err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	return out
}

// inserted says whether after is before with text put in at one place, or at two, the first of which got a comma.
func inserted(before, after []byte) bool {
	n := 0
	for n < len(before) && n < len(after) && before[n] == after[n] {
		n++
	}
	rest, grown := before[n:], after[n:]
	for len(rest) > 0 && len(grown) > 0 && rest[len(rest)-1] == grown[len(grown)-1] {
		rest, grown = rest[:len(rest)-1], grown[:len(grown)-1]
	}
	return len(rest) == 0 || bytes.HasPrefix(grown, append([]byte(","), rest...))
}
