package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
)

func TestFrom(t *testing.T) {
	t.Parallel()
	inner := New(catalog.NotFound, "no event %d", 7)
	for _, c := range []struct {
		err  error
		want catalog.ErrorCode
	}{
		{inner, catalog.NotFound},
		{fmt.Errorf("reading: %w", inner), catalog.NotFound},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), catalog.RequestTimeout},
		{context.Canceled, catalog.RequestCanceled},
		{io.ErrUnexpectedEOF, catalog.Internal},
	} {
		if got := From(c.err); got.Code != c.want {
			t.Errorf("From(%v) = %s, want %s", c.err, got.Code, c.want)
		}
	}
	if From(nil) != nil {
		t.Error("From(nil) is not nil")
	}
}

// What we did not mean to tell is not told.
func TestUnknownErrorsKeepTheirText(t *testing.T) {
	t.Parallel()
	f := From(errors.New("dsn=secret"))
	if strings.Contains(f.Message, "secret") {
		t.Errorf("the message leaks: %s", f.Message)
	}
	if !strings.Contains(errors.Unwrap(f).Error(), "secret") {
		t.Error("the cause is lost for the log")
	}
}

func TestCauseIsWrapped(t *testing.T) {
	t.Parallel()
	if err := New(catalog.InvalidRequest, "body: %w", io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause cannot be found")
	}
	inner := New(catalog.NotFound, "no such thing")
	if err := New(catalog.InvalidRequest, "asked: %w", inner); err.Message != "asked: no such thing" || !errors.Is(err, inner) || !Is(err, catalog.InvalidRequest) {
		t.Errorf("%q", err.Message)
	}
	if got := Tool("no_such_file", "x").Reason(); got != "no_such_file" {
		t.Errorf("reason %q", got)
	}
}

func TestRowOfEveryCode(t *testing.T) {
	t.Parallel()
	for _, r := range catalog.Errors {
		if got := New(r.Code, "x").Row(); got != r {
			t.Errorf("%s: %v", r.Code, got)
		}
	}
	if got := New("made.up", "x").Row().Code; got != catalog.Internal {
		t.Errorf("an unknown code is %s", got)
	}
}
