package workspace

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, content, encoding string
		lossless              bool
	}{
		{"", "", UTF8, true},
		{"plain\n", "plain\n", UTF8, true},
		{"é日🙂", "é日🙂", UTF8, true},
		{"e\u0301", "e\u0301", UTF8, true}, // NFD stays NFD
		{"a\r\nb\rc\n", "a\r\nb\rc\n", UTF8, true},
		{bom8, "", UTF8BOM, true},
		{bom8 + "x\r\n", "x\r\n", UTF8BOM, true},
		{bom8 + bom8 + "x", "\ufeffx", UTF8BOM, true},
		{bomLE, "", UTF16LE, true},
		{bomLE + "a\x00\r\x00\n\x00", "a\r\n", UTF16LE, true},
		{bomBE + "\x00a\x04\x36", "aж", UTF16BE, true},
		{bomLE + "\x3d\xd8\x42\xde", "🙂", UTF16LE, true},
		{bomBE + "\xd8\x3d\xde\x42", "🙂", UTF16BE, true},
		{bomLE + "\x3d\xd8x\x00", "\ufffdx", UTF16LE, false}, // a high surrogate alone
		{bomLE + "\x42\xdex\x00", "\ufffdx", UTF16LE, false}, // a low one
		{bomLE + "\x3d\xd8", "\ufffd", UTF16LE, false},       // at the end
		{bomLE + "\x3d\xd8\x3d\xd8\x42\xde", "\ufffd🙂", UTF16LE, false},
		{bomLE + "a\x00b", "a\ufffd", UTF16LE, false}, // half a character
		{bomLE + "\xfd\xff", "\ufffd", UTF16LE, true}, // U+FFFD itself
		{"caf\xe9 \x80 \x93x\x94", "café € “x”", Windows1252, true},
		{"\x81\x8d", "", "", false}, // only codes that Windows-1252 leaves free
		{strings.Repeat("text ", 20) + "\x81", strings.Repeat("text ", 20) + "\u0081", Windows1252, true},
		{"x\xed\xa0\x80y", "xí\u00a0€y", Windows1252, true}, // a lone surrogate in UTF-8, nothing else beside it
		{strings.Repeat("é", 20) + "\xed\xa0\x80", strings.Repeat("é", 20) + "\ufffd\ufffd\ufffd", UTF8, false},
		{strings.Repeat("ж", 9) + "\xd0", strings.Repeat("ж", 9) + "\ufffd", UTF8, false}, // cut in the middle of a character
		{bom8 + "a\xff", "a\ufffd", UTF8BOM, false},
		{strings.Repeat("x", 8000) + "\x00", strings.Repeat("x", 8000) + "\x00", UTF8, true}, // git calls that text too
		{"a\x00b", "", "", false},
		{bom8 + "a\x00b", "", "", false},
		{bomLE + "\x00\x00a\x00", "", "", false}, // UTF-32
		{"\x00\x00\xfe\xff\x00\x00\x00a", "", "", false},
		{"\x89PNG\r\n\x1a\n\x01\x02\x03\x04", "", "", false},
		{"a\x00", "", "", false}, // UTF-16 without a BOM
	} {
		got, ok := Decode([]byte(c.in))
		if ok != (c.encoding != "") || got != (Text{c.content, c.encoding, c.lossless}) {
			t.Errorf("%.40q: %.60q %s %v, %v", c.in, got.Content, got.Encoding, got.Lossless, ok)
		}
	}
}

// checkText holds for every text: valid UTF-8, and the way back where that is promised.
func checkText(t interface{ Errorf(string, ...any) }, b []byte) {
	got, ok := Decode(b)
	if !ok {
		return
	}
	if !utf8.ValidString(got.Content) {
		t.Errorf("%q: the content is no UTF-8", b)
	}
	back, can := Encode(got.Content, got.Encoding)
	if same := can && bytes.Equal(back, b); got.Lossless != same {
		t.Errorf("%q: lossless %v, and back it is %q", b, got.Lossless, back)
	}
	if ascii := !bytes.ContainsFunc(b, func(r rune) bool { return r >= 0x80 || r == 0 }); ascii && got.Content != string(b) {
		t.Errorf("%q: ASCII is not left alone", b)
	}
	checkLines(t, got.Content)
}

