package setup

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how new text is laid out.
type style struct {
	end    string // of lines
	unit   string // of indentation
	indent string // of a member at the place
	inline bool   // on one line
}

// styleOf follows the members that are there, else the document.
func (t *jsonText) styleOf(p place) style {
	s := style{end: lineEnd(t.text), unit: t.unit()}
	outer := indentAt(t.text, p.object.StartOffset)
	s.indent = outer + s.unit
	o := p.object.Value.(*hujson.Object)
	if len(o.Members) == 0 {
		s.inline = p.object != t.root && !bytes.ContainsRune(bytes.TrimSpace(t.text), '\n')
		return s
	}
	name := o.Members[len(o.Members)-1].Name
	if s.inline = !bytes.ContainsRune(name.BeforeExtra, '\n'); s.inline {
		return s
	}
	s.indent = indentAt(t.text, name.StartOffset)
	if unit, ok := strings.CutPrefix(s.indent, outer); ok && unit != "" {
		s.unit = unit
	}
	return s
}

// unit is by how much the document indents its first level.
func (t *jsonText) unit() string {
	if o, ok := t.root.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		first := o.Members[0].Name
		if unit := indentAt(t.text, first.StartOffset); bytes.ContainsRune(first.BeforeExtra, '\n') && unit != "" {
			return unit
		}
	}
	return "  "
}

// member writes a value and the objects that lead to it.
func (s style) member(path []string, value any, indent string) string {
	if len(path) == 1 {
		return quote(path[0]) + ": " + s.value(value, indent)
	}
	return quote(path[0]) + ": " + s.object([]string{s.member(path[1:], value, indent+s.unit)}, indent)
}

func (s style) value(value any, indent string) string {
	fields, ok := value.([]field)
	if !ok {
		return scalar(value)
	}
	var members []string
	for _, f := range fields {
		members = append(members, quote(f.name)+": "+scalar(f.value))
	}
	return s.object(members, indent)
}

// object writes members that are indented already; indent is that of the closing brace.
func (s style) object(members []string, indent string) string {
	if s.inline {
		return "{" + strings.Join(members, ", ") + "}"
	}
	before := s.end + indent + s.unit
	return "{" + before + strings.Join(members, ","+before) + s.end + indent + "}"
}
