package tool

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// cursor is where the next part of an answer begins. It names the query that it belongs to, so that it means nothing to
// another one, nor in another workspace; to a caller it is opaque.
type cursor struct {
	Query string `json:"q"`           // queryID
	At    int    `json:"a"`           // part at which to go on
	Item  int    `json:"i,omitempty"` // item of a list in which At lies
	Path  string `json:"p,omitempty"` // file in which At lies
	Hash  string `json:"h,omitempty"` // content that At is a place in
	Mode  string `json:"m,omitempty"` // read mode that At is a place in; "": the one that was asked for
}

// maxCursor bounds a cursor, in characters.
const maxCursor = 4096

func (c cursor) String() string {
	raw, err := json.Marshal(c)
	if err != nil {
		return "" // a struct of strings and numbers always encodes
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseCursor reads a cursor for a query. Fault reasons: bad_cursor.
func parseCursor(text *string, query string) (cursor, error) {
	if text == nil {
		return cursor{Query: query}, nil
	}
	bad := fault.Tool("bad_cursor", "this cursor belongs to no such query; ask again without one")
	if len(*text) > maxCursor {
		return cursor{}, bad
	}
	raw, err := base64.RawURLEncoding.DecodeString(*text)
	if err != nil {
		return cursor{}, bad
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	var c cursor
	if err := d.Decode(&c); err != nil || c.Query != query || c.At < 0 || c.Item < 0 || c.String() != *text {
		return cursor{}, bad
	}
	return c, nil
}

// readCursor reads a cursor of ours.
func readCursor(text string) (c cursor) {
	if raw, err := base64.RawURLEncoding.DecodeString(text); err != nil || json.Unmarshal(raw, &c) != nil {
		return cursor{} // the beginning: nothing was handed out
	}
	return c
}

// queryID names a query: the tool, the workspace and whatever of the arguments decides what the answer holds.
func queryID(tool, workspace string, args ...any) string {
	sum := sha256.Sum256(jsondoc.Canonical(append([]any{tool, workspace}, args...)))
	return hex.EncodeToString(sum[:8])
}

// more is the line of a text that says how to go on.
func more(what, next string) string { return "[" + what + "; cursor=" + next + "]" }
