package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
)

// compile gives the schema of that file.
func compile(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, file := range []string{"event", "summary"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "schemas", file+".schema.json"))
		must(t, err)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		must(t, err)
		must(t, c.AddResource("https://ctxd.dev/schemas/"+file+".schema.json", doc))
	}
	s, err := c.Compile("https://ctxd.dev/schemas/" + name + ".schema.json")
	must(t, err)
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, raw []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	must(t, err)
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s\n%v", raw, err)
	}
}

// E7 and the contract's section Event Schema: members, their order, nulls, time stamp, one line.
func TestEventJSON(t *testing.T) {
	t.Parallel()
	s := compile(t, "event")
	l := openTemp(t)
	full := call("c", 7)
	full.Kind, full.Parent = catalog.EventSessionMutated, new(int64(1))
	full.Payload.Action, full.Payload.Reasoning = new("add"), new("a\nb\r\"\\\u2028\xff<é>")
	full.Payload.Category, full.Payload.Key, full.Payload.ErrorCode, full.Payload.ArgumentsHash = "c", "k", "tool_error", "h"
	full.Payload.Arguments = []byte("{\n \"a\": [1,\r 2]\n}")
	drafts := []Draft{full, {Workspace: "w", Channel: "c", Kind: catalog.EventGraphBuilt}}
	for _, row := range catalog.Events {
		d := call("c", 1)
		d.Kind = row.Kind
		drafts = append(drafts, d)
	}
	for _, e := range l.add(t, drafts...) {
		for level := RefsOnly; level <= Full; level++ {
			raw := e.JSON(level)
			validate(t, s, raw)
			if bytes.ContainsAny(raw, "\n\r") {
				t.Errorf("more than a line: %s", raw)
			}
			if got := keysOf(t, raw); !slices.Equal(got, properties(t, "properties")) {
				t.Errorf("members %v", got)
			}
		}
		if want := kinds[e.Kind].Consistency; !strings.Contains(string(e.JSON(Full)), `"consistencyLevel":"`+want+`"`) {
			t.Errorf("%s is not %s", e.JSON(Full), want)
		}
	}
	all := properties(t, "$defs", "EventPayload", "properties")
	if got := keysOf(t, l.all(t, "c")[0].Payload); !slices.Equal(append(got, "redacted"), all) {
		t.Errorf("payload %v\nschema  %v", got, all)
	}
	e := Event{ID: 42, Workspace: "ws1", Channel: "ch1", Kind: "new_kind", Time: time.Date(2026, 5, 5, 15, 0, 0, 7999999, time.FixedZone("", 7200)),
		Version: 17, Payload: json.RawMessage(`{}`)}
	want := `{"id":42,"workspaceId":"ws1","channelId":"ch1","kind":"new_kind","actor":null,"timestamp":"2026-05-05T13:00:00.007Z",` +
		`"version":17,"parentId":null,"consistencyLevel":"local","payload":{}}`
	if got := string(e.JSON(Full)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// keysOf gives the keys of an object in their order.
func keysOf(t testing.TB, raw []byte) (keys []string) {
	t.Helper()
	if !members(raw, func(key, _ []byte) { keys = append(keys, string(key)) }) {
		t.Fatalf("no object: %s", raw)
	}
	return keys
}

// properties gives the keys of an object in event.schema.json in their order.
func properties(t testing.TB, path ...string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "schemas", "event.schema.json"))
	must(t, err)
	for _, step := range path {
		members(raw, func(key, value []byte) {
			if string(key) == step {
				raw = value
			}
		})
	}
	return keysOf(t, raw)
}

