// Package jsondoc decodes JSON once and strictly, and writes it canonically, so that every layer judges the same document.
//
// The standard decoder takes the last of two members of one name, replaces broken UTF-8 and stops before trailing bytes:
// each lets two readers of one body see two things. This one refuses all three. It knows nothing of schemas. Everything
// may import it.
package jsondoc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth bounds how deep arrays and objects may lie in each other.
const MaxDepth = 128

// SyntaxError says what is wrong with a document, and where.
type SyntaxError struct {
	Offset  int    // byte
	In      string // JSON pointer of the value in which it is wrong, the beginning of a long one; "" for the document
	Message string
}

func (e *SyntaxError) Error() string {
	if e.In != "" {
		return fmt.Sprintf("%s in %s at byte %d", e.Message, e.In, e.Offset)
	}
	return fmt.Sprintf("%s at byte %d", e.Message, e.Offset)
}

// maxIn bounds SyntaxError.In, in bytes.
const maxIn = 100

// inside says that an error lies in a member or an element. The outermost names are what a caller knows: they are kept.
func inside(err error, name string) error {
	var e *SyntaxError
	if !errors.As(err, &e) {
		return err
	}
	e.In = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name[:min(len(name), maxIn)]) + e.In
	if len(e.In) > maxIn {
		e.In = strings.ToValidUTF8(e.In[:maxIn], "") + "…"
	}
	return e
}

// Decode reads one JSON value (RFC 8259). Objects are map[string]any, arrays []any, numbers json.Number as they were
// written, strings valid UTF-8. It refuses, with a *SyntaxError: broken syntax, two members of one name in an object, broken
// UTF-8, half surrogates, numbers beyond a double, more than MaxDepth levels, and anything but white space after the
// value.
func Decode(data []byte) (any, error) {
	d := decoder{data: data}
	d.space()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.data) {
		return nil, d.fail("there is something after the value")
	}
	return v, nil
}

// DecodeObject is Decode for a document whose root must be an object.
func DecodeObject(data []byte) (map[string]any, error) {
	v, err := Decode(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, &SyntaxError{Message: "the value is no object"}
	}
	return o, nil
}

type decoder struct {
	data []byte
	pos  int
}

