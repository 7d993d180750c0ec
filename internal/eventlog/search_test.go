package eventlog

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// corpus appends a few events, each with its text in the reasoning, and one with it in the arguments.
func corpus(t testing.TB, l *Log) {
	var drafts []Draft
	for _, text := range []string{
		"tolerance of 38.101 microns",       // 1
		"a multi-agent plan",                // 2
		"see src/main.go and ctx_read",      // 3
		"the conformance-probe ran",         // 4
		"main entry, agent of one",          // 5
		"Überprüfung naïve 日本語 テスト",         // 6
		"alpha beta gamma",                  // 7
		"beta alpha",                        // 8
		"quotes \"inside\" and a\\b and %_", // 9
	} {
		drafts = append(drafts, Draft{
			Workspace: "w", Channel: "c", Kind: catalog.EventSessionMutated,
			Payload: Payload{Tool: "ctx_session", Reasoning: &text},
		})
	}
	sealed := Draft{
		Workspace: "w", Channel: "d", Kind: catalog.EventToolCallRecorded, // 10
		Payload: Payload{Tool: "ctx_search", Arguments: []byte(`{"pattern":"needle","deep":{"in":["haystack\u0021"]},"n":41.75}`)},
	}
	foreign := drafts[0]
	foreign.Workspace = "W" // 11: the ids differ in nothing but case
	l.add(t, append(drafts, sealed, foreign)...)
}

func find(t testing.TB, l *Log, q SearchQuery) []int64 {
	t.Helper()
	if q.Workspace == "" {
		q.Workspace = "w"
	}
	events, _, err := l.Search(t.Context(), q)
	if err != nil {
		t.Errorf("%q: %v", q.Text, err)
	}
	for _, e := range events {
		if e.Workspace != q.Workspace || (q.Channel != nil && e.Channel != *q.Channel) {
			t.Errorf("%q found %+v", q.Text, e)
		}
	}
	return ids(events)
}

