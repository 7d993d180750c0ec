package action

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/answer"
)

// handlers are handlers of every capability, all of which do nothing.
func handlers() map[string]tool.Func[*Call] {
	out := map[string]tool.Func[*Call]{}
	for _, s := range tool.Specs {
		for _, c := range s.Capabilities {
			out[c.ID] = func(context.Context, *Call, []byte) (answer.Reply, error) { return nil, nil }
		}
	}
	return out
}

func specs() []tool.Spec {
	out := slices.Clone(tool.Specs)
	for i := range out {
		out[i].Capabilities = slices.Clone(out[i].Capabilities)
	}
	return out
}

// The built-in manifest is admitted; planted faults are not, and all of them are told at once.
func TestAdmission(t *testing.T) {
	t.Parallel()
	if tools, err := admit(tool.Manifest, specs(), handlers()); err != nil || len(tools) != len(tool.Specs) {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plant func(m *[]byte, s *[]tool.Spec, h map[string]tool.Func[*Call])
		want  []string
	}{
		"no handler": {func(_ *[]byte, s *[]tool.Spec, h map[string]tool.Func[*Call]) { delete(h, (*s)[0].Capabilities[0].ID) }, []string{"has no handler"}},
		"two of one id": {func(_ *[]byte, s *[]tool.Spec, _ map[string]tool.Func[*Call]) {
			(*s)[1].Capabilities[0].ID = (*s)[0].Capabilities[0].ID
		}, []string{"two capabilities are called"}},
		"two of one name": {func(_ *[]byte, s *[]tool.Spec, _ map[string]tool.Func[*Call]) { *s = append(*s, (*s)[0]) }, []string{"two tools are called", "two capabilities are called"}},
		"a bad input": {func(_ *[]byte, s *[]tool.Spec, _ map[string]tool.Func[*Call]) {
			(*s)[0].Capabilities[0].Input = json.RawMessage(`{"type":7}`)
		}, []string{"input schema"}},
		"a bad output": {func(_ *[]byte, s *[]tool.Spec, _ map[string]tool.Func[*Call]) {
			(*s)[0].Capabilities[0].Output = json.RawMessage(`{"$ref":"http://example.com/x"}`)
		}, []string{"output schema"}},
		"an action twice": {func(_ *[]byte, s *[]tool.Spec, _ map[string]tool.Func[*Call]) {
			c := (*s)[3].Capabilities
			c[1].Action = c[0].Action
		}, []string{"two capabilities for the action"}},
		"a broken manifest": {func(m *[]byte, _ *[]tool.Spec, _ map[string]tool.Func[*Call]) {
			*m = bytes.Replace(*m, []byte(`"profiles"`), []byte(`"profile"`), 1)
		}, []string{`"profiles" is missing`, `"profile" is unknown`}},
		"no JSON": {func(m *[]byte, _ *[]tool.Spec, _ map[string]tool.Func[*Call]) { *m = []byte("{") }, []string{"the manifest is refused"}},
	} {
		m, s, h := slices.Clone(tool.Manifest), specs(), handlers()
		c.plant(&m, &s, h)
		_, err := admit(m, s, h)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}
