package action

import (
	"encoding/json"
	"fmt"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// MaxActor bounds the self-given name of a caller, in bytes.
const MaxActor = 128

// ParseRequest reads the body of POST /v1/tools/call (schemas/call.schema.json). Where and who beyond the body are for the
// door to add.
func ParseRequest(body []byte) (Request, error) {
	o, err := jsondoc.DecodeObject(body)
	if err != nil {
		return Request{}, fault.New(catalog.InvalidRequest, "the body is no JSON object of a call: %w", err)
	}
	switch o["arguments"].(type) {
	case nil, map[string]any:
	default:
		return Request{}, fault.New(catalog.InvalidArguments, "tool arguments must be a JSON object")
	}
	s, err := contract.Named("call")
	if err != nil {
		return Request{}, err
	}
	if details := s.Judge(o); details != nil {
		return Request{}, fault.New(catalog.InvalidRequest, "the body is no call: %s", told(details)).WithDetails(details)
	}
	req := Request{Tool: o["name"].(string)}
	if args, ok := o["arguments"].(map[string]any); ok {
		req.Arguments = jsondoc.Canonical(args)
		req.decoded = args
	}
	req.Where.Body = text(o, "workspaceId")
	req.Channel = text(o, "channelId")
	if c := text(o, "conversationId"); c != nil {
		req.Conversation = *c
	}
	if n, ok := o["parentEventId"].(json.Number); ok {
		if req.Parent, err = n.Int64(); err != nil {
			return Request{}, fault.New(catalog.InvalidRequest, "parentEventId is too large")
		}
	}
	return req, nil
}

func text(o map[string]any, key string) *string {
	if s, ok := o[key].(string); ok {
		return &s
	}
	return nil
}

// told puts details into one line.
func told(details []fault.Detail) string {
	out := ""
	for i, d := range details {
		if i > 0 {
			out += "; "
		}
		if d.Pointer != "" {
			out += d.Pointer + " "
		}
		out += d.Message
	}
	return out
}

// decode reads the arguments once, and takes out of them what belongs to the call itself (http.md R7).
func (r *run) decode() error {
	args := r.req.decoded
	r.args = map[string]any{}
	if args == nil && len(r.req.Arguments) > 0 {
		v, err := jsondoc.Decode(r.req.Arguments)
		if err != nil {
			return fault.New(catalog.InvalidArguments, "the arguments are no JSON: %w", err)
		}
		var ok bool
		if args, ok = v.(map[string]any); !ok && v != nil {
			return fault.New(catalog.InvalidArguments, "tool arguments must be a JSON object")
		}
	}
	if args != nil {
		r.args = args
	}
	if err := r.takeOut("workspaceId", &r.req.Where.Body); err != nil {
		return err
	}
	if err := r.takeOut("channelId", &r.req.Channel); err != nil {
		return err
	}
	actor := &r.req.Actor
	if *actor == "" {
		actor = nil
	}
	if err := r.takeOut("agentId", &actor); err != nil {
		return err
	}
	if actor != nil {
		r.req.Actor = *actor
	}
	return nil
}

// takeOut moves a member of the arguments to its sibling. Two different values are refused.
func (r *run) takeOut(name string, sibling **string) error {
	v, there := r.args[name]
	if !there {
		return nil
	}
	delete(r.args, name)
	s, ok := v.(string)
	if !ok {
		return fault.New(catalog.InvalidRequest, "%s must be a string", name)
	}
	if *sibling != nil && **sibling != s {
		return fault.New(catalog.InvalidRequest, "%s is %q inside the arguments and %q beside them", name, s, **sibling)
	}
	*sibling = &s
	return nil
}

// place finds the workspace and the channel (http.md A3, A4).
func (r *run) place() error {
	ws, err := r.p.Locate(r.req.Principal, r.req.Where)
	if err != nil {
		return err
	}
	channel := "default"
	if r.req.Channel != nil {
		channel = *r.req.Channel
	}
	if err := identity.CheckID("channelId", channel); err != nil {
		return err
	}
	if r.req.Conversation != "" {
		if err := identity.CheckID("conversationId", r.req.Conversation); err != nil {
			return err
		}
	}
	if err := checkActor(r.req.Actor); err != nil {
		return err
	}
	r.call.Workspace, r.call.Channel, r.call.Conversation = ws, channel, r.req.Conversation
	r.call.Actor = r.req.Actor
	if r.call.Actor == "" && checkActor(r.req.Client) == nil {
		r.call.Actor = r.req.Client
	}
	if r.call.Actor == "" && r.req.Principal.TokenID != "" {
		r.call.Actor = r.req.Principal.ID
	}
	r.p.Meter.Workspace(ws.ID())
	return nil
}

// checkActor judges a self-given name, which people will read.
func checkActor(name string) error {
	if len(name) > MaxActor {
		return fault.New(catalog.InvalidRequest, "agentId has at most %d bytes", MaxActor)
	}
	for _, c := range name {
		if c < ' ' || c == 0x7f {
			return fault.New(catalog.InvalidRequest, "agentId holds a control character")
		}
	}
	return nil
}

// invalid makes a fault of what is wrong with the arguments, naming the nearest known parameter of each unknown one.
func (r *run) invalid(details []fault.Detail) error {
	for i, d := range details {
		if d.Reason != "unknown" {
			continue
		}
		if near := contract.Nearest(d.Pointer[1:], r.cap.parameters); near != "" {
			details[i].Message += fmt.Sprintf("; did you mean %q?", near)
		} else {
			details[i].Message += "; known are " + join(r.cap.parameters)
		}
	}
	return fault.New(catalog.InvalidArguments, "%s: %s", r.name(), told(details)).WithDetails(details)
}