// E12.
func TestE12Summary(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	clock := time.Date(2026, 5, 5, 13, 0, 0, 0, time.UTC)
	l.now = func() time.Time { return clock }
	empty, err := l.Summary(t.Context(), "w", "c", 0, Full)
	must(t, err)
	raw, err := json.Marshal(empty)
	must(t, err)
	validate(t, compile(t, "summary"), raw)
	if bytes.Contains(bytes.ReplaceAll(raw, []byte(`"agent":null`), nil), []byte("null")) {
		t.Errorf("nulls in %s", raw)
	}
	if got := len(empty.EventCountsByKind); got != len(catalog.Events) {
		t.Errorf("%d kinds", got)
	}

	remember := func(agent, key string) Draft {
		return Draft{Workspace: "w", Channel: "c", Kind: catalog.EventKnowledgeRemembered, Actor: &agent, Payload: Payload{
			Tool: "ctx_knowledge", Action: new("remember"), Category: "architecture", Key: key, Reasoning: new("because"),
		}}
	}
	l.add(t, remember("gone", "old"), Draft{Workspace: "w", Channel: "c", Kind: catalog.EventProofAdded})
	clock = clock.Add(31 * time.Minute)
	for range 3 {
		l.add(t, remember("b", "auth"), remember("a", "auth"), remember("a", "cache"), call("c", 1))
	}
	l.add(t, Draft{Workspace: "w", Channel: "c", Kind: catalog.EventSessionMutated, Payload: Payload{Tool: "ctx_session"}})
	l.add(t, call("other", 1))
	sum, err := l.Summary(t.Context(), "w", "c", 0, Summary)
	must(t, err)
	raw, err = json.Marshal(sum)
	must(t, err)
	validate(t, compile(t, "summary"), raw)
	if sum.TotalEvents != 15 || sum.LatestVersion != 15 || fmt.Sprint(sum.ActiveAgents) != "[a agent-a b]" {
		t.Errorf("totals of %s", raw)
	}
	wantCounts := map[string]int{
		"tool_call_recorded": 3, "session_mutated": 1, "knowledge_remembered": 10, "artifact_stored": 0, "graph_built": 0, "proof_added": 1,
	}
	if fmt.Sprint(sum.EventCountsByKind) != fmt.Sprint(wantCounts) {
		t.Errorf("counts %v", sum.EventCountsByKind)
	}
	n := len(sum.RecentDecisions)
	if n != 10 || sum.RecentDecisions[n-1].Tool != "ctx_session" || *sum.RecentDecisions[0].Agent != "b" ||
		*sum.RecentDecisions[0].Reasoning != "because" || sum.RecentDecisions[0].Timestamp != "2026-05-05T13:31:00.000Z" {
		t.Errorf("decisions of %s", raw)
	}
	if len(sum.KnowledgeDelta) != 10 || sum.KnowledgeDelta[0].Key != "old" {
		t.Errorf("delta of %s", raw)
	}
	alert := schema.ConflictAlert{Category: "architecture", Key: "auth", Agents: []string{"a", "b"}}
	if fmt.Sprint(sum.ConflictAlerts) != fmt.Sprint([]schema.ConflictAlert{alert}) {
		t.Errorf("alerts of %s", raw)
	}
	few, err := l.Summary(t.Context(), "w", "c", 3, Full) // cache, a call, the session
	must(t, err)
	if few.TotalEvents != 15 || len(few.RecentDecisions) != 2 || len(few.KnowledgeDelta) != 1 || len(few.ConflictAlerts) != 0 {
		t.Errorf("of 3: %+v", few)
	}
}

// E11.
func TestE11Lineage(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	for n := range int64(60) {
		d := call("c", 1)
		if n > 0 {
			d.Parent = &n
		}
		l.add(t, d)
	}
	foreign := call("c", 1)
	foreign.Workspace, foreign.Parent = "W", new(int64(60))
	self := call("c", 1)
	self.Parent = new(int64(62))
	l.add(t, foreign, self)
	for _, c := range []struct {
		workspace string
		id        int64
		depth     int
		want      int
		last      int64
	}{
		{"w", 3, 0, 3, 1}, {"w", 60, 0, DefaultDepth, 41}, {"w", 60, 5, 5, 56}, {"w", 60, 1000, MaxDepth, 11}, {"w", 1, 0, 1, 1},
		{"w", 99, 0, 0, 0}, {"w", 0, 0, 0, 0}, {"w", 61, 0, 0, 0}, {"W", 60, 0, 0, 0}, {"W", 61, 0, 1, 61}, {"w", 62, 0, 1, 62}, {"", 1, 0, 0, 0},
	} {
		chain, err := l.Lineage(t.Context(), c.workspace, c.id, c.depth)
		must(t, err)
		if chain == nil || len(chain) != c.want || (c.want > 0 && (chain[0].ID != c.id || chain[c.want-1].ID != c.last || chain[0].Channel != "c")) {
			t.Errorf("%+v: %v", c, ids(chain))
		}
	}
}

// The kinds of the contract are those of the log.
func TestKinds(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`^[a-z_]+$`)
	for kind, row := range kinds {
		if !word.MatchString(string(kind)) || row.Kind != kind || consistency(kind) != row.Consistency {
			t.Errorf("%s: %+v", kind, row)
		}
	}
}
