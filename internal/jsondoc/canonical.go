package jsondoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Canonical writes a decoded document in one way only: members sorted by the bytes of their names, no white space, numbers
// as they were written, and only `"`, `\` and control characters escaped. It is what hashes of arguments and inputs are
// taken of (actions.md, "Idempotency"). Beside what Decode gives it takes int, int64, float64 and []string.
func Canonical(v any) []byte { return AppendCanonical(nil, v) }

// AppendCanonical is Canonical into a buffer.
func AppendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return AppendString(b, v)
	case json.Number:
		return append(b, v...)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case []any:
		return appendArray(b, v)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return appendArray(b, list)
	case map[string]any:
		return appendObject(b, v)
	default:
		// Not part of any decoded document: shown rather than lost.
		return AppendString(b, fmt.Sprintf("%v", v))
	}
}

func appendArray(b []byte, list []any) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendCanonical(b, v)
	}
	return append(b, ']')
}

func appendObject(b []byte, o map[string]any) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, name), ':')
		b = AppendCanonical(b, o[name])
	}
	return append(b, '}')
}

// appendFloat writes the shortest decimal that reads back as the same number, with a point or an exponent.
func appendFloat(b []byte, f float64) []byte {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eIN") {
		s += ".0"
	}
	return append(b, s...)
}

const hexDigits = "0123456789abcdef"

// AppendString writes s, which must be UTF-8, as a JSON string with as few escapes as JSON allows.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}
