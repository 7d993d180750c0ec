package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/testkit"
)

// T1: every example of every manifest does what it says.
func TestT1Examples(t *testing.T) {
	t.Parallel()
	for _, spec := range tool.Specs {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			s := testkit.Start(t, nil)
			for _, e := range spec.Examples {
				text, data := s.Tool(spec.Name, e.Arguments)
				for _, want := range e.Expect {
					if !strings.Contains(text, want) {
						t.Errorf("%s: no %q in\n%s", e.Say, want, text)
					}
				}
				if !json.Valid(data) {
					t.Errorf("%s: %s", e.Say, data)
				}
			}
		})
	}
}
