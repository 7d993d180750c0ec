package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// T9: through every door, a secret that a caller writes or asks for is his to read again, and no observer's to see or to find.
func TestT9SecretsAtEveryDoor(t *testing.T) {
	t.Parallel()
	hidden := "ghp_" + strings.Repeat("aB3xK9qLm2Zp", 3)
	root := testkit.Write(t, map[string]string{"deploy.sh": "push " + hidden + "\n"})
	eachDoor(t, testkit.Settings{"project_root": root}, func(t *testing.T, d door) {
		for _, r := range []request{
			{tool: "ctx_session", args: fmt.Sprintf(`{"action":"task","value":"rotate %s today"}`, hidden)},
			{tool: "ctx_session", args: `{}`},
			{tool: "ctx_search", args: fmt.Sprintf(`{"pattern":%q,"literal":true}`, hidden)},
			{tool: "ctx_read", args: `{"path":"deploy.sh","mode":"full"}`},
		} {
			if o := d.Call(t, r); o.code != "" || !strings.Contains(o.text, hidden) {
				t.Errorf("%s %s: %v", r.tool, r.args, o)
			}
		}
		d.Call(t, request{tool: "ctx_read", args: fmt.Sprintf(`{"path":"%s.txt"}`, hidden)})
		s := d.Observer(t)
		seen := ""
		for _, e := range history(t, s, "default") {
			seen += fmt.Sprintf("%+v\n", e)
		}
		for _, path := range []string{"/v1/events/search?q=today&redaction=full", "/v1/events/search?q=rotate", "/v1/context/summary", "/metrics"} {
			seen += string(s.Get(path).Body)
		}
		if strings.Contains(seen, hidden) || !strings.Contains(seen, "[redacted]") {
			t.Errorf("%.3000s", seen)
		}
		if a := s.Get("/v1/events/search?q=" + url.QueryEscape(hidden)); !strings.Contains(string(a.Body), `"results":[]`) {
			t.Errorf("%s", a.Body)
		}
	})
}
