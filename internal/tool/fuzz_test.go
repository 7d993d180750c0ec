package tool

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// FuzzCursor: a cursor is taken only in the very form in which it was given out, and only by its own query.
func FuzzCursor(f *testing.F) {
	const query = "0123456789abcdef"
	for _, c := range []cursor{{Query: query}, {Query: query, At: 7}, {Query: query, At: 1 << 40, Item: 3, Path: "a/b", Hash: "01234567"}, {Query: "other"}, {Query: query, At: -1}, {Query: query, Path: "\xff"}} {
		f.Add(c.String())
	}
	f.Add("")
	f.Add("!")
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"q":"` + query + `","a":1}{}`)))
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"a":1,"q":"` + query + `"}`)))
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"q":"` + query + `","a":1,"x":1}`)))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(&text, query)
		if err != nil {
			return
		}
		if c.Query != query || c.At < 0 || c.Item < 0 || c.String() != text {
			t.Errorf("%q is taken as %+v", text, c)
		}
		if _, err := parseCursor(&text, query+"x"); err == nil {
			t.Errorf("%q is taken by another query", text)
		}
	})
}

// FuzzLines: what the parser of lines takes, showLines prints in a form that means the same.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"1", "5-10", "100-", "1,2-3,4-", " 7 , 8 ", "0", "-1", "5-4", "1-2-3", "+1", "1,,2", "", ",", "２", "1 - 2", "2147483647", "2147483648", "007", "1_0", "0x1", strings.Repeat("1,", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMode("lines:"+text, nil, nil)
		if err != nil {
			return
		}
		if m.name != "lines" || m.shown != showLines(m.ranges) || len(m.ranges) == 0 || len(m.ranges) > maxRanges {
			t.Fatalf("%q: %+v", text, m)
		}
		for _, r := range m.ranges {
			if r.first < 1 || r.last != 0 && r.last < r.first {
				t.Fatalf("%q: %+v", text, m)
			}
		}
		again, err := parseMode(m.shown, nil, nil)
		if err != nil || again.shown != m.shown || !slices.Equal(again.ranges, m.ranges) {
			t.Fatalf("%q is shown as %q, which is %+v, %v", text, m.shown, again, err)
		}
	})
}
