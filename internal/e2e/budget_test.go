package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
	"github.com/ctxd/ctxd/internal/token"
)

// T4, case 7: no answer is over its budget, and by default none over what clients take; sessions and lists of tasks are no
// exception.
func TestT4Budgets(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"project_root": repository(t)})
	long := strings.Repeat("日本語のとても長い記録", 400)
	for i := range 6 {
		for _, action := range []string{"finding", "decision"} {
			s.Tool("ctx_session", map[string]any{"action": action, "value": fmt.Sprint(i, action, long)})
		}
		s.Tool("ctx_task", map[string]any{"action": "create", "description": fmt.Sprint(i, long)})
	}
	for _, r := range []request{
		{tool: "ctx_session"}, {tool: "ctx_session", args: `{"max_tokens":9000}`}, {tool: "ctx_session", args: `{"max_tokens":100}`},
		{tool: "ctx_session", args: `{"action":"finding","value":"short","max_tokens":5000}`}, {tool: "ctx_task"}, {tool: "ctx_task", args: `{"max_tokens":9000}`},
		{tool: "ctx_read", args: `{"path":"many/l.txt","max_tokens":1000}`}, {tool: "ctx_tree", args: `{"max_tokens":100}`}, {tool: "ctx_search", args: `{"pattern":"a line","max_tokens":500,"max_results":1000}`},
	} {
		budget := 20000
		if _, n, ok := strings.Cut(r.args, `"max_tokens":`); ok {
			if _, err := fmt.Sscan(strings.TrimRight(strings.Split(n, ",")[0], "}"), &budget); err != nil {
				t.Fatal(err)
			}
		}
		got := restDoor{s}.Call(t, r)
		meta, _ := got.meta["ctxd/result"].(map[string]any)
		for name, text := range map[string]string{"tokens": got.text, "tokens_structured": got.data} {
			n, err := token.Count(t.Context(), text)
			if err != nil || n > budget {
				t.Errorf("%s %s: %d %s over %d, %v", r.tool, r.args, n, name, budget, err)
			}
			if name == "tokens" && meta[name] != float64(n) {
				t.Errorf("%s %s says %v tokens, has %d", r.tool, r.args, meta[name], n)
			}
		}
		if meta["truncated"] == true && !strings.Contains(got.text, " left") {
			t.Errorf("%s %s: %v %.200s", r.tool, r.args, meta, got.text)
		}
	}
	got := restDoor{s}.Call(t, request{tool: "ctx_session", args: `{"max_tokens":9000}`})
	if !strings.Contains(got.data, `"findings_total":7`) || !strings.Contains(got.text, "short") {
		t.Errorf("%.500s", got)
	}
}
