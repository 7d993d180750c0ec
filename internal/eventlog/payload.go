package eventlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/secret"
)

// MaxArguments is how many bytes of arguments an event keeps; of longer ones it keeps the hash (E4).
const MaxArguments = 4 << 10

// Payload is what an event says beside who, when and what kind. It never holds content, only its hash and size. Empty members
// are left out, except Action and Reasoning, which are null.
type Payload struct {
	Tool          string
	Action        *string
	Path          string
	Category      string
	Key           string
	Reasoning     *string // the task that the channel was working on
	Outcome       string  // ok | error | denied | timeout
	ErrorCode     string
	CallID        string // UUIDv7 of the call
	Capability    string
	Arguments     json.RawMessage // canonical
	ArgumentsHash string          // SHA-256 in hex; filled in for arguments over MaxArguments
	ContentHash   string          // SHA-256 in hex of the text that was sent
	Tokens        *int            // of the text that was sent
}

// masked has a marker in the place of every secret.
func (p Payload) masked() Payload {
	p.Action, p.Reasoning = masked(p.Action), masked(p.Reasoning)
	p.Path, p.Category, p.Key = secret.Mask(p.Path), secret.Mask(p.Category), secret.Mask(p.Key)
	if len(p.Arguments) > 0 && len(p.Arguments) <= MaxArguments {
		p.Arguments = secret.MaskJSON(p.Arguments)
	}
	return p
}

func masked(text *string) *string {
	if text == nil {
		return nil
	}
	out := secret.Mask(*text)
	return &out
}

// encode writes the members in the order of schemas/event.schema.json.
func (p Payload) encode() ([]byte, error) {
	dst := make([]byte, 0, 448+len(p.Arguments))
	dst = append(dst, '{')
	dst = appendMember(dst, "tool", p.Tool)
	dst = appendNullable(dst, "action", p.Action)
	dst = appendMember(dst, "path", p.Path)
	dst = appendMember(dst, "category", p.Category)
	dst = appendMember(dst, "key", p.Key)
	dst = appendNullable(dst, "reasoning", p.Reasoning)
	dst = appendMember(dst, "outcome", p.Outcome)
	dst = appendMember(dst, "error_code", p.ErrorCode)
	dst = appendMember(dst, "callId", p.CallID)
	dst = appendMember(dst, "capability", p.Capability)
	dst, err := p.appendArguments(dst)
	if err != nil {
		return nil, err
	}
	dst = appendMember(dst, "contentHash", p.ContentHash)
	if p.Tokens != nil {
		dst = strconv.AppendInt(appendKey(dst, "tokens"), int64(*p.Tokens), 10)
	}
	return append(dst, '}'), nil
}

func (p Payload) appendArguments(dst []byte) ([]byte, error) {
	hash := p.ArgumentsHash
	switch {
	case len(p.Arguments) > MaxArguments:
		if hash == "" {
			sum := sha256.Sum256(p.Arguments)
			hash = hex.EncodeToString(sum[:])
		}
	case len(p.Arguments) > 0:
		// Compacting proves that they are JSON, and keeps line ends out of the event stream.
		arguments := p.Arguments
		if !utf8.Valid(arguments) {
			arguments = bytes.ToValidUTF8(arguments, []byte("\uFFFD"))
		}
		buf := bytes.NewBuffer(appendKey(dst, "arguments"))
		if err := json.Compact(buf, arguments); err != nil {
			return nil, fault.New(catalog.Internal, "the arguments of an event are no JSON").With(err)
		}
		dst = buf.Bytes()
	}
	return appendMember(dst, "argumentsHash", hash), nil
}

func appendMember(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendString(appendKey(dst, key), value)
}

func appendNullable(dst []byte, key string, value *string) []byte {
	if value == nil {
		return append(appendKey(dst, key), "null"...)
	}
	return appendString(appendKey(dst, key), *value)
}

// appendKey adds a comma where one is needed, and a key that needs no escapes.
func appendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}
