package setup

import (
	"bytes"

	"github.com/tailscale/hujson"
)

var jsonCodec = codec{decode: decodeJSON, set: setJSON, remove: removeJSON, most: maxJSON}

// setJSON writes a value at a path: a string, a list of strings, or fields. Objects on the way are made where they are missing.
func setJSON(text []byte, path []string, value any) ([]byte, error) {
	t, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if t.root == nil {
		return t.begin(path, value), nil
	}
	p, err := t.find(path)
	if err != nil {
		return nil, err
	}
	s := t.styleOf(p)
	if p.index >= 0 {
		old := p.members()[p.index].Value
		return apply(text, edit{old.StartOffset, old.EndOffset, s.value(value, indentAt(text, old.StartOffset))}), nil
	}
	member := s.member(p.rest, value, s.indent)
	if len(p.members()) == 0 {
		return t.insertFirst(p, s, member), nil
	}
	return t.insertLast(p, s, member), nil
}

// begin writes the first value of a document without any.
func (t *jsonText) begin(path []string, value any) []byte {
	s := style{end: lineEnd(t.text), unit: "  "}
	before := ""
	if len(t.text) > 0 && trailingEnd(t.text) == "" {
		before = s.end
	}
	out := s.object([]string{s.member(path, value, s.unit)}, "")
	return apply(t.text, edit{len(t.text), len(t.text), before + out + s.end})
}

// insertFirst puts a member into an empty object, behind the comments in it.
func (t *jsonText) insertFirst(p place, s style, member string) []byte {
	g := gapOf(p.object.Value.(*hujson.Object).AfterExtra)
	at := p.object.StartOffset + 1 + g.comments
	before, after := s.end+s.indent, s.end+indentAt(t.text, p.object.StartOffset)
	switch {
	case s.inline:
		before, after = "", ""
	case g.line: // the space begins with the line end that closes the comment
		after = ""
	case bytes.ContainsRune(g.space, '\n'):
		after = s.end
	}
	return apply(t.text, edit{at, at, before + member + after})
}

// insertLast puts a member behind the last one of an object and the comments there; a trailing comma stays one.
func (t *jsonText) insertLast(p place, s style, member string) []byte {
	o := p.object.Value.(*hujson.Object)
	last := o.Members[len(o.Members)-1].Value
	g := gapOf(o.AfterExtra)
	before := s.end + s.indent
	if s.inline && !g.line {
		before = " "
	}
	if last.AfterExtra != nil {
		at := last.EndOffset + len(last.AfterExtra) + 1 + g.comments
		return apply(t.text, edit{at, at, before + member + ","})
	}
	at := last.EndOffset + g.comments
	return apply(t.text, edit{last.EndOffset, last.EndOffset, ","}, edit{at, at, before + member})
}

// removeJSON takes a member out, with its comma. Comments before and after it stay.
func removeJSON(text []byte, path []string) ([]byte, error) {
	t, err := parseJSON(text)
	if err != nil || t.root == nil {
		return text, err
	}
	p, err := t.find(path)
	if err != nil || p.index < 0 {
		return text, err
	}
	m := p.members()[p.index]
	g := gapOf(m.Name.BeforeExtra)
	from := m.Name.StartOffset - len(m.Name.BeforeExtra) + g.comments
	edits := t.cuts(p, g, from)
	out := apply(text, edits...)
	if at := from - removedBefore(edits, from); g.line && leadingEnd(bytes.TrimLeft(out[at:], " \t")) == "" {
		return apply(out, edit{at, at, lineEnd(text)}), nil // or the comment would swallow what comes next
	}
	return out, nil
}

// cuts are the edits that take a member and its comma out.
func (t *jsonText) cuts(p place, g gap, from int) []edit {
	m, last := p.members()[p.index].Value, len(p.members())-1
	switch {
	case p.index < last || m.AfterExtra != nil:
		comma := m.EndOffset + len(m.AfterExtra)
		return []edit{{from, m.EndOffset, ""}, {comma, comma + 1, ""}}
	case last > 0:
		before := p.members()[last-1].Value
		comma := before.EndOffset + len(before.AfterExtra)
		return []edit{{comma, comma + 1, ""}, {from, m.EndOffset, ""}}
	case g.line:
		return []edit{{from, m.EndOffset, ""}}
	}
	return []edit{{from, m.EndOffset + t.closing(p), ""}}
}

// closing is how much of the space behind the only member insertFirst may have put there.
func (t *jsonText) closing(p place) int {
	rest := []byte(p.object.Value.(*hujson.Object).AfterExtra)
	end := leadingEnd(rest)
	if rest = rest[len(end):]; end == "" || bytes.ContainsRune(rest, '\n') {
		return len(end)
	}
	indent := indentAt(t.text, p.object.StartOffset)
	if !bytes.HasPrefix(rest, []byte(indent)) {
		return len(end)
	}
	return len(end) + len(indent)
}

// removedBefore is how many bytes the edits before a place take out.
func removedBefore(edits []edit, at int) int {
	n := 0
	for _, e := range edits {
		if e.from < at {
			n += e.to - e.from
		}
	}
	return n
}

// gap is what stands between two tokens.
type gap struct {
	comments int  // length of the comments, with the space before and between them
	line     bool // whether the last comment goes on to the end of its line
	space    []byte
}

func gapOf(extra hujson.Extra) gap {
	g := gap{space: extra}
	for i := 0; i < len(extra); i++ {
		if extra[i] != '/' {
			continue
		}
		if g.line = extra[i+1] == '/'; g.line {
			i += skipTo(extra[i:], "\n")
			g.comments = len(bytes.TrimSuffix(extra[:i], []byte("\r")))
		} else {
			i += 2 + skipTo(extra[i+2:], "*/") + 1
			g.comments = i + 1
		}
		g.space = extra[g.comments:]
	}
	return g
}
