package setup

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
)

// Change is what was done to a document.
type Change string

// Changes.
const (
	Added     Change = "added"
	Updated   Change = "updated"
	Removed   Change = "removed"
	Unchanged Change = "unchanged"
)

// State is how a document stands to an entry.
type State string

// States.
const (
	Absent    State = "absent"
	Current   State = "current"   // the entry as it would be written
	Different State = "different" // ctxd, with another place or folder
	Foreign   State = "foreign"   // another program under this name
	Refused   State = "refused"   // a file that cannot be edited
)

// codec reads and edits a format. Documents have no byte order mark.
type codec struct {
	decode func(text []byte) (map[string]any, error)
	set    func(text []byte, path []string, value any) ([]byte, error)
	remove func(text []byte, path []string) ([]byte, error) // the same bytes where there is nothing
	most   int                                              // bytes of a document
}

// Put gives the document with the entry in it. An entry that starts something else stays, unless force is set.
func (c *Client) Put(doc []byte, e Entry, force bool) ([]byte, Change, error) {
	if err := c.admits(e); err != nil {
		return nil, "", err
	}
	text, mark := cutMark(doc)
	had, err := c.entry(text)
	if err != nil {
		return nil, "", err
	}
	out, change := text, Updated
	switch {
	case had == nil:
		change = Added
		out, err = c.codec().set(text, c.path(), c.fields(e))
	case ours(had, e):
		e = wanted(had, e)
		out, err = c.update(text, had, e)
	case !force:
		err = c.foreign("replace")
	default:
		had = nil
		out, err = c.codec().set(text, c.path(), c.fields(e))
	}
	if err != nil {
		return nil, "", err
	}
	if bytes.Equal(out, text) {
		return doc, Unchanged, nil
	}
	if err := c.verify(text, out, c.merged(had, e)); err != nil {
		return nil, "", err
	}
	return slices.Concat(mark, out), change, nil
}

// update writes the fields that differ.
func (c *Client) update(text []byte, had map[string]any, e Entry) ([]byte, error) {
	var err error
	for _, f := range c.fields(e) {
		if reflect.DeepEqual(had[f.name], plain(f.value)) {
			continue
		}
		if text, err = c.codec().set(text, append(c.path(), f.name), f.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Take gives the document without the entry. One that starts something else stays, unless force is set.
func (c *Client) Take(doc []byte, e Entry, force bool) ([]byte, Change, error) {
	text, mark := cutMark(doc)
	had, err := c.entry(text)
	switch {
	case err != nil:
		return nil, "", err
	case had == nil:
		return doc, Unchanged, nil
	case !ours(had, e) && !force:
		return nil, "", c.foreign("take out")
	}
	out, err := c.codec().remove(text, c.path())
	if err != nil {
		return nil, "", err
	}
	if err := c.verify(text, out, nil); err != nil {
		return nil, "", err
	}
	return slices.Concat(mark, out), Removed, nil
}

// Look says how a document stands to an entry.
func (c *Client) Look(doc []byte, e Entry) (State, error) {
	text, _ := cutMark(doc)
	had, err := c.entry(text)
	switch {
	case err != nil:
		return Refused, err
	case had == nil:
		return Absent, nil
	case !ours(had, e):
		return Foreign, nil
	}
	if out, err := c.update(text, had, wanted(had, e)); err == nil && bytes.Equal(out, text) {
		return Current, nil
	}
	return Different, nil
}

// Snippet is the smallest document with the entry in it.
func (c *Client) Snippet(e Entry) (string, error) {
	out, err := c.codec().set(nil, c.path(), c.fields(e))
	return string(out), err
}

// entry is what a document has under the name of ctxd, or nil.
func (c *Client) entry(text []byte) (map[string]any, error) {
	doc, err := c.codec().decode(text)
	if err != nil {
		return nil, err
	}
	for i, key := range c.path() {
		v, ok := doc[key]
		if !ok {
			return nil, nil
		}
		if doc, ok = v.(map[string]any); !ok {
			return nil, fault.Tool("wrong_type", "%s is no %s", strings.Join(c.path()[:i+1], "."), map[bool]string{true: "table", false: "object"}[c.Format == TOML])
		}
	}
	return doc, nil
}

func (c *Client) foreign(what string) error {
	return fault.Tool("foreign_entry", "its entry %s starts something other than ctxd mcp; --force makes ctxd %s it", strings.Join(c.path(), "."), what)
}

// merged is the entry that a document should have after an edit.
func (c *Client) merged(had map[string]any, e Entry) map[string]any {
	out := map[string]any{}
	maps.Copy(out, had)
	for _, f := range c.fields(e) {
		out[f.name] = plain(f.value)
	}
	return out
}

// plain is a value of a field as it decodes.
func plain(v any) any {
	list, ok := v.([]string)
	if !ok {
		return v
	}
	out := []any{}
	for _, item := range list {
		out = append(out, item)
	}
	return out
}

// verify decodes what is about to be written: it has to be the document of before, with that entry, or without where it is nil.
func (c *Client) verify(before, after []byte, entry map[string]any) error {
	want, err := c.codec().decode(before)
	if err != nil {
		return err
	}
	got, err := c.codec().decode(after)
	within, _ := want[c.Within].(map[string]any)
	if within == nil {
		within = map[string]any{}
	}
	want[c.Within] = within
	delete(within, name)
	if entry != nil {
		within[name] = entry
	}
	for _, doc := range []map[string]any{want, got} {
		if left, ok := doc[c.Within].(map[string]any); ok && len(left) == 0 {
			delete(doc, c.Within) // a table that holds nothing is there or not
		}
	}
	if err != nil || !reflect.DeepEqual(want, got) {
		return fault.Tool("unsupported_layout", "%s is written in a way that ctxd cannot edit safely; edit it by hand, ctxd setup %s --print shows the entry", c.Within, c.Name)
	}
	return nil
}
