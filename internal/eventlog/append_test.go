package eventlog

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

func TestStoredAsAppended(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	full := call("c", 7)
	full.Kind, full.Parent = catalog.EventKnowledgeRemembered, new(int64(1))
	full.Payload.Action, full.Payload.Reasoning = new("remember"), new("line\nbreak \"quoted\" \\ \x00 \xff é")
	full.Payload.Category, full.Payload.Key, full.Payload.ErrorCode = "architecture", "auth", "tool_error"
	bare := Draft{Workspace: "w", Channel: "c", Kind: catalog.EventGraphBuilt}
	want := l.add(t, call("c", 1), full, bare)
	got := l.all(t, "c")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if s := string(got[2].Payload); s != `{"action":null,"reasoning":null}` {
		t.Errorf("bare payload %s", s)
	}
	tail, err := l.Tail(t.Context(), Query{Workspace: "w", Channel: "c", Limit: 2})
	must(t, err)
	if !reflect.DeepEqual(tail, want[1:]) {
		t.Errorf("tail %v", ids(tail))
	}
	one, err := l.Page(t.Context(), Query{Workspace: "w", Channel: "c", Kinds: []catalog.EventKind{catalog.EventGraphBuilt}})
	must(t, err)
	if !reflect.DeepEqual(one, want[2:]) {
		t.Errorf("filtered %v", ids(one))
	}
	if l.Appended() != 3 {
		t.Errorf("%d appended", l.Appended())
	}
}

// Case 28, and the grammar of A3: what nobody could be given is not stored.
func TestRefusedDrafts(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	for name, spoil := range map[string]func(*Draft){
		"no workspace": func(d *Draft) { d.Workspace = "" },
		"no channel":   func(d *Draft) { d.Channel = "" },
		"dots":         func(d *Draft) { d.Workspace = ".." },
		"slash":        func(d *Draft) { d.Channel = "a/b" },
		"long":         func(d *Draft) { d.Channel = strings.Repeat("a", 65) },
		"kind":         func(d *Draft) { d.Kind = "made_up" },
		"parent":       func(d *Draft) { d.Parent = new(int64(0)) },
		"arguments":    func(d *Draft) { d.Payload.Arguments = json.RawMessage(`{"a":`) },
	} {
		d := call("c", 1)
		spoil(&d)
		err := l.s.Write(t.Context(), func(tx *store.Tx) error {
			_, err := l.Append(tx, d)
			return err
		})
		if want := catalog.InvalidRequest; !fault.Is(err, want) && (name != "arguments" || err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, q := range []Query{{Channel: "c"}, {Workspace: "w"}, {Workspace: "w", Channel: "c", Kinds: []catalog.EventKind{"x"}}} {
		if _, err := l.Page(t.Context(), q); !fault.Is(err, catalog.InvalidRequest) {
			t.Errorf("page of %+v: %v", q, err)
		}
		if err := l.Follow(t.Context(), q, Full, nil); !fault.Is(err, catalog.InvalidRequest) {
			t.Errorf("follow of %+v: %v", q, err)
		}
	}
	if got := l.add(t, call("c", 1))[0]; got.ID != 1 || got.Version != 1 {
		t.Errorf("the refused ones used up id %d, version %d", got.ID, got.Version)
	}
}

func TestLongArgumentsAreHashed(t *testing.T) {
	t.Parallel()
	encode := func(arguments string) (out struct {
		Arguments     json.RawMessage
		ArgumentsHash string
	}) {
		raw, err := Payload{Arguments: json.RawMessage(arguments)}.encode()
		must(t, err)
		must(t, json.Unmarshal(raw, &out))
		return out
	}
	long := `"` + strings.Repeat("x", MaxArguments-2) + `"`
	if got := encode(long); string(got.Arguments) != long || got.ArgumentsHash != "" {
		t.Errorf("%d bytes became %+v", len(long), got)
	}
	if got := encode(long + " "); got.Arguments != nil || len(got.ArgumentsHash) != 64 {
		t.Errorf("%d bytes became %+v", len(long)+1, got)
	}
}

// Versions have no hole and no repeat, ids rise in the order of the commits, and neither is used up by jobs that fail.
func TestE3Versions(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	boom := errors.New("boom")
	stored := map[string]int{}
	for range 300 {
		n, fails := rnd.IntN(4), rnd.IntN(3) == 0
		channels := make([]string, n)
		for i := range channels {
			channels[i] = string(rune('a' + rnd.IntN(3)))
		}
		writes := rnd.IntN(2) == 0
		must(t, l.s.Queue(func(tx *store.Tx) error {
			for _, c := range channels {
				if _, err := l.Append(tx, call(c, 1)); err != nil {
					return err
				}
				if writes {
					if _, err := tx.Exec("UPDATE store_probe SET at = at + 1"); err != nil {
						return err
					}
				}
			}
			if fails {
				return boom
			}
			return nil
		}))
		if !fails {
			for _, c := range channels {
				stored[c]++
			}
		}
		if rnd.IntN(20) == 0 {
			must(t, l.s.Flush(t.Context()))
		}
	}
	var every []int64
	for c, n := range stored {
		events := l.all(t, c)
		if len(events) != n {
			t.Errorf("%s has %d events, want %d", c, len(events), n)
		}
		gapless(t, events)
		every = append(every, ids(events)...)
	}
	slices.Sort(every)
	for i, id := range every {
		if id != int64(i+1) {
			t.Fatalf("id %d at place %d", id, i)
		}
	}
	sum, err := l.Summary(t.Context(), "w", "a", 0, Full)
	must(t, err)
	if sum.TotalEvents != stored["a"] {
		t.Errorf("the total is %d, want %d", sum.TotalEvents, stored["a"])
	}
}

// gapless checks the versions of a whole stream, and that ids rise.
func gapless(t testing.TB, events []Event) {
	t.Helper()
	last := int64(0)
	for i, e := range events {
		if e.Version != int64(i+1) || e.ID <= last {
			t.Fatalf("event %d has id %d after %d and version %d", i, e.ID, last, e.Version)
		}
		last = e.ID
	}
}

// Reads have what this process queued before (E2), also when nobody waited for it.
func TestE2ReadsWaitForQueued(t *testing.T) {
	t.Parallel()
	l := openTemp(t)
	for n := 1; n <= 30; n++ {
		l.queue(t, call("c", n))
		if got := l.all(t, "c"); len(got) != n {
			t.Fatalf("%d events after %d", len(got), n)
		}
	}
	begun := time.Now()
	if e := l.add(t, call("d", 1))[0]; e.Time.Before(begun.Truncate(time.Millisecond)) || e.Time.Location() != time.UTC {
		t.Errorf("time %v", e.Time)
	}
}
