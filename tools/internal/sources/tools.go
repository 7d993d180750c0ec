package sources

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/tools/internal/doc"
)

// PartsFile holds schemas that several tools share; manifest files refer into it.
const PartsFile = "tool-parts.schema.json"

// MCPProfile is the profile under which bindings name the action of a tool.
const MCPProfile = "aip.mcp.compat.v1"

// Tool is one file of schemas/manifest/, resolved: no schema in it refers to another file.
type Tool struct {
	Name          string
	GoName        string // CtxRead
	Title         string
	Description   string
	Presets       []string
	DefaultAction string
	Capabilities  []*Capability
	Examples      []*doc.Object
	Input         *doc.Object // union of the inputs of all capabilities, as models see it
	Doc           *doc.Object // the file with its references copied in
}

// Capability is one operation of a tool.
type Capability struct {
	ID          string
	Action      string // "" where the tool has one capability only
	GoName      string // CtxSessionFinding
	Scopes      []string
	SideEffects []string
	Input       *doc.Object // with the action, where there is one
	Output      *doc.Object
	OutputRef   string // name of the shared Go type, where the output is a reference
	doc         *doc.Object
	InputTyped  *doc.Object // as Input, objects from other files as references to Go types
	OutputTyped *doc.Object
}

// Doc is the capability as its file has it, references copied in.
func (c *Capability) Doc() *doc.Object { return c.doc }

// TypeDefs are the Go types that the tools need, by name, and the aliases among them.
func (s *Sources) TypeDefs() (defs *doc.Object, aliases map[string]string) {
	defs, aliases = doc.NewObject(), map[string]string{}
	for _, t := range s.Tools {
		for _, c := range t.Capabilities {
			defs.Set(c.GoName+"Input", c.InputTyped)
			switch c.OutputRef {
			case "", c.GoName + "Output":
				defs.Set(c.GoName+"Output", c.OutputTyped)
			default:
				aliases[c.GoName+"Output"] = c.OutputRef
			}
		}
	}
	if parts := s.Schema(PartsFile); parts != nil {
		for _, name := range parts.Doc.Object("$defs").Keys() {
			if def := parts.Doc.Object("$defs").Object(name); def.String("type") == "object" {
				r := resolver{s: s, dir: "schemas", file: PartsFile, typed: true}
				typed, err := r.inner(def)
				if err != nil {
					panic(err) // the same references were resolved when the tools were read
				}
				defs.Set(GoName(name), typed)
			}
		}
	}
	return defs, aliases
}