// checkLines holds that lines are the content, cut where a line ends and nowhere else.
func checkLines(t interface{ Errorf(string, ...any) }, content string) {
	n, at := 0, 0
	for l := range Lines(content) {
		n++
		if l.Number != n || l.Start != at || content[at:at+len(l.Text)+len(l.End)] != l.Text+l.End {
			t.Errorf("%q: line %+v", content, l)
		}
		at += len(l.Text) + len(l.End)
		if strings.ContainsAny(l.Text, "\r\n") || l.End == "" && at != len(content) || l.End == "\r" && strings.HasPrefix(content[at:], "\n") {
			t.Errorf("%q: line %+v is cut wrong", content, l)
		}
	}
	if at != len(content) || n != CountLines(content) {
		t.Errorf("%q: %d lines up to %d, counted %d", content, n, at, CountLines(content))
	}
}

func TestTextProperties(t *testing.T) {
	t.Parallel()
	bits := rapid.SampledFrom([]string{
		bom8, bomLE, bomBE, "a", "é", "日", "🙂", "\r", "\n", "\r\n", "\x00", "\xff", "\x81", "\xe9", "\xd8\x3d", "\x42\xde", "\xed\xa0\x80", "\x1b", " ", "\u2028",
	})
	rapid.Check(t, func(t *rapid.T) {
		checkText(t, []byte(strings.Join(rapid.SliceOfN(bits, 0, 30).Draw(t, "bits"), "")))
		checkText(t, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	})
}

// Every encoding gives back what it can hold.
func TestEncode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab é€ж🙂\n\r\u0081"))).Draw(t, "s")
		for _, enc := range []string{UTF8, UTF8BOM, UTF16LE, UTF16BE, Windows1252} {
			b, ok := Encode(s, enc)
			if !ok {
				if enc != Windows1252 || !strings.ContainsAny(s, "ж🙂") {
					t.Fatalf("%s cannot hold %q", enc, s)
				}
				continue
			}
			got, isText := Decode(b)
			if enc != Windows1252 && (!isText || got != Text{s, enc, true}) {
				t.Fatalf("%s: %q, %+v", enc, s, got)
			}
		}
	})
	for _, enc := range []string{UTF8, UTF16LE, "latin-9", ""} {
		if _, ok := Encode("\xff", enc); ok {
			t.Errorf("%q takes bytes that are no text", enc)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"": "", "a": "a|", "a\n": "a|\n", "\n": "|\n", "\r": "|\r", "\r\n": "|\r\n", "\n\r": "|\n |\r", "\r\r\n": "|\r |\r\n", "a\rb\nc\r\nd": "a|\r b|\n c|\r\n d|",
		"a\u2028b\vc\fd": "a\u2028b\vc\fd|", "\n\n": "|\n |\n",
	} {
		var got []string
		for l := range Lines(content) {
			got = append(got, l.Text+"|"+l.End)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q", content, got)
		}
	}
	for l := range Lines("a\nb") {
		if l.Number == 1 {
			break // a caller may stop
		}
	}
}

// Case 12: ten megabytes in one line, or a million lines of one byte, are read through once.
func TestLinesOfBigTexts(t *testing.T) {
	t.Parallel()
	const size, many = 10 << 20, 1 << 20
	for name, s := range map[string]string{
		"one line": strings.Repeat("x", size), "CR only": strings.Repeat("\r", many), "LF only": strings.Repeat("\n", many), "one CR late": strings.Repeat("\n", many) + "\r",
	} {
		n := 0
		for range Lines(s) {
			n++
		}
		if n != CountLines(s) {
			t.Errorf("%s: %d lines, counted %d", name, n, CountLines(s))
		}
		if got, ok := Decode([]byte(s)); !ok || got.Content != s {
			t.Errorf("%s: decoded wrong", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", bom8 + "a", bomLE + "a\x00", bomBE + "\xd8\x3d", "caf\xe9", "a\r\nb\rc", "\xed\xa0\x80"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkText(t, b) })
}
