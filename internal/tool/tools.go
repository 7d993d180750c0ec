// Package tool implements the built-in tools, one file each. A handler unpacks its input, asks the engine and renders the
// answer twice: as text for a model and as data for a program.
//
// It knows no transport and no scopes: action has judged the call before a handler sees it. app builds it.
package tool

import (
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/memory"
)

// Tools implements the handlers of all built-in tools.
type Tools struct {
	memory *memory.Memory
	reads  *readCache
}

var _ action.Handlers = (*Tools)(nil)

// New makes the tools.
func New(m *memory.Memory) *Tools {
	return &Tools{memory: m, reads: newReadCache(readCacheBytes)}
}
