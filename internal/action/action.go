// Package action is the one pipeline that every call runs through, whichever door it came in by: decode once, workspace and
// channel, capability, scope, input schema, deadline, handler, output schema, unit of work, metrics (actions.md, "One order
// for every door").
//
// It leaves to the doors what is theirs: Host, Origin, token and limits before it, and the shape of the answer after it. It
// imports the engine and the generated tool table; rest, mcpserver and cli call it.
package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/eventlog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/memory"
	"github.com/ctxd/ctxd/internal/meter"
	"github.com/ctxd/ctxd/internal/store"
	"github.com/ctxd/ctxd/internal/workspace"
)

// Call is what a handler sees of a call, beside its arguments.
type Call struct {
	ID           string // UUIDv7
	Principal    identity.Principal
	Actor        string // label for people; "" where unnamed
	Workspace    *workspace.Workspace
	Channel      string
	Conversation string // "" where the caller named none
	Unit         *Unit
}

// Place is where the call belongs.
func (c *Call) Place() memory.Place {
	return memory.Place{Workspace: c.Workspace.ID(), Channel: c.Channel}
}

// Handlers is what internal/tool implements.
type Handlers = tool.Handlers[*Call]

// Request is a call as a door has understood it.
type Request struct {
	ID           string // UUIDv7; the pipeline makes one where it is empty
	Principal    identity.Principal
	Tool         string
	Arguments    json.RawMessage // nil or null: none
	Where        Where
	Channel      *string // nil: named nowhere
	Conversation string  // "" where there is none
	Actor        string  // self-given name; a label only
	Client       string  // name of the caller's program; the label where nobody gave one
	Parent       int64   // event that caused the call; 0: none

	decoded map[string]any // Arguments, where ParseRequest has read them already
}

// Where are the workspaces that a request names in different places; nil: not there.
type Where struct{ Body, Header, Query *string }

// Result is a finished call. It is sealed: what is in it has been judged and counted.
type Result struct {
	CallID string
	Text   string // what a model reads, valid UTF-8
	*answer.Sealed
	Meta schema.ResultMeta
}

// Config is what a pipeline is built from.
type Config struct {
	Workspaces *workspace.Set
	Store      *store.Store
	Log        *eventlog.Log
	Memory     *memory.Memory
	Meter      *meter.Meter
	Timeout    time.Duration // 0: none
	Now        func() time.Time
	NewID      func() string
	// Fault hears of faults of ours, with their cause; nil: nobody does.
	Fault func(callID string, err error)
}

// Pipeline runs calls.
type Pipeline struct {
	Config
	tools map[string]*toolEntry
}

// New admits the built-in manifest and binds its handlers: schemas compile, ids and names are unique, every capability has a
// handler.
func New(c Config, h Handlers) (*Pipeline, error) {
	tools, err := admit(tool.Manifest, tool.Specs, tool.Bind(h))
	if err != nil {
		return nil, err
	}
	if c.Fault == nil {
		c.Fault = func(string, error) {}
	}
	return &Pipeline{Config: c, tools: tools}, nil
}

// Call runs one call to its end. Whatever happens, an event says so, unless the call belongs to no workspace. The error is a
// *fault.Fault.
func (p *Pipeline) Call(ctx context.Context, req Request) (*Result, error) {
	if req.ID == "" {
		req.ID = p.NewID()
	}
	r := &run{p: p, req: req, started: p.Now(), call: &Call{ID: req.ID, Principal: req.Principal, Unit: &Unit{}}}
	res, err := r.do(ctx)
	if err == nil {
		return res, nil
	}
	f := fault.From(err)
	if f.Code == catalog.Internal {
		p.Fault(req.ID, err)
	}
	r.fail(f)
	return nil, f
}

// maxName bounds the name of a tool, in characters, as schemas/call.schema.json does: it stands in events.
const maxName = 128

// run is one call on its way.
type run struct {
	p       *Pipeline
	req     Request
	call    *Call
	started time.Time

	entry *toolEntry
	cap   *capabilityEntry
	args  map[string]any // as the caller sent them, without what belongs to the call
}

// do takes the steps in the order of actions.md. A panic in one of them is a fault of ours, not the end of the process: the
// SDK of the MCP door runs calls where nobody else would catch it.
func (r *run) do(ctx context.Context) (res *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, fault.New(catalog.Internal, "the tool failed; the log of the server says why").With(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	if n := utf8.RuneCountInString(r.req.Tool); n < 1 || n > maxName {
		return nil, fault.New(catalog.InvalidRequest, "the name of a tool has 1 to %d characters", maxName)
	}
	bad := r.decode()
	if bad != nil && !fault.Is(bad, catalog.InvalidArguments) {
		return nil, bad
	}
	// Arguments that are no object still belong to a workspace, whose log says that the call failed.
	if err := r.place(); err != nil {
		return nil, err
	}
	if bad != nil {
		return nil, bad
	}
	if err := r.capability(); err != nil {
		return nil, err
	}
	if err := r.scope(); err != nil {
		return nil, err
	}
	input, err := r.input()
	if err != nil {
		return nil, err
	}
	if r.p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.p.Timeout)
		defer cancel()
	}
	if err := r.parent(ctx); err != nil {
		return nil, err
	}
	reply, err := r.handle(ctx, input)
	if err != nil {
		return nil, err
	}
	if res, err = r.settle(ctx, reply); err != nil {
		return nil, err
	}
	r.call.Unit.Settle()
	return res, nil
}

// scope lets through who holds every scope of the capability.
func (r *run) scope() error {
	missing := r.req.Principal.Missing(r.cap.Scopes)
	if len(missing) == 0 {
		return nil
	}
	words := make([]string, len(missing))
	for i, s := range missing {
		words[i] = string(s)
	}
	return fault.New(catalog.ScopeDenied, "%s needs the scope %s, which this token does not hold", r.name(), strings.Join(words, " and "))
}

// name is how the caller knows the capability.
func (r *run) name() string {
	if r.cap.Action != "" {
		return r.cap.Tool + " action=" + r.cap.Action
	}
	return r.cap.Tool
}

// input judges the arguments by the schema of the capability, and completes them with its defaults.
func (r *run) input() ([]byte, error) {
	if details := r.cap.input.Judge(r.args); details != nil {
		return nil, r.invalid(details)
	}
	return r.cap.complete(r.args), nil
}

// parent checks that the event named as the cause exists where the call belongs.
func (r *run) parent(ctx context.Context) error {
	if r.req.Parent == 0 {
		return nil
	}
	chain, err := r.p.Log.Lineage(ctx, r.call.Workspace.ID(), r.req.Parent, 1)
	if err != nil {
		return err
	}
	if len(chain) == 0 {
		return fault.New(catalog.InvalidRequest, "parentEventId: there is no event %d in this workspace", r.req.Parent)
	}
	return nil
}

// handle runs the handler.
func (r *run) handle(ctx context.Context, input []byte) (answer.Reply, error) {
	reply, err := r.cap.handler(ctx, r.call, input)
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return nil, r.invalid([]fault.Detail{{Pointer: "/" + typeErr.Field, Reason: "type", Message: "must be a whole number that fits 64 bits"}})
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // what a handler made of it, nobody waits for
	}
	return reply, err
}