func (d *decoder) fail(format string, args ...any) error {
	return &SyntaxError{Offset: d.pos, Message: fmt.Sprintf(format, args...)}
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// peek is the next byte, or 0 at the end: a NUL byte is not legal anywhere outside of strings.
func (d *decoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *decoder) value(depth int) (any, error) {
	if depth > MaxDepth {
		return nil, d.fail("the document is deeper than %d levels", MaxDepth)
	}
	switch c := d.peek(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		return d.str()
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case d.pos >= len(d.data):
		return nil, d.fail("the document ends early")
	default:
		return d.word()
	}
}

func (d *decoder) word() (any, error) {
	for _, w := range []struct {
		text  string
		value any
	}{{"true", true}, {"false", false}, {"null", nil}} {
		if len(d.data)-d.pos >= len(w.text) && string(d.data[d.pos:d.pos+len(w.text)]) == w.text {
			d.pos += len(w.text)
			return w.value, nil
		}
	}
	return nil, d.fail("no JSON value begins with %q", d.peek())
}

func (d *decoder) object(depth int) (any, error) {
	d.pos++
	o := map[string]any{}
	for d.space(); d.peek() != '}'; d.space() {
		if len(o) > 0 {
			if d.peek() != ',' {
				return nil, d.fail("a comma or the end of the object is missing")
			}
			d.pos++
			d.space()
		}
		if err := d.member(o, depth); err != nil {
			return nil, err
		}
	}
	d.pos++
	return o, nil
}

func (d *decoder) member(o map[string]any, depth int) error {
	if d.peek() != '"' {
		return d.fail("the name of a member is missing")
	}
	start := d.pos
	name, err := d.str()
	if err != nil {
		return err
	}
	if _, twice := o[name]; twice {
		d.pos = start
		return d.fail("the member %q stands twice", name)
	}
	if d.space(); d.peek() != ':' {
		return d.fail("a colon is missing")
	}
	d.pos++
	d.space()
	v, err := d.value(depth + 1)
	if err != nil {
		return inside(err, name)
	}
	o[name] = v
	return nil
}

func (d *decoder) array(depth int) (any, error) {
	d.pos++
	list := []any{}
	for d.space(); d.peek() != ']'; d.space() {
		if len(list) > 0 {
			if d.peek() != ',' {
				return nil, d.fail("a comma or the end of the array is missing")
			}
			d.pos++
			d.space()
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, inside(err, strconv.Itoa(len(list)))
		}
		list = append(list, v)
	}
	d.pos++
	return list, nil
}

// Bounds of a number, beside that a double must hold it (readers that decode into doubles would fail where others do not):
// exact arithmetic on 1e-1000000 would take its reader a tenth of a second for a few bytes.
const (
	maxNumber   = 400 // characters
	maxExponent = 400
)

// number keeps the digits as they were written.
func (d *decoder) number() (any, error) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	switch c := d.peek(); {
	case c == '0':
		d.pos++
	case '1' <= c && c <= '9':
		d.digits()
	default:
		return nil, d.fail("a number has no digits")
	}
	if d.peek() == '.' {
		d.pos++
		if d.digits() == 0 {
			return nil, d.fail("a number has no digits after the point")
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		from := d.pos
		if d.digits() == 0 {
			return nil, d.fail("a number has no digits in its exponent")
		}
		if n, err := strconv.Atoi(string(d.data[from:d.pos])); err != nil || n > maxExponent {
			return nil, d.fail("the exponent of a number is over %d", maxExponent)
		}
	}
	text := string(d.data[start:d.pos])
	if len(text) > maxNumber {
		return nil, d.fail("a number has more than %d characters", maxNumber)
	}
	if n, err := strconv.ParseFloat(text, 64); err != nil && math.IsInf(n, 0) {
		return nil, d.fail("a number is beyond what a double holds")
	}
	return json.Number(text), nil
}

func (d *decoder) digits() int {
	start := d.pos
	for '0' <= d.peek() && d.peek() <= '9' {
		d.pos++
	}
	return d.pos - start
}

func (d *decoder) str() (string, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			s := string(d.data[start:d.pos])
			d.pos++
			return s, nil
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return "", d.fail("a control character stands in a string")
		case c < utf8.RuneSelf:
			d.pos++
		default:
			if err := d.rune(); err != nil {
				return "", err
			}
		}
	}
	return "", d.fail("a string does not end")
}

// rune passes over one character beyond ASCII.
func (d *decoder) rune() error {
	r, size := utf8.DecodeRune(d.data[d.pos:])
	if r == utf8.RuneError && size <= 1 {
		return d.fail("the text is not UTF-8")
	}
	d.pos += size
	return nil
}

// escaped reads the rest of a string that holds an escape, from its first one.
func (d *decoder) escaped(start int) (string, error) {
	buf := append([]byte(nil), d.data[start:d.pos]...)
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			d.pos++
			return string(buf), nil
		case c == '\\':
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
		case c < ' ':
			return "", d.fail("a control character stands in a string")
		default:
			from := d.pos
			if err := d.rune(); err != nil {
				return "", err
			}
			buf = append(buf, d.data[from:d.pos]...)
		}
	}
	return "", d.fail("a string does not end")
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (d *decoder) escape() (rune, error) {
	d.pos++
	c := d.peek()
	if r, ok := escapes[c]; ok {
		d.pos++
		return r, nil
	}
	if c != 'u' {
		return 0, d.fail("an escape is unknown")
	}
	r, err := d.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if d.peek() != '\\' || d.pos+1 >= len(d.data) || d.data[d.pos+1] != 'u' {
		return 0, d.fail("half of a surrogate pair stands alone")
	}
	d.pos++
	low, err := d.hex()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, d.fail("half of a surrogate pair stands alone")
	}
	return r, nil
}

// hex reads uXXXX.
func (d *decoder) hex() (rune, error) {
	if len(d.data)-d.pos < 5 {
		return 0, d.fail("an escape ends early")
	}
	n, err := strconv.ParseUint(string(d.data[d.pos+1:d.pos+5]), 16, 32)
	if err != nil {
		return 0, d.fail("an escape has no four hexadecimal digits")
	}
	d.pos += 5
	return rune(n), nil
}
