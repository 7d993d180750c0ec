// Package fault is the one vocabulary of errors: a code of the catalogue, a message for the caller, and a cause that stays
// here.
//
// It does not decide how an error looks on the wire (rest and mcpserver do) and does not log. Everything may import it; it
// imports only the catalogue.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
)

// Fault is an error that a caller may see. Its message is sent; its cause never is.
type Fault struct {
	Code       catalog.ErrorCode
	Message    string        // for people: what is wrong and how to mend it
	Details    any           // []Detail, or an object where the code says so; nil for none
	RetryAfter time.Duration // 0 where the caller need not wait

	cause error
}

// Detail is one entry of the details of an answer (schemas/error.schema.json).
type Detail struct {
	Pointer string `json:"pointer,omitempty"` // JSON pointer to the place at fault
	Reason  string `json:"reason,omitempty"`  // kind of fault, for branching below the code
	Message string `json:"message"`
}

// New makes a fault. The format may wrap a cause with %w: errors.Is and errors.As see it, and its text becomes part of the
// message, so wrap only what the caller may read; With keeps a cause that nobody may.
func New(code catalog.ErrorCode, format string, args ...any) *Fault {
	for i, a := range args {
		if f, ok := a.(*Fault); ok {
			args[i] = quoted{f}
		}
	}
	err := fmt.Errorf(format, args...)
	return &Fault{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// quoted is a fault inside the message of another, whose code would only confuse there.
type quoted struct{ *Fault }

func (q quoted) Error() string { return q.Message }
func (q quoted) Unwrap() error { return q.Fault }

// Tool is the fault of a tool that ran and failed. The reason is a word for branching, such as "no_such_file".
func Tool(reason, format string, args ...any) *Fault {
	f := New(catalog.ToolError, format, args...)
	f.Details = []Detail{{Reason: reason, Message: f.Message}}
	return f
}

// With keeps a cause for the log.
func (f *Fault) With(cause error) *Fault {
	f.cause = cause
	return f
}

// WithDetails adds details.
func (f *Fault) WithDetails(details any) *Fault {
	f.Details = details
	return f
}

// After says how long the caller should wait.
func (f *Fault) After(d time.Duration) *Fault {
	f.RetryAfter = d
	return f
}

// Error gives the code and the message.
func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.cause }

// Reason is the reason of the first detail, or "".
func (f *Fault) Reason() string {
	if d, ok := f.Details.([]Detail); ok && len(d) > 0 {
		return d[0].Reason
	}
	return ""
}

// Row is what the catalogue says of the code.
func (f *Fault) Row() catalog.ErrorRow {
	if row, ok := rows[f.Code]; ok {
		return row
	}
	return rows[catalog.Internal]
}

var rows = func() map[catalog.ErrorCode]catalog.ErrorRow {
	m := make(map[catalog.ErrorCode]catalog.ErrorRow, len(catalog.Errors))
	for _, r := range catalog.Errors {
		m[r.Code] = r
	}
	return m
}()

// From gives the fault in an error's chain. An ended context is request_timeout or request_canceled; anything unknown is
// internal, and its text stays here.
func From(err error) *Fault {
	var f *Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return New(catalog.RequestTimeout, "the call took longer than it may").With(err)
	case errors.Is(err, context.Canceled):
		return New(catalog.RequestCanceled, "the caller went away").With(err)
	default:
		return New(catalog.Internal, "the server failed; its log says why").With(err)
	}
}

// Is says whether the chain of err holds a fault of that code.
func Is(err error, code catalog.ErrorCode) bool {
	var f *Fault
	return errors.As(err, &f) && f.Code == code
}