// GoName turns ctx_read, read-many or task_result into CtxRead, ReadMany, TaskResult.
func GoName(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == ':' || r == '.' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func (s *Sources) loadTools() error {
	dir := filepath.Join(s.Root, "schemas", "manifest")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	ids := map[string]string{}
	for _, e := range entries {
		t, err := s.loadTool(e.Name())
		if err != nil {
			return fmt.Errorf("schemas/manifest/%s: %w", e.Name(), err)
		}
		for _, c := range t.Capabilities {
			if other, taken := ids[c.ID]; taken {
				return fmt.Errorf("schemas/manifest/%s: %s is taken by %s", e.Name(), c.ID, other)
			}
			ids[c.ID] = t.Name
		}
		s.Tools = append(s.Tools, t)
	}
	slices.SortFunc(s.Tools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (s *Sources) loadTool(file string) (*Tool, error) {
	raw, err := s.read("schemas", "manifest", file)
	if err != nil {
		return nil, err
	}
	r := resolver{s: s, dir: "schemas/manifest", file: file}
	v, err := r.inner(raw)
	if err != nil {
		return nil, err
	}
	d := v.(*doc.Object)
	t := &Tool{
		Name: d.String("tool"), GoName: GoName(d.String("tool")), Title: d.String("title"), Description: d.String("description"),
		Presets: d.Strings("presets"), DefaultAction: d.String("default_action"), Doc: d,
	}
	for _, e := range d.List("examples") {
		t.Examples = append(t.Examples, e.(*doc.Object))
	}
	if want := strings.TrimSuffix(file, ".json"); t.Name != want {
		return nil, fmt.Errorf("the tool is called %q, the file says %q", t.Name, want)
	}
	for i, c := range d.List("capabilities") {
		cp, err := s.loadCapability(t, c.(*doc.Object), raw.List("capabilities")[i].(*doc.Object), file)
		if err != nil {
			return nil, fmt.Errorf("capability %d: %w", i, err)
		}
		t.Capabilities = append(t.Capabilities, cp)
	}
	return t, t.finish()
}

func (s *Sources) loadCapability(t *Tool, d, raw *doc.Object, file string) (*Capability, error) {
	c := &Capability{doc: d, ID: d.String("id"), GoName: t.GoName, Input: d.Object("input_schema"), Output: d.Object("output_schema")}
	if c.Input == nil || c.Output == nil {
		return nil, fmt.Errorf("a built-in capability has an input and an output schema")
	}
	for _, b := range d.List("bindings") {
		if bind := b.(*doc.Object); bind.String("profile") == MCPProfile {
			c.Action = bind.String("action")
		}
	}
	if c.Action != "" {
		c.GoName += GoName(c.Action)
	}
	if auth := d.Object("auth"); auth != nil {
		c.Scopes = auth.Strings("scopes")
	}
	if contract := d.Object("contract"); contract != nil {
		c.SideEffects = contract.Strings("side_effects")
	}
	known := map[string]bool{}
	for _, sc := range s.Scopes {
		known[sc.Scope] = true
	}
	for _, sc := range c.Scopes {
		if !known[sc] {
			return nil, fmt.Errorf("%s: no scope %q in api/catalog/scopes.yaml", c.ID, sc)
		}
	}
	r := resolver{s: s, dir: "schemas/manifest", file: file, typed: true}
	in, err := r.inner(raw.Object("input_schema"))
	if err != nil {
		return nil, err
	}
	c.InputTyped = in.(*doc.Object)
	c.OutputRef = r.sharedName(raw.Object("output_schema").String("$ref"))
	if c.OutputRef == "" {
		out, err := r.inner(raw.Object("output_schema"))
		if err != nil {
			return nil, err
		}
		c.OutputTyped = out.(*doc.Object)
	}
	return c, checkInput(c.Input)
}

var propertyName = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// checkInput holds every input to the subset of JSON Schema that all known clients accept (tools.md T2).
func checkInput(in *doc.Object) error {
	if in.String("type") != "object" || in.Get("additionalProperties") != false {
		return fmt.Errorf("an input is a closed object")
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf", "not", "if", "$ref", "$defs"} {
		if in.Has(k) {
			return fmt.Errorf("an input has no %s at its root", k)
		}
	}
	props := in.Object("properties")
	if props == nil {
		return fmt.Errorf("an input lists its properties, be there none")
	}
	for _, name := range props.Keys() {
		if !propertyName.MatchString(name) {
			return fmt.Errorf("the parameter %q does not match %s", name, propertyName)
		}
		if reserved(name) {
			return fmt.Errorf("the parameter %q is taken by the call itself", name)
		}
	}
	return nil
}

func reserved(name string) bool {
	return name == "action" || name == "agentid" || name == "workspaceid" || name == "channelid"
}

// finish derives what follows from the capabilities together: the union of the inputs, and the action.
func (t *Tool) finish() error {
	union := doc.NewObject("type", "object")
	props := doc.NewObject()
	var actions []any
	required := map[string]int{}
	for _, c := range t.Capabilities {
		if c.Action != "" {
			actions = append(actions, c.Action)
		}
		for _, r := range c.Input.Strings("required") {
			required[r]++
		}
	}
	switch {
	case len(actions) == 0 && len(t.Capabilities) == 1 && t.DefaultAction == "":
	case len(actions) == len(t.Capabilities) && (t.DefaultAction == "" || slices.Contains(actions, any(t.DefaultAction))):
		props.Set("action", doc.NewObject("type", "string", "enum", actions))
		if t.DefaultAction != "" {
			props.Object("action").Set("default", t.DefaultAction)
		}
	default:
		return fmt.Errorf("either there is one capability, or each is bound to an action and the default is one of them")
	}
	for _, c := range t.Capabilities {
		in := c.Input.Object("properties")
		for _, name := range in.Keys() {
			if props.Has(name) && string(doc.Compact(props.Get(name))) != string(doc.Compact(in.Get(name))) {
				return fmt.Errorf("the parameter %q means different things for different actions", name)
			}
			props.Set(name, in.Get(name))
		}
	}
	var all []any
	for _, name := range props.Keys() {
		if required[name] == len(t.Capabilities) || name == "action" && t.DefaultAction == "" {
			all = append(all, name)
		}
	}
	if len(all) > 0 {
		union.Set("required", all)
	}
	union.Set("additionalProperties", false)
	union.Set("properties", props)
	t.Input = union
	for _, c := range t.Capabilities {
		if c.Action != "" {
			c.addAction(t.DefaultAction)
		}
	}
	return nil
}

// addAction puts the action into the input of the capability, since the call carries it among the arguments.
func (c *Capability) addAction(def string) {
	for _, in := range []*doc.Object{c.Input, c.InputTyped} {
		props := doc.NewObject("action", doc.NewObject("type", "string", "enum", []any{c.Action}))
		for _, name := range in.Object("properties").Keys() {
			props.Set(name, in.Object("properties").Get(name))
		}
		in.Set("properties", props)
		if c.Action != def {
			in.Set("required", append([]any{"action"}, in.List("required")...))
		}
	}
	c.Input.Object("properties").Object("action").Set("description", "Selects this capability.")
}

// resolver copies referenced schemas of other files into a document.
type resolver struct {
	s         *Sources
	dir, file string
	typed     bool // keep references to shared objects, as #/$defs/<Go name>
	depth     int
}

func (r resolver) inner(v any) (any, error) {
	switch v := v.(type) {
	case *doc.Object:
		if ref := v.String("$ref"); ref != "" {
			return r.follow(ref, v)
		}
		out := doc.NewObject()
		for _, k := range v.Keys() {
			c, err := r.inner(v.Get(k))
			if err != nil {
				return nil, err
			}
			out.Set(k, c)
		}
		return out, nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			c, err := r.inner(v[i])
			if err != nil {
				return nil, err
			}
			list[i] = c
		}
		return list, nil
	default:
		return v, nil
	}
}

func (r resolver) follow(ref string, at *doc.Object) (any, error) {
	if r.depth > 16 {
		return nil, fmt.Errorf("references go round at %s", ref)
	}
	if name := r.sharedName(ref); r.typed && name != "" {
		return doc.NewObject("$ref", "#/$defs/"+name), nil
	}
	next, target, err := r.target(ref)
	if err != nil {
		return nil, err
	}
	v, err := next.inner(target)
	if err != nil {
		return nil, err
	}
	out, ok := doc.Clone(v).(*doc.Object)
	if !ok {
		return nil, fmt.Errorf("%s is no object", ref)
	}
	for _, k := range at.Keys() {
		if k != "$ref" {
			out.Set(k, at.Get(k))
		}
	}
	return out, nil
}

// target finds what a reference names, and the resolver for references inside of it.
func (r resolver) target(ref string) (resolver, any, error) {
	file, pointer, _ := strings.Cut(ref, "#")
	next := resolver{s: r.s, dir: r.dir, file: r.file, typed: r.typed, depth: r.depth + 1}
	if file != "" {
		full := path.Join(r.dir, file)
		next.dir, next.file = path.Dir(full), path.Base(full)
	}
	d, err := r.s.read(strings.Split(path.Join(next.dir, next.file), "/")...)
	if err != nil {
		return next, nil, err
	}
	target, err := doc.At(d, pointer)
	return next, target, err
}

// sharedName is the Go type that a reference to a shared object has, or "".
func (r resolver) sharedName(ref string) string {
	if ref == "" {
		return ""
	}
	next, target, err := r.target(ref)
	if err != nil {
		return ""
	}
	o, ok := target.(*doc.Object)
	if !ok || o.String("type") != "object" {
		return ""
	}
	if next.file == PartsFile {
		return GoName(path.Base(ref))
	}
	tool := GoName(strings.TrimSuffix(next.file, ".json"))
	if strings.HasSuffix(ref, "/output_schema") {
		return tool + "Output"
	}
	return ""
}
