package eventlog

import (
	"bytes"
	"encoding/json"
)

// Payloads are taken apart without decoding them: what a reader may see is copied byte for byte.

// members calls f with the key and the raw value of each member of a JSON object, in their order, and says whether raw was an
// object to its end.
func members(raw []byte, f func(key, value []byte)) bool {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return false
	}
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] == '"'; {
		end := skipValue(raw, i)
		colon := skipSpace(raw, end)
		if end < 0 || colon >= len(raw) || raw[colon] != ':' {
			return false
		}
		start := skipSpace(raw, colon+1)
		stop := skipValue(raw, start)
		if stop < 0 {
			return false
		}
		f(unquote(raw[i:end]), raw[start:stop])
		i = skipSpace(raw, stop)
		if i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
			continue
		}
		break
	}
	return i < len(raw) && raw[i] == '}'
}

func skipSpace(raw []byte, i int) int {
	for i >= 0 && i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipValue gives the end of the value that starts at i, -1 when it has none.
func skipValue(raw []byte, i int) int {
	depth := 0
	for i >= 0 && i < len(raw) {
		switch b := raw[i]; {
		case b == '"':
			i = skipString(raw, i)
		case b == '{' || b == '[':
			depth++
			i++
			continue
		case b == '}' || b == ']':
			depth--
			i++
		case depth > 0 && (b == ',' || b == ':' || b == ' ' || b == '\n' || b == '\t' || b == '\r'):
			i++
			continue
		default:
			if i = skipScalar(raw, i); i < 0 {
				return -1
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return -1
}

func skipString(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

func skipScalar(raw []byte, start int) int {
	i := start
	for i < len(raw) && bytes.IndexByte([]byte(",:]}[{\" \n\t\r"), raw[i]) < 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// unquote gives the text of a JSON string.
func unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') >= 0 {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return raw
		}
		return []byte(s)
	}
	return raw[1 : len(raw)-1]
}
