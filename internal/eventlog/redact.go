package eventlog

// Level is how much of a payload a reader sees (E8, and the contract's section Redaction).
type Level int

// Levels. The zero value shows the least.
const (
	RefsOnly Level = iota // which tool and kind
	Summary               // everything but content and arguments
	Full                  // as stored; needs the scope audit
)

// String is the name on the wire.
func (l Level) String() string {
	switch l {
	case Full:
		return "full"
	case Summary:
		return "summary"
	default:
		return "refs_only"
	}
}

// ParseLevel is the level of that name on the wire.
func ParseLevel(s string) (level Level, ok bool) {
	for l := RefsOnly; l <= Full; l++ {
		if l.String() == s {
			return l, true
		}
	}
	return RefsOnly, false
}

// isRef says whether a member of the payload is shown at refs_only.
func isRef(key string) bool {
	switch key {
	case "tool", "kind", "event_kind", "workspace_id", "channel_id", "id":
		return true
	}
	return false
}

// isSensitive says whether the value of a member is hidden at summary.
func isSensitive(key string) bool {
	switch key {
	case "content", "file_content", "result", "output", "session_data", "knowledge_value", "arguments":
		return true
	}
	return false
}

// appendPayload appends what the level shows. A payload that cannot be read shows nothing below full.
func (l Level) appendPayload(dst, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, '{')
	var ok bool
	switch l {
	case Full:
		return append(dst[:start], payload...)
	case Summary:
		ok = members(payload, func(key, value []byte) {
			if isSensitive(string(key)) {
				value = []byte(`"[redacted]"`)
			}
			dst = appendRaw(dst, key, value)
		})
	default:
		ok = members(payload, func(key, value []byte) {
			if isRef(string(key)) {
				dst = appendRaw(dst, key, value)
			}
		})
		dst = append(appendKey(dst, "redacted"), "true"...)
	}
	if !ok {
		return append(dst[:start], `{"redacted":true}`...)
	}
	return append(dst, '}')
}

func appendRaw(dst, key, value []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(appendString(dst, string(key)), ':')
	return append(dst, value...)
}
