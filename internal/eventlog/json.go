package eventlog

import (
	"strconv"
	"unicode/utf8"

	"github.com/ctxd/ctxd/gen/catalog"
)

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// JSON is the event as readers of that level see it.
func (e Event) JSON(level Level) []byte { return e.AppendJSON(nil, level) }

// AppendJSON appends the event as readers of that level see it, with the members in the order of the contract and without a
// line end.
func (e Event) AppendJSON(dst []byte, level Level) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, e.ID, 10)
	dst = appendString(appendKey(dst, "workspaceId"), e.Workspace)
	dst = appendString(appendKey(dst, "channelId"), e.Channel)
	dst = appendString(appendKey(dst, "kind"), string(e.Kind))
	dst = appendNullable(dst, "actor", e.Actor)
	dst = append(appendKey(dst, "timestamp"), '"')
	dst = append(e.Time.UTC().AppendFormat(dst, timeLayout), '"')
	dst = strconv.AppendInt(appendKey(dst, "version"), e.Version, 10)
	dst = appendKey(dst, "parentId")
	if e.Parent == nil {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendInt(dst, *e.Parent, 10)
	}
	dst = appendString(appendKey(dst, "consistencyLevel"), consistency(e.Kind))
	return append(level.appendPayload(appendKey(dst, "payload"), e.Payload), '}')
}

// consistency is the contract's level of a kind; a kind that only a newer program knows needs no sync here.
func consistency(kind catalog.EventKind) string {
	if row, ok := kinds[kind]; ok {
		return row.Consistency
	}
	return "local"
}

// appendString appends s as a JSON string. What is no UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0 // s[:done] is written
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if b < 0x20 || b == '"' || b == '\\' {
				dst = append(dst, s[done:i]...)
				switch b {
				case '"', '\\':
					dst = append(dst, '\\', b)
				case '\n':
					dst = append(dst, '\\', 'n')
				default:
					dst = append(dst, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
				}
				done = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[done:i]...), "\uFFFD"...)
			done = i + 1
		}
		i += size
	}
	return append(append(dst, s[done:]...), '"')
}
