package setup

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

// edit puts text into the place of some bytes.
type edit struct {
	from, to int
	text     string
}

// apply makes edits, which are in order and do not overlap.
func apply(text []byte, edits ...edit) []byte {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// byteOrderMark may stand before a document, and is no part of it.
var byteOrderMark = []byte("\ufeff")

func cutMark(doc []byte) (text, mark []byte) {
	if rest, ok := bytes.CutPrefix(doc, byteOrderMark); ok {
		return rest, byteOrderMark
	}
	return doc, nil
}

// lineEnd is how the document ends its lines.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// leadingEnd is the line end that text begins with, or "".
func leadingEnd(text []byte) string {
	for _, end := range []string{"\r\n", "\n"} {
		if bytes.HasPrefix(text, []byte(end)) {
			return end
		}
	}
	return ""
}

// trailingEnd is the line end that text ends with, or "".
func trailingEnd(text []byte) string {
	for _, end := range []string{"\r\n", "\n"} {
		if bytes.HasSuffix(text, []byte(end)) {
			return end
		}
	}
	return ""
}

// indentAt is the space that the line begins with in which at lies.
func indentAt(text []byte, at int) string {
	start := lineStart(text, at)
	n := start
	for n < at && (text[n] == ' ' || text[n] == '\t') {
		n++
	}
	return string(text[start:n])
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineAfter is where the line ends in which at lies, its line end included.
func lineAfter(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// quote writes a string so that both JSON and TOML read it.
func quote(s string) string {
	return strings.ReplaceAll(string(hujson.String(s)), "\x7f", `\u007f`)
}

// scalar writes a value of a field.
func scalar(v any) string {
	list, ok := v.([]string)
	if !ok {
		return quote(v.(string))
	}
	var items []string
	for _, item := range list {
		items = append(items, quote(item))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// readable is the message of a parser, which may quote the file at any length.
func readable(message string) string {
	const most = 160
	if runes := []rune(message); len(runes) > most {
		message = string(runes[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, message)
}
