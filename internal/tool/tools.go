// Package tool implements the built-in tools, one file each. A handler unpacks its input, asks the engine and renders the
// answer twice: as text for a model and as data for a program.
//
// It knows no transport and no scopes: action has judged the call before a handler sees it. app builds it.
package tool

import (
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/memory"
	"github.com/ctxd/ctxd/internal/revision"
)

// Tools implements the handlers of all built-in tools.
type Tools struct {
	memory    *memory.Memory
	git       *revision.Git
	reads     *readCache
	delivered *deliveries
}

var _ action.Handlers = (*Tools)(nil)

// New makes the tools.
func New(m *memory.Memory) *Tools {
	return &Tools{memory: m, git: revision.New(revision.Options{}), reads: newReadCache(readCacheBytes), delivered: newDeliveries(deliveredBytes)}
}