// Case 16 and E10.
func TestE10SearchGrammar(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	corpus(t, l)
	for text, want := range map[string][]int64{
		"38.101": {1}, "38": {1}, "101": {1}, "multi-agent": {2}, "agent": {2, 5}, "src/main.go": {3}, "main": {3, 5},
		"ctx_read": {3}, "read": {3}, "conformance-probe": {4}, "probe": {4}, "CONFORMANCE": {4}, "uberprufung": {6},
		"日本語": {6}, "日*": {6}, "alpha beta": {7, 8}, `"alpha beta"`: {7}, "alph*": {7, 8}, `"beta al"*`: {8}, "alpha -gamma": {8},
		"gamma OR probe": {4, 7}, "alpha gamma OR probe": {4, 7}, `-"beta alpha" alpha`: {7}, "OR alpha gamma OR": {7},
		"alpha OR OR gamma": {7, 8}, "inside": {9}, `a\b`: {9}, `"quotes \"inside`: {9},
		// What means something elsewhere means nothing here.
		"a AND": {9}, "alpha AND gamma": nil, "NEAR(alpha beta)": nil, "alpha NOT gamma": nil, "detail:alpha": nil,
		"scope:w77": nil, "{refs}:alpha": nil, "'": nil, "^alpha": {7, 8}, "alpha;--": {7, 8}, "a:b": {9}, `"x`: nil, "-x": nil, "-alpha": nil,
		"*": nil, "(": nil, `"`: nil, `""`: nil, "-": nil, "--": nil, "()": nil, "* * *": nil, "+ alpha": {7, 8}, "\x00alpha\x00gamma": {7},
		strings.Repeat("(", 2000): nil, strings.Repeat("( ", 2000): nil, "a\xffb": {9}, "OR": nil, `"OR"`: nil, "-OR": nil,
		// Keys are not searched, values of every depth are.
		"pattern": nil, "needle": {10}, "haystack": {10}, "41.75": {10}, "reasoning": nil, "session_mutated": {1, 2, 3, 4, 5, 6, 7, 8, 9},
	} {
		got := find(t, l, SearchQuery{Text: text, Level: Full})
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%.40q found %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "  \t\n", strings.Repeat("x", MaxSearchText+1), strings.Repeat("a ", 65), strings.Repeat("a.", 65)} {
		if _, _, err := l.Search(t.Context(), SearchQuery{Workspace: "w", Text: text}); !fault.Is(err, catalog.InvalidRequest) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, _, err := l.Search(t.Context(), SearchQuery{Text: "a"}); !fault.Is(err, catalog.InvalidRequest) {
		t.Errorf("without a workspace: %v", err)
	}
}

// E8: text that the caller may not see is not searched, not even to leave something out.
func TestSearchSeesWhatItsCallerSees(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	corpus(t, l)
	for _, c := range []struct {
		text  string
		level Level
		want  int
	}{
		{"needle", Full, 1}, {"needle", Summary, 0}, {"needle", RefsOnly, 0}, {"ctx_search -needle", Full, 0},
		{"ctx_search -needle", Summary, 1}, {"probe", Summary, 1}, {"probe", RefsOnly, 0}, {"ctx_session -probe", RefsOnly, 9},
		{"ctx_session -probe", Summary, 8}, {"ctx_search", RefsOnly, 1}, {"session_mutated", RefsOnly, 9},
		{"w77", Full, 0}, {"s1", Full, 0}, // the terms of the scope
	} {
		if got := find(t, l, SearchQuery{Text: c.text, Level: c.level}); len(got) != c.want {
			t.Errorf("%q at %v found %v, want %d", c.text, c.level, got, c.want)
		}
	}
	if got := find(t, l, SearchQuery{Workspace: "W", Text: "38.101", Level: Full}); !slices.Equal(got, []int64{11}) {
		t.Errorf("W holds %v", got)
	}
	for channel, want := range map[string]int{"c": 9, "d": 0, "nowhere": 0} {
		if got := find(t, l, SearchQuery{Text: "ctx_session", Channel: &channel}); len(got) != want {
			t.Errorf("%s holds %v", channel, got)
		}
	}
}

// Best first, then newest; truncated when there was more; complete also for what was just committed or only queued.
func TestSearchOrder(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	note := func(text string) Draft {
		return Draft{Workspace: "w", Channel: "c", Kind: catalog.EventProofAdded, Payload: Payload{Reasoning: &text}}
	}
	l.add(t, note("apple "+strings.Repeat("filler ", 50)), note("apple"), note("apple"), note("apple apple apple"))
	if got := find(t, l, SearchQuery{Text: "apple", Level: Full}); !slices.Equal(got, []int64{4, 3, 2, 1}) {
		t.Errorf("order %v", got)
	}
	for limit, more := range map[int]bool{3: true, 4: false} {
		_, truncated, err := l.Search(t.Context(), SearchQuery{Workspace: "w", Text: "apple", Level: Full, Limit: limit})
		must(t, err)
		if truncated != more {
			t.Errorf("limit %d: truncated %v", limit, truncated)
		}
	}
	for n := range 700 {
		l.queue(t, note("pear"))
		if n%100 == 0 {
			if got, _, err := l.Search(t.Context(), SearchQuery{Workspace: "w", Text: "pear", Level: Full}); len(got) != min(n+1, DefaultSearchLimit) {
				t.Errorf("%d of %d are found, %v", len(got), n+1, err)
			}
		}
	}
	got, truncated, err := l.Search(t.Context(), SearchQuery{Workspace: "w", Text: "pear", Level: Full, Limit: 1000})
	if len(got) != MaxSearchLimit || !truncated || err != nil {
		t.Errorf("%d results, truncated %v, %v", len(got), truncated, err)
	}
}

// The index follows by itself when nobody writes, and a payload that is no JSON does not stop it.
func TestIndexFollows(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	must(t, l.s.Write(t.Context(), func(tx *store.Tx) error {
		if _, err := l.Append(tx, call("c", 1)); err != nil {
			return err
		}
		_, err := l.Append(tx, call("c", 2))
		return err
	}))
	must(t, l.s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec("UPDATE event SET payload = CAST('{\"tool\":' AS BLOB) WHERE id = 1")
		return err
	}))
	for indexed := int64(0); indexed < 2; {
		committed := l.s.Committed()
		must(t, l.s.Read(t.Context(), func(r *store.Reader) error {
			return r.QueryRow("SELECT indexed_id FROM event_log").Scan(&indexed)
		}))
		if indexed < 2 {
			<-committed
		}
	}
	if got := find(t, l, SearchQuery{Text: "file2.go", Level: Full}); !slices.Equal(got, []int64{2}) {
		t.Errorf("found %v", got)
	}
}

// Whatever a user types, nothing but a bad request comes of it.
func FuzzSearch(f *testing.F) {
	l := openTemp(f)
	corpus(f, l)
	for _, seed := range []string{
		"multi-agent", "a:b", `"x`, "a AND", "*", "(", "'", "NEAR(", "^", "-x", "38.101", strings.Repeat("(", 2000), "a OR", "OR OR",
		`"a" "b"* -"c`, "{refs} : x", "x\x00y", "\xff", "a\u0301", "\U000e0001", `""""`, "- - -", "日本語*", strings.Repeat("a*", 40),
	} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, text string, level int) {
		_, _, err := l.Search(t.Context(), SearchQuery{Text: text, Workspace: "w", Level: Level(level)})
		if err != nil && !fault.Is(err, catalog.InvalidRequest) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
