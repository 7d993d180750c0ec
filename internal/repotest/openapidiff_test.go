package repotest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/load"
)

// raised are changes that oasdiff lets pass and we do not.
var raised = map[string]checker.Level{
	checker.ResponseOptionalPropertyRemovedId: checker.ERR, // clients read what they have once been given
	checker.OptionalResponseHeaderRemovedId:   checker.ERR,
	checker.APIOperationIdRemovedId:           checker.ERR, // clients name their methods after it

	// A call that leaves a parameter out would mean something else.
	checker.RequestParameterDefaultValueChangedId: checker.ERR,
	checker.RequestParameterDefaultValueRemovedId: checker.ERR,
	checker.RequestPropertyDefaultValueChangedId:  checker.ERR,
	checker.RequestPropertyDefaultValueRemovedId:  checker.ERR,

	// What may go after it was deprecated is judged by checkRemoved.
	checker.APIPathRemovedWithDeprecationId:                  checker.ERR,
	checker.APIRemovedWithDeprecationId:                      checker.ERR,
	checker.RequestParameterRemovedWithDeprecationId:         checker.ERR,
	checker.RequestPropertyRemovedWithDeprecationId:          checker.ERR,
	checker.ResponseRequiredPropertyRemovedWithDeprecationId: checker.ERR,
}

// checkOpenAPI compares two published documents. What oasdiff warns of is breaking: our requests are closed, so that a removed
// parameter is a refused one.
func checkOpenAPI(released, now []byte) []problem {
	before, err := loadOpenAPI(released)
	if err != nil {
		return []problem{{"api/released", "the released document cannot be read: " + err.Error(), "restore it"}}
	}
	after, err := loadOpenAPI(now)
	if err != nil {
		return []problem{{"api/openapi.json", "cannot be read: " + err.Error(), "run go generate ./..."}}
	}
	d, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), before, after)
	if err != nil {
		return []problem{{"api/openapi.json", "cannot be compared: " + err.Error(), "mend the document"}}
	}
	var out []problem
	config := checker.NewConfig(checker.GetAllChecks(), checker.WithSeverityLevels(raised))
	for _, c := range checker.CheckBackwardCompatibility(config, d, sources) {
		at := strings.TrimSpace(c.GetOperation() + " " + c.GetPath())
		if at == "" {
			at = c.GetSection()
		}
		out = append(out, problem{at, c.GetId() + ", " + c.GetUncolorizedText(checker.NewDefaultLocalizer()), "keep what was released, and add beside it"})
	}
	return out
}

func loadOpenAPI(data []byte) (*load.SpecInfo, error) {
	spec, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, err
	}
	return &load.SpecInfo{Spec: spec}, nil
}

// fixture is a released document, and what may become of it: each case is a merge patch (RFC 7396).
type fixture struct {
	Base      json.RawMessage
	Documents map[string]json.RawMessage // that Base takes, where it is a schema
	Cases     []struct {
		Say   string
		Patch json.RawMessage
		Want  []string
	}
}

func readFixture(t *testing.T, name string) fixture {
	t.Helper()
	data, err := os.ReadFile("testdata/breaking/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f
}

func patched(t *testing.T, base, patch json.RawMessage) []byte {
	t.Helper()
	var doc, change any
	for raw, v := range map[*json.RawMessage]*any{&base: &doc, &patch: &change} {
		if err := json.Unmarshal(*raw, v); err != nil {
			t.Fatal(err)
		}
	}
	out, err := json.Marshal(merge(doc, change))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func merge(doc, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	o, ok := doc.(map[string]any)
	if !ok {
		o = map[string]any{}
	}
	for name, v := range change {
		if v == nil {
			delete(o, name)
		} else {
			o[name] = merge(o[name], v)
		}
	}
	return o
}

func TestBreakingChangesOfOpenAPIAreCaught(t *testing.T) {
	t.Parallel()
	f := readFixture(t, "openapi.json")
	for _, c := range f.Cases {
		t.Run(c.Say, func(t *testing.T) {
			t.Parallel()
			catches(t, checkOpenAPI(f.Base, patched(t, f.Base, c.Patch)), c.Want...)
		})
	}
}

// The document of this build is no breaking change of itself, nor is one more tool.
func TestOpenAPIMayGrow(t *testing.T) {
	t.Parallel()
	now := repository(t)["api/openapi.json"]
	passes(t, checkOpenAPI(now, now))
	var doc struct {
		Components struct {
			Schemas struct {
				CallRequest struct {
					OneOf []any `json:"oneOf"`
				}
				OtherCall struct {
					Properties struct {
						Name struct{ Not struct{ Enum []any } }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(now, &doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc.Components.Schemas
	calls, err := json.Marshal(append(schemas.CallRequest.OneOf, map[string]string{"$ref": "#/components/schemas/CtxNewCall"}))
	if err != nil {
		t.Fatal(err)
	}
	names, err := json.Marshal(append(schemas.OtherCall.Properties.Name.Not.Enum, "ctx_new"))
	if err != nil {
		t.Fatal(err)
	}
	patch := fmt.Sprintf(`{"components": {"schemas": {
		"CtxNewCall": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "enum": ["ctx_new"]}}},
		"CallRequest": {"oneOf": %s},
		"OtherCall": {"properties": {"name": {"not": {"enum": %s}}}}
	}}}`, calls, names)
	passes(t, checkOpenAPI(now, patched(t, now, []byte(patch))))
}
