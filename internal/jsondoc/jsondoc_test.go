package jsondoc

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", " ", "{", "[", `"`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, "\"\n\"", "\"\x00\"", "\"\xff\"", `"\ud800"`, `"\ud800\u0041"`, `"\udc00"`,
		"tru", "nul", "-", "01", "1.", "1e", "1e+", ".5", "+1", "NaN", "Infinity", "1 2", "{} x", "[1,]", "[,1]", "[1 2]",
		`{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"x":{"a":1,"a":1}}`,
		strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2), "\ufeff{}",
		"1e309", "-1e400", "1.8e308", strings.Repeat("9", 310), "1e401", "1e-401", "1e99999999999999999999", strings.Repeat("1", maxNumber+1), "0." + strings.Repeat("0", maxNumber),
	} {
		v, err := Decode([]byte(in))
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%q gave %v, %v", in, v, err)
		}
	}
}

// An error says in which member or element it lies, by the outermost names.
func TestSyntaxErrorIn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 500)
	for in, want := range map[string]string{
		`{"a":{"b/~":[1,{"c":"\ud800"}]}}`: "/a/b~1~0/1/c", `[1,}`: "/1", `{"a":1,"a":2}`: "", `{"x":{"a":1,"a":2}}`: "/x", `{"a":`: "/a", `"`: "", `{"path":` + strings.Repeat("[", 10_000): "/path/0/0",
		`{"` + long + `":nul}`: "/éé",
	} {
		_, err := Decode([]byte(in))
		var e *SyntaxError
		if !errors.As(err, &e) || !strings.HasPrefix(e.In, want) || want == "" && e.In != "" || len(e.In) > 120 || !utf8.ValidString(e.In) {
			t.Errorf("%.100s: %+v", in, e)
		}
		if want != "" && !strings.Contains(err.Error(), " in "+want) {
			t.Errorf("%.100s: %v", in, err)
		}
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"null", "true", " [ ] ", "{}", "-0", "0.5e-7", "12345678901234567890123", "1e308", "1e-400", "1.7976931348623157e308", "5e-324", strings.Repeat("1", 309), "0." + strings.Repeat("1", maxNumber-2), `"\u0000\ud83d\ude00\/"`, `"é\n"`, `{"":{"":[[],{}]}}`,
		strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
	} {
		got, err := Decode([]byte(in))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if want := standard(t, in); !reflect.DeepEqual(got, want) {
			t.Errorf("%q gave %#v, want %#v", in, got, want)
		}
	}
}

func standard(t *testing.T, in string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(in))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The vectors of the fingerprint (actions.md, "Idempotency").
func TestCanonicalVectors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"transaction":null,"input":{"starts_at":"2026-01-02T03:04:05Z"},"capability_id":"cap:calendar:booking:create"}`: "d395208ac348d2e649f0a3814b0e48953724a7ab86e40b1b7c10a39e3351119d",
		`{"capability_id":"cap:x","input":{"b":1,"a":"\u00e9<"},"transaction":{"plan_id":"plan:p1","mode":"commit"}}`:     "467f3299a8d98d4fbe141d3527d50a010fd1f6b8a0baae64e3b30cf083c3882d",
		` { "input" : {"a":"é<", "b": 1}, "capability_id": "cap:x" } `:                                                    "15544005dd55f6730263d50a3f424fe1ef33b2dbd815fad9668772c69755c9c0",
	} {
		v, err := Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(Canonical(v))); got != want {
			t.Errorf("%s hashes to %s, want %s", Canonical(v), got, want)
		}
	}
}

func TestCanonicalGoValues(t *testing.T) {
	t.Parallel()
	v := map[string]any{"i": 1, "l": int64(-2), "f": 1.0, "g": 1e300, "s": []string{"a", "\x01"}, "n": nil, "b": true}
	if got, want := string(Canonical(v)), `{"b":true,"f":1.0,"g":1e+300,"i":1,"l":-2,"n":null,"s":["a","\u0001"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Decode takes what the standard library takes, but for doubled members, broken text and depth; and what it takes, Canonical
// writes so that it is read as the same again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9"],"b":null}`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, "[[[[", `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Decode(data)
		if err != nil {
			if json.Valid(data) && utf8.Valid(data) && plain(data) {
				t.Fatalf("%q is refused: %v", data, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is taken", data)
		}
		if want := standard(t, string(data)); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q gave %#v, want %#v", data, got, want)
		}
		once := Canonical(got)
		again, err := Decode(once)
		if err != nil || !reflect.DeepEqual(got, again) || !bytes.Equal(once, Canonical(again)) {
			t.Fatalf("%q became %q", data, once)
		}
	})
}

// plain says that a document has nothing that Decode refuses beyond the standard: no object, no escape, no great depth.
func plain(data []byte) bool {
	return !bytes.ContainsAny(data, `{\`) && bytes.Count(data, []byte("[")) < MaxDepth
}

func BenchmarkDecode(b *testing.B) {
	in := []byte(`{"name":"ctx_read","arguments":{"path":"src/main.go","mode":"full","max_tokens":2000},"workspaceId":"default"}`)
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if _, err := Decode(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("standard", func(b *testing.B) {
		for b.Loop() {
			var v any
			if err := json.Unmarshal(in, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
