package action

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
	"github.com/ctxd/ctxd/internal/token"
)

// seal renders an answer, judges it by the output schema and counts it; once, however often it is given out.
func (r *run) seal(ctx context.Context, reply answer.Reply) (*Result, error) {
	text, output, about := reply.Parts()
	text = strings.ToValidUTF8(text, "\uFFFD")
	sealed := reply.Seal()
	if sealed == nil {
		var err error
		if sealed, err = r.render(ctx, text, output); err != nil {
			return nil, err
		}
		reply.SetSeal(sealed)
	}
	return &Result{CallID: r.call.ID, Text: text, Sealed: sealed, Meta: r.meta(sealed, about)}, nil
}

func (r *run) render(ctx context.Context, text string, output any) (*answer.Sealed, error) {
	structured, err := encode(output)
	if err != nil {
		return nil, fmt.Errorf("action: encoding the output of %s: %w", r.cap.ID, err)
	}
	v, err := jsondoc.Decode(structured)
	if err != nil {
		return nil, fmt.Errorf("action: the output of %s: %w", r.cap.ID, err)
	}
	if details := r.cap.output.Judge(v); details != nil {
		return nil, fault.New(catalog.Internal, "the tool gave an answer that breaks its own contract").
			With(fmt.Errorf("action: the output of %s: %s", r.cap.ID, told(details)))
	}
	s := &answer.Sealed{TextJSON: jsondoc.AppendString(nil, text), Structured: structured}
	if s.Tokens, err = token.Count(ctx, text); err != nil {
		return nil, err
	}
	if s.Structural, err = token.Count(ctx, string(structured)); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	s.ContentHash = hex.EncodeToString(sum[:])
	return s, nil
}

// encode is JSON without the HTML escapes of the standard encoder, which would only cost tokens.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func (r *run) meta(s *answer.Sealed, about *answer.About) schema.ResultMeta {
	m := schema.ResultMeta{
		CallID: r.call.ID, Tokens: s.Tokens, TokensStructured: s.Structural, TokensRaw: about.RawTokens,
		Fidelity: string(about.Fidelity), Truncated: about.Truncated, Encoding: token.Encoding,
		Mode: some(about.Mode), Omitted: some(about.Omitted), Next: some(about.Next),
	}
	if m.TokensRaw == 0 {
		m.TokensRaw = s.Tokens
	}
	if m.Fidelity == "" {
		m.Fidelity = string(answer.Lossless)
	}
	if about.Source != "" {
		m.Freshness = &schema.Freshness{Source: about.Source, Revision: some(about.Revision)}
	}
	return m
}

// some is a pointer to a string that is not empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
