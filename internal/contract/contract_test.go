package contract

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

func TestEverySchemaCompiles(t *testing.T) {
	t.Parallel()
	names, err := Names()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 12 {
		t.Fatalf("only %d schemas", len(names))
	}
	for _, n := range names {
		if _, err := Named(n); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	if _, err := Named("event#/$defs/ScopeId"); err != nil {
		t.Error(err)
	}
	if _, err := Named("nope"); err == nil {
		t.Error("an unknown name compiles")
	}
}

func TestJudgeSaysHowToMend(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{
		"path":{"type":"string","minLength":2,"maxLength":3},"n":{"type":"integer","minimum":1,"maximum":9},"e":{"enum":["a","b"]},
		"l":{"type":"array","items":{"type":"string","pattern":"^x"},"minItems":1,"maxItems":2},"d":{"type":"integer","default":7}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]fault.Detail{
		`{}`:                              {Pointer: "", Reason: "missing", Message: `"path" is missing`},
		`{"path":"xx","a/b":1}`:           {Pointer: "/a~1b", Reason: "unknown", Message: `"a/b" is unknown`},
		`{"path":7}`:                      {Pointer: "/path", Reason: "type", Message: "must be of type string, is of type number"},
		`{"path":"x"}`:                    {Pointer: "/path", Reason: "minlength", Message: "must have at least 2 characters, has 1"},
		`{"path":"xxxx"}`:                 {Pointer: "/path", Reason: "maxlength", Message: "must have at most 3 characters, has 4"},
		`{"path":"xx","n":0}`:             {Pointer: "/n", Reason: "minimum", Message: "must be at least 1"},
		`{"path":"xx","n":10}`:            {Pointer: "/n", Reason: "maximum", Message: "must be at most 9"},
		`{"path":"xx","e":"c"}`:           {Pointer: "/e", Reason: "enum", Message: "must be one of a, b"},
		`{"path":"xx","l":["x","y"]}`:     {Pointer: "/l/1", Reason: "pattern", Message: "must match ^x"},
		`{"path":"xx","l":[]}`:            {Pointer: "/l", Reason: "minitems", Message: "must have at least 1 elements, has 0"},
		`{"path":"xx","l":["x","x","x"]}`: {Pointer: "/l", Reason: "maxitems", Message: "must have at most 2 elements, has 3"},
	} {
		v, err := jsondoc.Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Judge(v); len(got) != 1 || got[0] != want {
			t.Errorf("%s gave %+v, want %+v", in, got, want)
		}
	}
	o := map[string]any{"path": "xx"}
	if got := s.Judge(o); got != nil {
		t.Errorf("a good document is refused: %v", got)
	}
	if s.Complete(o); string(jsondoc.Canonical(o)) != `{"d":7,"path":"xx"}` {
		t.Errorf("completed to %s", jsondoc.Canonical(o))
	}
}

// Of several forms, only what is wrong with the one that was meant is told.
func TestJudgeFollowsTheFormThatWasMeant(t *testing.T) {
	t.Parallel()
	s, err := Named("capability-v1#/$defs/ApprovalRule")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"operator":"all","rules":[{"operator":"role","label":"x"}]}`:   `/rules/0 "name" is missing; /rules/0/label "label" is unknown`,
		`{"operator":"delegated_authority","scope":"x","max_risk":"no"}`: `/max_risk must be one of low, medium, high, critical`,
		`{"operator":"quorum","rules":[]}`:                               `"required" is missing`,
		`{"operator":"most","rules":[]}`:                                 `has none of the forms that it may have`,
		`7`:                                                              `has none of the forms that it may have`,
	} {
		v, err := jsondoc.Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, d := range s.Judge(v) {
			said = append(said, strings.TrimSpace(d.Pointer+" "+d.Message))
		}
		if got := strings.Join(said, "; "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// A flood of faults is told in part, in a fixed order.
func TestDetailsAreBounded(t *testing.T) {
	t.Parallel()
	s, err := Compile([]byte(`{"items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsondoc.Decode([]byte("[" + strings.Repeat("1,", 999) + "1]"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Judge(v); len(got) != maxDetails {
		t.Errorf("%d details", len(got))
	}
}

func TestForeignReferencesAreRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{"$ref":"https://example.com/x.json"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"other.json"}`, `{"pattern":"(?=x)"}`, `{"type":7}`} {
		if _, err := Compile([]byte(in)); err == nil {
			t.Errorf("%s compiles", in)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"ctx_read", "ctx_search", "ctx_tree", "path", "paths"}
	for in, want := range map[string]string{"ctx_raed": "ctx_read", "pth": "path", "PATHS": "paths", "ctx_serch": "ctx_search", "zzz": "", "": "", "definitely_not_a_tool": ""} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
