package workspace

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Names of encodings.
const (
	UTF8        = "utf-8"
	UTF8BOM     = "utf-8-bom"
	UTF16LE     = "utf-16le"
	UTF16BE     = "utf-16be"
	Windows1252 = "windows-1252"
)

// Text is a decoded file.
type Text struct {
	Content  string // valid UTF-8 without a BOM; line ends as they were
	Encoding string // one of the names above
	Lossless bool   // Encode gives the same bytes back
}

const (
	bom8  = "\xef\xbb\xbf"
	bomLE = "\xff\xfe"
	bomBE = "\xfe\xff"
)

// Decode makes text of bytes; false where they are no text. UTF-16 is known by its BOM. Bytes that are not UTF-8 are
// Windows-1252, unless most of what is not ASCII is good UTF-8: then only the bad bytes become U+FFFD, and the text is lossy.
func Decode(b []byte) (Text, bool) {
	enc := sniff(b)
	if isBinary(b, enc) {
		return Text{}, false
	}
	switch enc {
	case UTF16LE, UTF16BE:
		return decode16(b[2:], enc), true
	case Windows1252:
		return Text{Content: decode1252(b), Encoding: enc, Lossless: true}, true
	case UTF8BOM:
		return decode8(b[len(bom8):], enc), true
	default:
		return decode8(b, enc), true
	}
}

// IsPlain says whether Decode would give the very bytes, but for a BOM of UTF-8 at their beginning: looking into them then
// needs no copy.
func IsPlain(b []byte) bool {
	return !bytes.HasPrefix(b, []byte(bomLE)) && !bytes.HasPrefix(b, []byte(bomBE)) && bytes.IndexByte(b[:min(len(b), 8000)], 0) < 0 && utf8.Valid(b)
}

// Encode is the way back. False where the encoding cannot hold the content, or is unknown.
func Encode(content, encoding string) ([]byte, bool) {
	switch encoding {
	case UTF8:
		return []byte(content), utf8.ValidString(content)
	case UTF8BOM:
		return append([]byte(bom8), content...), utf8.ValidString(content)
	case UTF16LE:
		return encode16([]byte(bomLE), binary.LittleEndian, content), utf8.ValidString(content)
	case UTF16BE:
		return encode16([]byte(bomBE), binary.BigEndian, content), utf8.ValidString(content)
	case Windows1252:
		return encode1252(content)
	default:
		return nil, false
	}
}

func sniff(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte(bom8)):
		return UTF8BOM
	case bytes.HasPrefix(b, []byte(bomLE)):
		return UTF16LE
	case bytes.HasPrefix(b, []byte(bomBE)):
		return UTF16BE
	case utf8.Valid(b) || mostlyUTF8(b):
		return UTF8
	default:
		return Windows1252
	}
}

// isBinary finds what is no text: a NUL in the first 8 000 bytes (git's rule); in what would be Windows-1252 a NUL anywhere,
// or more than one control byte in thirty; in UTF-16 a NUL character anywhere, which UTF-32 and pictures have.
func isBinary(b []byte, enc string) bool {
	switch enc {
	case UTF16LE, UTF16BE:
		for i := 2; i+1 < len(b); i += 2 {
			if b[i] == 0 && b[i+1] == 0 {
				return true
			}
		}
		return false
	case Windows1252:
		return bytes.IndexByte(b, 0) >= 0 || controls(b)*30 > len(b)
	default:
		return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0
	}
}

// controls counts bytes that no text in Windows-1252 has: control codes beside tab, line ends, form feed, backspace and escape,
// and the five codes that it leaves free.
func controls(b []byte) (n int) {
	for _, c := range b {
		switch {
		case c == 0x7f, c < 0x20 && !strings.ContainsRune("\t\n\v\f\r\b\x1b", rune(c)):
			n++
		case c == 0x81, c == 0x8d, c == 0x8f, c == 0x90, c == 0x9d:
			n++
		}
	}
	return n
}

// mostlyUTF8 says whether at least four in five of what is not ASCII are whole UTF-8 characters: a log cut in the middle of
// one, a lone surrogate in a JSON file.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		i += n
	}
	return good >= 4*bad
}

func decode8(b []byte, enc string) Text {
	if utf8.Valid(b) {
		return Text{Content: string(b), Encoding: enc, Lossless: true}
	}
	var s strings.Builder
	s.Grow(len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		s.WriteRune(r)
		b = b[n:]
	}
	return Text{Content: s.String(), Encoding: enc}
}

func decode16(b []byte, enc string) Text {
	order := binary.ByteOrder(binary.LittleEndian)
	if enc == UTF16BE {
		order = binary.BigEndian
	}
	lossless := len(b)%2 == 0
	var s strings.Builder
	s.Grow(len(b) / 2)
	for ; len(b) >= 2; b = b[2:] {
		r := rune(order.Uint16(b))
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if len(b) >= 4 {
				low = rune(order.Uint16(b[2:]))
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				lossless = false
			} else {
				b = b[2:]
			}
		}
		s.WriteRune(r)
	}
	if len(b) == 1 {
		s.WriteRune(utf8.RuneError)
	}
	return Text{Content: s.String(), Encoding: enc, Lossless: lossless}
}

func encode16(b []byte, order binary.AppendByteOrder, content string) []byte {
	for _, r := range content {
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			b = order.AppendUint16(order.AppendUint16(b, uint16(hi)), uint16(lo))
			continue
		}
		b = order.AppendUint16(b, uint16(r))
	}
	return b
}

// high holds what Windows-1252 has at 0x80 to 0x9f. The five free codes stand for the control characters of the same number,
// as browsers read them, so that every byte has a way back.
var high = [32]rune{
	0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
	0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
}

func decode1252(b []byte) string {
	var s strings.Builder
	s.Grow(len(b) + len(b)/8)
	for _, c := range b {
		r := rune(c)
		if c >= 0x80 && c < 0xa0 {
			r = high[c-0x80]
		}
		s.WriteRune(r)
	}
	return s.String()
}

func encode1252(content string) ([]byte, bool) {
	b := make([]byte, 0, len(content))
	for _, r := range content {
		switch {
		case r < 0x80, r >= 0xa0 && r <= 0xff:
			b = append(b, byte(r))
		default:
			i := indexHigh(r)
			if i < 0 {
				return nil, false
			}
			b = append(b, byte(0x80+i))
		}
	}
	return b, true
}

func indexHigh(r rune) int {
	for i, h := range high {
		if h == r {
			return i
		}
	}
	return -1
}
