package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/ctxd/ctxd/internal/fault"
)

var tomlCodec = codec{decode: decodeTOML, set: setTOML, remove: removeTOML, most: maxTOML}

// decodeTOML gives the document as plain values.
func decodeTOML(text []byte) (map[string]any, error) {
	out := map[string]any{}
	err := toml.Unmarshal(text, &out)
	if err == nil {
		return out, nil
	}
	message := strings.TrimPrefix(err.Error(), "toml: ")
	var at *toml.DecodeError
	if errors.As(err, &at) {
		row, column := at.Position()
		message = fmt.Sprintf("line %d, column %d: %s", row, column, message)
	}
	return nil, fault.Tool("broken_file", "%s", readable(message))
}

// section is a table as it stands in the text: its header and the pairs below it.
type section struct {
	key      []string
	from, to int // from the line of the header to the line end of the last pair
	header   int // where the line of the header ends
	pairs    []pair
}

// pair is a key with its value.
type pair struct {
	key      []string
	from, to int
}

// sections reads a document that decodes. What stands before the first header is no section.
func sections(text []byte) ([]section, error) {
	var out []section
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		key, first := keyOf(e)
		switch {
		case e.Kind == unstable.Table || e.Kind == unstable.ArrayTable:
			end := lineAfter(text, first)
			out = append(out, section{key: key, from: lineStart(text, first), to: end, header: end})
		case e.Kind == unstable.KeyValue && len(out) > 0:
			s := &out[len(out)-1]
			from, to := int(e.Raw.Offset), int(e.Raw.Offset+e.Raw.Length)
			s.pairs = append(s.pairs, pair{key, from, to})
			s.to = lineAfter(text, to)
		}
	}
	return out, p.Error()
}

// keyOf gives the parts of a key, and where it begins.
func keyOf(e *unstable.Node) (key []string, first int) {
	for it := e.Key(); it.Next(); {
		if key == nil {
			first = int(it.Node().Raw.Offset)
		}
		key = append(key, string(it.Node().Data))
	}
	return key, first
}

// setTOML writes a table, in place of the one that is there, or one pair of a table that is there.
func setTOML(text []byte, path []string, value any) ([]byte, error) {
	if fields, ok := value.([]field); ok {
		rest, err := removeTOML(text, path)
		if err != nil {
			return nil, err
		}
		return appendTable(rest, path, fields), nil
	}
	list, err := sections(text)
	if err != nil {
		return nil, err
	}
	table, key := path[:len(path)-1], path[len(path)-1]
	i := slices.IndexFunc(list, func(s section) bool { return slices.Equal(s.key, table) })
	if i < 0 {
		return nil, fault.Tool("unsupported_layout", "%s is no table with a header [%[1]s] of its own", strings.Join(table, "."))
	}
	s, written := list[i], key+" = "+scalar(value)
	for _, p := range s.pairs {
		if slices.Equal(p.key, []string{key}) {
			return apply(text, edit{p.from, p.to, written}), nil
		}
	}
	end := lineEnd(text)
	if trailingEnd(text[:s.header]) == "" {
		return apply(text, edit{s.header, s.header, end + written}), nil
	}
	return apply(text, edit{s.header, s.header, written + end}), nil
}

// appendTable writes a table at the end of the document, which stays without a line end at its end if it was.
func appendTable(text []byte, path []string, fields []field) []byte {
	end := lineEnd(text)
	before, last := end, end
	switch {
	case len(text) == 0:
		before = ""
	case trailingEnd(text) == "":
		before, last = end+end, ""
	}
	lines := []string{"[" + strings.Join(path, ".") + "]"}
	for _, f := range fields {
		lines = append(lines, f.name+" = "+scalar(f.value))
	}
	return apply(text, edit{len(text), len(text), before + strings.Join(lines, end) + last})
}

// removeTOML takes a table out, with those below it. Comments before and behind it stay.
func removeTOML(text []byte, path []string) ([]byte, error) {
	list, err := sections(text)
	if err != nil {
		return nil, err
	}
	var edits []edit
	end := 0 // of the edit before
	for _, s := range list {
		if len(s.key) >= len(path) && slices.Equal(s.key[:len(path)], path) {
			edits = append(edits, edit{max(end, s.from-gapBefore(text, s)), s.to, ""})
			end = s.to
		}
	}
	return apply(text, edits...), nil
}

// gapBefore is the size of the empty line that appendTable put before a table, and of the line end before that where the
// document had none at its end.
func gapBefore(text []byte, s section) int {
	before := text[:s.from]
	end := trailingEnd(before)
	line := trailingEnd(before[:len(before)-len(end)])
	switch {
	case line == "":
		return 0
	case s.to == len(text) && trailingEnd(text) == "":
		return len(end) + len(line)
	}
	return len(end)
}
