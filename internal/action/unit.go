package action

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/eventlog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
	"github.com/ctxd/ctxd/internal/meter"
	"github.com/ctxd/ctxd/internal/store"
)

// maxArguments is how many bytes of canonical arguments an event carries; longer ones leave their hash (http.md E4).
const maxArguments = 4 << 10

// Unit is the unit of work of a call (http.md E1): what it changes, its events and its answer commit together or not at all.
type Unit struct {
	changes []Change
	settled []func()
}

// Change changes the store, and may still fill in the answer that the handler returned. It says which event tells of it.
type Change func(tx *store.Tx) (Effect, error)

// Effect is what a secondary event tells.
type Effect struct {
	Kind                catalog.EventKind
	Path, Category, Key string
}

// Change adds a change. It runs after the handler has returned, in one transaction with the events of the call.
func (u *Unit) Change(c Change) { u.changes = append(u.changes, c) }

// Settled adds what is to be done once the call has succeeded and its answer goes out.
func (u *Unit) Settled(f func()) { u.settled = append(u.settled, f) }

// Settle does what was added. The pipeline calls it.
func (u *Unit) Settle() {
	for _, f := range u.settled {
		f()
	}
	u.settled = nil
}

// settle seals the answer and commits the call. A call that changed something waits until that is durable; one that changed
// nothing leaves its event to the writer (http.md E2).
func (r *run) settle(ctx context.Context, reply answer.Reply) (*Result, error) {
	if len(r.call.Unit.changes) == 0 {
		res, err := r.seal(ctx, reply)
		if err != nil {
			return nil, err
		}
		done := r.finished("ok", res)
		if err := r.p.Store.Queue(func(tx *store.Tx) error { return r.record(tx, done, nil) }); err != nil {
			return nil, err
		}
		r.measure(done)
		return res, nil
	}
	var res *Result
	var done finished
	err := r.p.Store.Write(ctx, func(tx *store.Tx) (err error) {
		res, done, err = r.commit(ctx, tx, reply)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.measure(done)
	return res, nil
}

// commit runs in the writer's transaction.
func (r *run) commit(ctx context.Context, tx *store.Tx, reply answer.Reply) (*Result, finished, error) {
	var effects []Effect
	for _, change := range r.call.Unit.changes {
		e, err := change(tx)
		if err != nil {
			return nil, finished{}, err
		}
		effects = append(effects, e)
	}
	res, err := r.seal(ctx, reply)
	if err != nil {
		return nil, finished{}, err
	}
	done := r.finished("ok", res)
	return res, done, r.record(tx, done, effects)
}

// finished is how a call ended.
type finished struct {
	outcome string
	code    catalog.ErrorCode
	took    time.Duration
	res     *Result // nil when it failed
}

func (r *run) finished(outcome string, res *Result) finished {
	return finished{outcome: outcome, took: r.p.Now().Sub(r.started), res: res}
}

// fail records a call that did not succeed, as far as it got. A store that cannot take the event must not hide the fault.
func (r *run) fail(f *fault.Fault) {
	outcome := "error"
	switch f.Code {
	case catalog.ScopeDenied:
		outcome = "denied"
	case catalog.RequestTimeout:
		outcome = "timeout"
	}
	done := r.finished(outcome, nil)
	done.code = f.Code
	r.measure(done)
	if r.call.Workspace == nil {
		return // an event without a workspace would be delivered to nobody
	}
	err := r.p.Store.Queue(func(tx *store.Tx) error { return r.record(tx, done, nil) })
	if err != nil && !errors.Is(err, f) {
		r.p.Fault(r.call.ID, err)
	}
}

// measure counts the call. Names that callers made up are counted as one.
func (r *run) measure(done finished) {
	c := meter.Call{Tool: "unknown", Outcome: done.outcome, Duration: done.took}
	if r.entry != nil {
		c.Tool = r.entry.spec.Name
	}
	if done.res != nil {
		c.Sent, c.Raw = done.res.Meta.Tokens, done.res.Meta.TokensRaw
		if done.res.Meta.Mode != nil {
			c.Mode = *done.res.Meta.Mode
		}
	}
	if r.cap != nil {
		for _, s := range r.cap.Scopes {
			c.Indexed = c.Indexed || s == catalog.ScopeIndex
		}
	}
	r.p.Meter.ToolCall(c)
}

// record appends the primary event, and one for each effect with the primary as its parent.
func (r *run) record(tx *store.Tx, done finished, effects []Effect) error {
	task, err := r.p.Memory.CurrentTask(tx, r.call.Place())
	if err != nil {
		return err
	}
	d := eventlog.Draft{
		Workspace: r.call.Workspace.ID(), Channel: r.call.Channel, Kind: catalog.EventToolCallRecorded, Payload: r.payload(done),
	}
	if r.call.Actor != "" {
		d.Actor = &r.call.Actor
	}
	if r.req.Parent != 0 {
		d.Parent = &r.req.Parent
	}
	if task != "" {
		d.Payload.Reasoning = &task
	}
	primary, err := r.p.Log.Append(tx, d)
	if err != nil {
		return err
	}
	for _, e := range effects {
		s := d
		s.Kind, s.Parent = e.Kind, &primary.ID
		s.Payload = eventlog.Payload{
			Tool: d.Payload.Tool, Action: d.Payload.Action, Path: e.Path, Category: e.Category, Key: e.Key,
			Reasoning: d.Payload.Reasoning, CallID: r.call.ID, Capability: d.Payload.Capability,
		}
		if _, err := r.p.Log.Append(tx, s); err != nil {
			return err
		}
	}
	return nil
}

// payload is what the primary event tells. It never holds content.
func (r *run) payload(done finished) eventlog.Payload {
	p := eventlog.Payload{Tool: r.req.Tool, Outcome: done.outcome, ErrorCode: string(done.code), CallID: r.call.ID}
	if r.cap != nil {
		p.Capability = r.cap.ID
	}
	if a, ok := r.args["action"].(string); ok {
		p.Action = &a
	} else if r.cap != nil && r.cap.Action != "" {
		p.Action = &r.cap.Action
	}
	p.Path, _ = r.args["path"].(string)
	p.Category, _ = r.args["category"].(string)
	p.Key, _ = r.args["key"].(string)
	if args := jsondoc.Canonical(r.args); len(args) <= maxArguments {
		p.Arguments = args
	} else {
		sum := sha256.Sum256(args)
		p.ArgumentsHash = hex.EncodeToString(sum[:])
		p.Path, p.Category, p.Key = short(p.Path), short(p.Category), short(p.Key)
		if p.Action != nil && len(*p.Action) > maxArguments {
			p.Action = nil
		}
	}
	if done.res != nil {
		p.ContentHash = done.res.ContentHash
		p.Tokens = &done.res.Meta.Tokens
	}
	return p
}

// short drops what would make an event long although its arguments were left out.
func short(s string) string {
	if len(s) > maxArguments {
		return ""
	}
	return s
}
