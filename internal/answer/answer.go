// Package answer holds what a tool gives back: one answer in two renderings, text for a model and data for a program, and
// what it says about itself.
//
// It renders nothing and counts nothing: handlers fill it, the call pipeline seals it. It imports nothing of ours, and
// everything may import it.
package answer

import "sync/atomic"

// Fidelity says how an answer relates to the content that it stands for (tools.md T3).
type Fidelity string

// Fidelities.
const (
	Lossless Fidelity = "lossless" // all of it, as it is
	Partial  Fidelity = "partial"  // a part of it, as it is
	Lossy    Fidelity = "lossy"    // less than it
)

// About is what an answer says of itself.
type About struct {
	Mode      string   // read mode that served; "" elsewhere
	Fidelity  Fidelity // Lossless when empty
	Omitted   string   // what was left out, for people
	Truncated bool     // cut to a token budget
	Next      string   // cursor of the next part
	RawTokens int      // tokens of the content that it stands for; 0: those of the text
	Source    string   // disk | cache | store; where it came from
	Revision  string   // content hash that it is of; "" where there is none
}

// Answer is what a handler returns. Text and Output are two renderings of one answer: each serves alone. An answer may be
// given out again, by the same pointer, as long as nobody changes it.
type Answer[T any] struct {
	Text   string
	Output T
	About
	sealed atomic.Pointer[Sealed]
}

// Sealed is an answer made ready to send: rendered, judged by the output schema and counted once.
type Sealed struct {
	TextJSON    []byte // the text as a JSON string
	Structured  []byte // the output as JSON
	Tokens      int    // of the text
	Structural  int    // tokens of Structured
	ContentHash string // SHA-256 of the text, in hex
}

// Reply is an Answer whose output type is not known.
type Reply interface {
	Parts() (text string, output any, about *About)
	Seal() *Sealed
	SetSeal(*Sealed)
}

// Parts gives what the answer consists of.
func (a *Answer[T]) Parts() (string, any, *About) { return a.Text, &a.Output, &a.About }

// Seal returns what SetSeal was given, or nil.
func (a *Answer[T]) Seal() *Sealed { return a.sealed.Load() }

// SetSeal keeps the rendered form. Two callers that seal the same answer give the same bytes, so that either may win.
func (a *Answer[T]) SetSeal(s *Sealed) { a.sealed.Store(s) }
