package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
)

const mark = "MARKED"

// payloadKeys are all that the contract speaks of, and some that it does not.
var payloadKeys = []string{
	"tool", "kind", "event_kind", "workspace_id", "channel_id", "id", "action", "path", "category", "key", "reasoning", "outcome",
	"callId", "content", "file_content", "result", "output", "session_data", "knowledge_value", "arguments", "redacted", "Tool",
	"tool ", "tool\n", "x", "", "a\"b", "föö",
}

// randomPayload gives a JSON object with marked values of every shape, and the keys in it. What is sensitive, or no reference,
// is marked.
func randomPayload(rnd *rand.Rand) (raw []byte, keys map[string]bool) {
	keys = map[string]bool{}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, k := range payloadKeys {
		if rnd.IntN(2) == 0 {
			continue
		}
		if len(keys) > 0 {
			b.WriteByte(',')
		}
		keys[k] = true
		quoted, _ := json.Marshal(k) // a string has JSON
		if rnd.IntN(4) == 0 {        // the same key in other letters
			quoted = []byte(`"`)
			for _, u := range k {
				quoted = fmt.Appendf(quoted, `\u%04x`, u)
			}
			quoted = append(quoted, '"')
		}
		value := mark
		if isRef(k) {
			value = "fine"
		}
		fmt.Fprintf(&b, []string{
			`%s:"%s"`, `%s : "a\"}%s\\"`, `%s:{"deep":["%s",{"tool":"` + value + `"}]}`, `%s:[1,-2.5e3,null,true,"%s"]`,
		}[rnd.IntN(4)], quoted, value)
	}
	b.WriteByte('}')
	return b.Bytes(), keys
}

func TestRedactionProperty(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		raw, keys := randomPayload(rnd)
		if !json.Valid(raw) {
			t.Fatalf("bad test: %s", raw)
		}
		e := Event{ID: 1, Workspace: "w", Channel: "c", Kind: catalog.EventProofAdded, Version: 1, Payload: raw}
		shown := map[Level]map[string]json.RawMessage{}
		for level := RefsOnly; level <= Full; level++ {
			var out struct{ Payload map[string]json.RawMessage }
			text := e.JSON(level)
			if err := json.Unmarshal(text, &out); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if level == RefsOnly && bytes.Contains(text, []byte(mark)) {
				t.Fatalf("%s\nshows  %s", raw, text)
			}
			shown[level] = out.Payload
		}
		want := map[string]bool{"redacted": true}
		for k := range keys {
			if isRef(k) {
				want[k] = true
			}
		}
		sameKeys(t, shown[RefsOnly], want)
		sameKeys(t, shown[Summary], keys)
		for k, v := range shown[Summary] {
			if isSensitive(k) {
				if string(v) != `"[redacted]"` {
					t.Fatalf("%s is %s", k, v)
				}
			} else if !bytes.Equal(v, shown[Full][k]) {
				t.Fatalf("%s is %s, was %s", k, v, shown[Full][k])
			}
		}
		if !bytes.Contains(e.JSON(Full), raw) {
			t.Fatalf("full is not as stored: %s", e.JSON(Full))
		}
	}
}

func sameKeys(t *testing.T, got map[string]json.RawMessage, want map[string]bool) {
	t.Helper()
	if !maps.EqualFunc(got, want, func(json.RawMessage, bool) bool { return true }) {
		t.Fatalf("keys %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// The examples of the contract.
func TestContractExamples(t *testing.T) {
	t.Parallel()
	full := `{"tool":"ctx_read","kind":"tool_call_recorded","workspace_id":"ws1","content":"use std","arguments":{"path":"src/main.rs"}}`
	for level, want := range map[Level]string{
		RefsOnly: `{"tool":"ctx_read","kind":"tool_call_recorded","workspace_id":"ws1","redacted":true}`,
		Summary:  `{"tool":"ctx_read","kind":"tool_call_recorded","workspace_id":"ws1","content":"[redacted]","arguments":"[redacted]"}`,
		Full:     full,
	} {
		if got := string(level.appendPayload(nil, []byte(full))); got != want {
			t.Errorf("%v: %s", level, got)
		}
		if l, ok := ParseLevel(level.String()); l != level || !ok {
			t.Errorf("%v is not its own name", level)
		}
	}
	if l, ok := ParseLevel("all"); l != RefsOnly || ok {
		t.Errorf("all is %v", l)
	}
	for _, bad := range []string{``, `[]`, `{"tool"`, `{"tool":`, `{"tool":"x"`, `{"a":}`, `{"content":"MARKED"`, `nul`} {
		for _, level := range []Level{RefsOnly, Summary, -1} {
			if got := string(level.appendPayload(nil, []byte(bad))); got != `{"redacted":true}` {
				t.Errorf("%s at %v: %s", bad, level, got)
			}
		}
	}
}

// Without the scope events nobody learns what was done, on any way out of the log.
func TestNothingMarkedAtRefsOnly(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	text := mark
	for _, kind := range []catalog.EventKind{catalog.EventKnowledgeRemembered, catalog.EventSessionMutated} {
		for _, actor := range []string{"a", "b"} {
			l.add(t, Draft{Workspace: "w", Channel: "c", Kind: kind, Actor: &actor, Payload: Payload{
				Tool: "ctx_knowledge", Action: &text, Path: mark, Category: mark, Key: mark, Reasoning: &text, Outcome: mark,
				ErrorCode: mark, CallID: mark, Capability: mark, Arguments: []byte(`{"` + mark + `":"` + mark + `"}`), ContentHash: mark,
			}})
		}
	}
	sum, err := l.Summary(t.Context(), "w", "c", 0, RefsOnly)
	must(t, err)
	raw, err := json.Marshal(sum)
	must(t, err)
	out := string(raw)
	for _, e := range l.all(t, "c") {
		out += string(e.JSON(RefsOnly))
	}
	events, _, err := l.Search(t.Context(), SearchQuery{Workspace: "w", Text: mark})
	must(t, err)
	if strings.Contains(out, mark) || len(events) > 0 {
		t.Errorf("%d found; shown %s", len(events), out)
	}
	if len(sum.RecentDecisions) != 4 || len(sum.ActiveAgents) != 2 {
		t.Errorf("the summary says %s", raw)
	}
}

// FuzzMembers compares the scanner with encoding/json.
func FuzzMembers(f *testing.F) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		raw, _ := randomPayload(rnd)
		f.Add(raw)
	}
	f.Add([]byte(`{"a":}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := map[string]json.RawMessage{}
		ok := members(raw, func(key, value []byte) { got[string(key)] = value })
		appendStrings(nil, raw, true)
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil || want == nil {
			return // payloads are written by us: that it neither panics nor hangs is enough
		}
		if !ok {
			t.Fatalf("%s is no object", raw)
		}
		for k, v := range want {
			if strings.Contains(k, "\uFFFD") {
				return // encoding/json has mended the key
			}
			if !bytes.Equal(bytes.TrimSpace(v), got[k]) {
				t.Fatalf("%s: %q is %s, want %s", raw, k, got[k], v)
			}
		}
	})
}
