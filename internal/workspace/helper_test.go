package workspace

import (
	"errors"

	"github.com/ctxd/ctxd/internal/fault"
)

// reasonOf gives the reason of a fault, "" for no error, or the error itself where it is no fault.
func reasonOf(err error) string {
	var f *fault.Fault
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Reason()
	default:
		return err.Error()
	}
}
