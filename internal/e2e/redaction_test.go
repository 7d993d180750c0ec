package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// E8: what each level shows, and who may see it.
func TestE8Redaction(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"tokens": tokens(
		map[string]any{"id": "all", "scopes": []string{"search", "events", "audit"}},
		map[string]any{"id": "events", "scopes": []string{"search", "events"}},
		map[string]any{"id": "audit", "scopes": []string{"search", "audit"}},
		map[string]any{"id": "none", "scopes": []string{"search"}},
	)})
	s.Call(`{"name":"ctx_search","arguments":{"pattern":"needle"}}`, "Authorization", bearer("all"))
	id := history(t, s, "default", "Authorization", bearer("all"))[0].ID
	shown := func(path, who string) string {
		t.Helper()
		if strings.HasPrefix(path, "/v1/events?") || path == "/v1/events" {
			f, _ := s.Follow(path, "Authorization", bearer(who)).Next()
			return f.Data
		}
		a := s.Get(path, "Authorization", bearer(who))
		if a.Status != http.StatusOK {
			return a.Code()
		}
		return string(a.Body)
	}
	lineage := fmt.Sprintf("/v1/events/lineage?id=%d", id)
	for _, c := range []struct{ path, who, level string }{
		{"/v1/events", "all", "refs"}, {"/v1/events?redaction=summary", "all", "summary"}, {"/v1/events?redaction=full", "all", "full"},
		{lineage, "all", "summary"}, {lineage + "&redaction=refs_only", "all", "refs"}, {lineage + "&redaction=full", "all", "full"},
		{lineage, "events", "summary"}, {lineage + "&redaction=full", "events", "scope_denied"},
		{lineage, "none", "refs"}, {lineage + "&redaction=summary", "none", "refs"}, {lineage + "&redaction=full", "none", "scope_denied"},
		{lineage, "audit", "refs"}, {lineage + "&redaction=full", "audit", "refs"}, // details need events, whatever else there is
		{"/v1/events/search?q=ctx_search", "all", "summary"}, {"/v1/events/search?q=ctx_search&redaction=full", "all", "full"},
		{"/v1/events/search?q=ctx_search", "none", "refs"}, {"/v1/events/search?q=ctx_search&redaction=full", "events", "scope_denied"},
		{"/v1/events/search?q=needle&redaction=full", "all", "full"}, {"/v1/events/search?q=needle", "none", "nothing"}, {"/v1/events/search?q=needle&redaction=full", "audit", "nothing"},
	} {
		text := shown(c.path, c.who)
		level := "refs"
		switch {
		case text == "scope_denied":
			level = text
		case strings.Contains(text, `"results":[]`):
			level = "nothing"
		case strings.Contains(text, `"arguments":{"pattern":"needle"}`):
			level = "full"
		case strings.Contains(text, `"arguments":"[redacted]"`) && strings.Contains(text, `"outcome":"ok"`):
			level = "summary"
		case !strings.Contains(text, `"payload":{"tool":"ctx_search","redacted":true}`):
			level = "what? " + text
		}
		if level != c.level {
			t.Errorf("%s as %s shows %s, not %s", c.path, c.who, level, c.level)
		}
	}
	if a := s.Get("/v1/events?redaction=full", "Authorization", bearer("events")); a.Code() != "scope_denied" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
