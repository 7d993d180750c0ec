package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/rest"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/fault"
)

// envelope is every answer that is no success (schemas/error.schema.json).
type envelope struct {
	Error     string            `json:"error"`
	Code      catalog.ErrorCode `json:"error_code"`
	Retryable bool              `json:"retryable"`
	Details   any               `json:"details,omitempty"`
	RequestID string            `json:"request_id,omitempty"`
}

// Fail answers with a fault (http.md X1). The causes of our own faults are logged here, and nowhere else.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	row := f.Row()
	id := of(r.Context()).id
	if f.Code == catalog.Internal || f.Code == catalog.StoreUnavailable {
		s.Logger.Error("request failed", "request_id", id, "code", f.Code, "cause", fmt.Sprint(errors.Unwrap(f)))
	}
	if rec, ok := w.(*recorder); ok && rec.status != 0 {
		return // the answer is on its way; it can only be cut off
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if row.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	w.WriteHeader(row.Status)
	_, _ = w.Write(encode(envelope{f.Message, f.Code, row.Retryable, f.Details, id})) // who has gone cannot be told
}

// encode is JSON without the HTML escapes of the standard encoder.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(`{"error":"the answer cannot be encoded","error_code":"internal"}` + "\n")
	}
	return b.Bytes()
}

// badBody answers a body that the generated code could not decode: what exactly is wrong with it, the one parser of calls
// says.
func (s *Server) badBody(w http.ResponseWriter, r *http.Request, err error) {
	if _, better := action.ParseRequest(of(r.Context()).body); better != nil {
		s.Fail(w, r, better)
		return
	}
	s.Fail(w, r, fault.New(catalog.InvalidRequest, "the body cannot be read").With(err))
}

// badParameter answers a parameter that the generated code could not read.
func (s *Server) badParameter(w http.ResponseWriter, r *http.Request, err error) {
	var (
		format   *rest.InvalidParamFormatError
		required *rest.RequiredParamError
		header   *rest.RequiredHeaderError
		many     *rest.TooManyValuesForParamError
	)
	message := "a parameter cannot be read"
	switch {
	case errors.As(err, &many):
		message = fmt.Sprintf("%s stands %d times", many.ParamName, many.Count)
	case errors.As(err, &format):
		message = fmt.Sprintf("%s is malformed", format.ParamName)
		if strings.Contains(format.Err.Error(), "multiple values") {
			message = fmt.Sprintf("%s stands more than once", format.ParamName)
		}
	case errors.As(err, &required):
		message = fmt.Sprintf("%s is missing", required.ParamName)
	case errors.As(err, &header):
		message = fmt.Sprintf("%s is missing", header.ParamName)
	}
	s.Fail(w, r, fault.New(catalog.InvalidRequest, "%s", message).With(err))
}

// warning is the Warning header of a deprecated route, or "" (http.md R8).
func (s *Server) warning(route catalog.Route) string {
	for _, d := range s.Deprecated {
		if route.ID != "" && d.Surface == "operation "+route.ID {
			return fmt.Sprintf(`299 - "deprecated since %s, removed in %s at the earliest: %s"`, d.Since, d.Removal, strings.ReplaceAll(d.Replacement, `"`, `'`))
		}
	}
	return ""
}
