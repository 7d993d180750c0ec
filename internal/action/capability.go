package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// toolEntry is a tool that was admitted.
type toolEntry struct {
	spec     tool.Spec
	byAction map[string]*capabilityEntry
}

// capabilityEntry is a capability that was admitted, with its handler.
type capabilityEntry struct {
	tool.Capability
	input, output *contract.Schema
	parameters    []string // sorted
	handler       tool.Func[*Call]
}

// complete gives the arguments with the defaults of the schema, without changing what the caller sent.
func (c *capabilityEntry) complete(args map[string]any) []byte {
	full := maps.Clone(args)
	for name, v := range full {
		if n, ok := v.(json.Number); ok {
			full[name] = whole(n)
		}
	}
	c.input.Complete(full)
	return jsondoc.Canonical(full)
}

// whole writes 2.0 and 2e0 as 2: to a schema they are integers, to the standard decoder they are none.
func whole(n json.Number) json.Number {
	const most = 1 << 53
	f, err := n.Float64()
	if !strings.ContainsAny(string(n), ".eE") || err != nil || f != math.Trunc(f) || math.Abs(f) >= most {
		return n
	}
	return json.Number(strconv.FormatInt(int64(f), 10))
}

// admit checks a manifest and joins it with its handlers. All that is wrong with it is told at once.
func admit(manifest []byte, specs []tool.Spec, handlers map[string]tool.Func[*Call]) (map[string]*toolEntry, error) {
	var wrong []error
	if err := judgeManifest(manifest); err != nil {
		wrong = append(wrong, err)
	}
	tools, ids := map[string]*toolEntry{}, map[string]bool{}
	for _, s := range specs {
		if tools[s.Name] != nil {
			wrong = append(wrong, fmt.Errorf("two tools are called %s", s.Name))
		}
		e := &toolEntry{spec: s, byAction: map[string]*capabilityEntry{}}
		tools[s.Name] = e
		for _, c := range s.Capabilities {
			if ids[c.ID] {
				wrong = append(wrong, fmt.Errorf("two capabilities are called %s", c.ID))
			}
			ids[c.ID] = true
			entry, err := admitCapability(c, handlers[c.ID])
			wrong = append(wrong, err)
			if e.byAction[c.Action] != nil {
				wrong = append(wrong, fmt.Errorf("%s has two capabilities for the action %q", s.Name, c.Action))
			}
			e.byAction[c.Action] = entry
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, fmt.Errorf("action: the manifest is refused: %w", err)
	}
	return tools, nil
}

func judgeManifest(raw []byte) error {
	v, err := jsondoc.Decode(raw)
	if err != nil {
		return err
	}
	s, err := contract.Named("capability-v1")
	if err != nil {
		return err
	}
	if details := s.Judge(v); details != nil {
		return fmt.Errorf("it breaks capability-v1: %s", told(details))
	}
	return nil
}

func admitCapability(c tool.Capability, h tool.Func[*Call]) (*capabilityEntry, error) {
	e := &capabilityEntry{Capability: c, handler: h}
	if h == nil {
		return e, fmt.Errorf("%s has no handler", c.ID)
	}
	var err error
	if e.input, err = contract.Compile(c.Input); err != nil {
		return e, fmt.Errorf("%s: input schema: %w", c.ID, err)
	}
	if e.output, err = contract.Compile(c.Output); err != nil {
		return e, fmt.Errorf("%s: output schema: %w", c.ID, err)
	}
	var in struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return e, fmt.Errorf("%s: input schema: %w", c.ID, err)
	}
	e.parameters = slices.Sorted(maps.Keys(in.Properties))
	return e, nil
}

// capability finds the capability of the tool and the action that a call names.
func (r *run) capability() error {
	e, ok := r.p.tools[r.req.Tool]
	if !ok {
		return r.unknownTool()
	}
	r.entry = e
	name := e.spec.DefaultAction
	if v, there := r.args["action"]; there && len(e.byAction) > 1 {
		s, isText := v.(string)
		if !isText {
			return fault.New(catalog.InvalidArguments, "%s: action must be a string", e.spec.Name)
		}
		name = s
	}
	if r.cap, ok = e.byAction[name]; ok {
		return nil
	}
	known := slices.Sorted(maps.Keys(e.byAction))
	message := fmt.Sprintf("%s has no action %q", e.spec.Name, name)
	if near := contract.Nearest(name, known); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else {
		message += "; it has " + join(known)
	}
	return fault.New(catalog.InvalidArguments, "%s", message).WithDetails([]fault.Detail{{Pointer: "/action", Reason: "enum", Message: message}})
}

func (r *run) unknownTool() error {
	names := slices.Sorted(maps.Keys(r.p.tools))
	if near := contract.Nearest(r.req.Tool, names); near != "" {
		return fault.Tool("unknown_tool", "unknown tool %q; did you mean %s?", r.req.Tool, near)
	}
	return fault.Tool("unknown_tool", "unknown tool %q; GET /v1/tools lists those that there are", r.req.Tool)
}

func join(words []string) string { return strings.Join(words, ", ") }

// Specs are the tools that were admitted, by name.
func (p *Pipeline) Specs() []tool.Spec {
	var out []tool.Spec
	for _, name := range slices.Sorted(maps.Keys(p.tools)) {
		out = append(out, p.tools[name].spec)
	}
	return out
}
