package doc

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOrderAndScalarsSurvive(t *testing.T) {
	t.Parallel()
	const in = `{"b": 1, "a": {"z": [1.50, true, null], "y": "é<\n"}, "c": []}`
	v, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(Compact(v)), `{"b":1,"a":{"z":[1.50,true,null],"y":"é<\n"},"c":[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDuplicateMembersAndAnchorsAreRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{"a":1,"a":2}`, "a: &x 1\nb: *x\n", "a: 1\n---\nb: 2\n: :"} {
		if v, err := Parse([]byte(in)); err == nil {
			t.Errorf("%q was read as %v", in, v)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	v, err := Parse([]byte(`{"a/b": [{"~": 7}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := At(v, "/a~1b/0/~0")
	if err != nil || got != json.Number("7") {
		t.Errorf("got %v, %v", got, err)
	}
	for _, p := range []string{"/x", "/a~1b/1", "/a~1b/0/~0/deeper"} {
		if v, err := At(v, p); err == nil {
			t.Errorf("%s gave %v", p, v)
		}
	}
}

// What Marshal writes, the standard library reads as the same value, and Parse writes again byte by byte.
func TestMarshalRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := value(t, 3)
		first := Marshal(v)
		if !json.Valid(first) {
			t.Fatalf("not JSON: %s", first)
		}
		again, err := Parse(first)
		if err != nil {
			t.Fatalf("%v in %s", err, first)
		}
		if second := Marshal(again); string(second) != string(first) {
			t.Fatalf("%s became %s", first, second)
		}
	})
}

func value(t *rapid.T, depth int) any {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.StringMatching(`[ -~é世\n\t]{0,12}`).Draw(t, "string")
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return nil
	case 3:
		return json.Number(rapid.StringMatching(`-?[1-9][0-9]{0,8}`).Draw(t, "number"))
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			list = append(list, value(t, depth-1))
		}
		return list
	default:
		o := NewObject()
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			o.Set(strings.ToLower(rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "key")), value(t, depth-1))
		}
		return o
	}
}
