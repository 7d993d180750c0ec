// Package setup plugs ctxd into the configuration files of AI clients, and takes it out again.
//
// It edits text: only the entry of ctxd is written, and every other byte of the file stays, comments, order and indentation
// included. A file that it does not understand is refused and left alone. It reads no environment, since cli hands in where
// the home folder is and which command to write, and it starts nothing. Only cli imports it.
package setup

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
)

// Target is one file of one client.
type Target struct {
	Client *Client
	Scope  Scope
	File   string // absolute
	Entry  Entry  // that it has, or should have
	within string // folder that links must not lead out of
}

// Result is what was done to a file.
type Result struct {
	Client  string   `json:"client"`
	Scope   Scope    `json:"scope"`
	File    string   `json:"file"` // the one that was written, where links led to it
	Change  Change   `json:"change"`
	Changed bool     `json:"changed"`
	Backup  string   `json:"backup,omitempty"` // copy of the file as it was before ctxd
	Snippet string   `json:"snippet"`
	Notes   []string `json:"notes,omitempty"`
}

// NewTarget is the file of a client for a scope, and the entry that serves the host's folder from there. With fixed set, the
// entry names the folder also where the client would start ctxd in it.
func NewTarget(c *Client, s Scope, h Host, command string, fixed bool) (*Target, error) {
	path, err := c.File(h, s)
	if err != nil {
		return nil, err
	}
	t := &Target{Client: c, Scope: s, File: path}
	root := h.Root
	if s == User && c.Follows && !fixed {
		root = ""
	}
	if s == Project {
		// A foreign repository must not choose which file of the machine is written.
		t.within = h.Root
	}
	t.Entry = NewEntry(command, root)
	return t, nil
}

// Put writes the entry into the file.
func (t *Target) Put(force bool) (*Result, error) {
	return t.edit(func(doc []byte) ([]byte, Change, error) { return t.Client.Put(doc, t.Entry, force) })
}

// Take takes the entry out of the file.
func (t *Target) Take(force bool) (*Result, error) {
	return t.edit(func(doc []byte) ([]byte, Change, error) { return t.Client.Take(doc, t.Entry, force) })
}

// Print gives the entry without touching the file.
func (t *Target) Print() (*Result, error) {
	if err := t.Client.admits(t.Entry); err != nil {
		return nil, err
	}
	return t.result(t.File, Unchanged)
}

// Look says how the file stands to the entry, and why where it is refused.
func (t *Target) Look() (State, error) {
	f, err := openFile(t.File, t.within, t.Client.codec().most)
	if err != nil {
		return Refused, err
	}
	state, err := t.Client.Look(f.data, t.Entry)
	return state, t.blame(err)
}

func (t *Target) edit(change func(doc []byte) ([]byte, Change, error)) (*Result, error) {
	f, err := openFile(t.File, t.within, t.Client.codec().most)
	if err != nil {
		return nil, err
	}
	out, done, err := change(f.data)
	if err != nil {
		return nil, t.blame(err)
	}
	r, err := t.result(f.real, done)
	if err != nil || done == Unchanged {
		return r, err
	}
	// A file that had an entry of ctxd is not what was there before ctxd, and its copy is not worth more than an older one.
	if r.Backup, err = f.save(out, t.modes(), done == Added); err != nil {
		return nil, err
	}
	if done != Removed {
		r.Notes = append(r.Notes, t.Client.notes(out)...)
	}
	return r, nil
}

// modes: files of a person tend to hold tokens, those of a project are for everybody.
func (t *Target) modes() modes {
	if t.Scope == User {
		return modes{0o600, 0o700}
	}
	return modes{0o644, 0o755}
}

func (t *Target) result(file string, c Change) (*Result, error) {
	snippet, err := t.Client.Snippet(t.Entry)
	if err != nil {
		return nil, err
	}
	r := &Result{Client: t.Client.Name, Scope: t.Scope, File: file, Change: c, Changed: c != Unchanged, Snippet: snippet}
	if strings.Contains(filepath.ToSlash(t.Entry.Command), "/go-build") {
		r.Notes = append(r.Notes, "this ctxd is a temporary build that will be gone; install it, and run setup again")
	}
	return r, nil
}

// blame puts the file in front of what is wrong with it, and says that nothing was written.
func (t *Target) blame(err error) error {
	var f *fault.Fault
	switch {
	case !errors.As(err, &f):
		return err
	case f.Reason() == "would_be_expanded":
		return f
	case f.Reason() == "foreign_entry" || f.Reason() == "unsupported_layout":
		return fault.Tool(f.Reason(), "%s is left as it was: %s", t.File, f.Message)
	}
	return fault.Tool(f.Reason(), "%s is no %s that ctxd can edit, and is left as it was: %s; mend that, or edit it by hand with what --print shows",
		t.File, t.Client.Format, f.Message)
}

// notes say what in a document the client may not read.
func (c *Client) notes(doc []byte) []string {
	if c.Format == TOML || c.Format == RelaxedJSON {
		return nil
	}
	text, _ := cutMark(doc)
	t, err := parseJSON(text)
	if err != nil {
		return nil
	}
	comments, commas := t.extras()
	var out []string
	if comments && c.Format == JSON {
		out = append(out, "the file has comments, and "+c.Title+" does not promise to read them")
	}
	if commas {
		out = append(out, "the file has commas before closing brackets, and "+c.Title+" does not promise to read them")
	}
	return out
}
