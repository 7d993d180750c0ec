package setup_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/internal/setup"
)

// writer makes documents up.
type writer struct {
	t   *rapid.T
	end string
}

func (w writer) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(w.t, label)
}

func (w writer) number(label string, most int) int { return rapid.IntRange(0, most).Draw(w.t, label) }

// space is what may stand between two tokens of JSON with comments.
func (w writer) space() string {
	var out strings.Builder
	for range w.number("spaces", 3) {
		switch w.number("space", 7) {
		case 0, 1:
			out.WriteString(" ")
		case 2:
			out.WriteString("\t")
		case 3, 4, 5:
			out.WriteString(w.end + w.pick("indent", "", "  ", "\t", "    "))
		case 6:
			out.WriteString(w.pick("block", "/**/", "/* a */", "/* // \" */", "/*\n{ */", "/* ключ */"))
		case 7:
			out.WriteString(w.pick("line", "//", "// a", "// \"ctxd\": {}", "// */ }") + w.end)
		}
	}
	return out.String()
}

func (w writer) text() string {
	return w.pick("text", `"a"`, `"b"`, `"\u0061"`, `"日本"`, `"// \" /*"`, `"ctxd"`, `"context_servers"`, `"\\"`, `""`)
}

func (w writer) value(depth int) string {
	switch kind := w.number("kind", 7); {
	case kind == 0 && depth > 0:
		return w.list("[", "]", func() string { return w.value(depth - 1) })
	case kind <= 2 && depth > 0:
		return w.object(depth-1, nil)
	case kind <= 4:
		return w.text()
	}
	return w.pick("scalar", "null", "true", "false", "0", "-1.5e3", "12345678901234567890")
}

func (w writer) list(open, shut string, item func() string) string {
	out := open
	n := w.number("items", 3)
	for i := range n {
		out += w.space() + item() + w.space()
		if i < n-1 || rapid.Bool().Draw(w.t, "comma") {
			out += ","
		}
	}
	return out + w.space() + shut
}

// object writes members with the names given, or with some.
func (w writer) object(depth int, special func() string) string {
	seen := map[string]bool{}
	return w.list("{", "}", func() string {
		if special != nil && !seen["special"] && w.number("special", 2) > 0 {
			seen["special"] = true
			return special()
		}
		name := fmt.Sprintf(`"%s%d"`, w.pick("name", "a", "ключ", `\u0041`, "🦀", `\"`), len(seen))
		seen[name] = true
		return name + w.space() + ":" + w.space() + w.value(depth)
	})
}

func anyJSON(t *rapid.T) []byte {
	w := writer{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")}
	mark := w.pick("mark", "", "", "\ufeff")
	if w.number("blank", 9) == 0 {
		return []byte(mark + w.space())
	}
	return []byte(mark + w.space() + w.object(2, func() string {
		return `"context_servers"` + w.space() + ":" + w.space() + w.object(2, nil)
	}) + w.space())
}

// line is a pair of TOML, with a value of any type.
func (w writer) line(name string) string {
	value := w.pick("value", `"a"`, `'b'`, "1", "1.5", "true", "1979-05-27T07:32:00Z", "[]", "[ 1, 2 ]", `{ a = 1, b = { c = "}" } }`,
		`"[mcp_servers.ctxd]"`, `"""`+"\n[mcp_servers.ctxd]\n"+`"""`, "'''\n[x]\n# '''", "["+w.end+" \"#\", # ]"+w.end+"]", `"\u0061\""`)
	return name + w.pick("equals", "=", " = ", "\t=  ") + value + w.remark()
}

func (w writer) remark() string { return w.pick("remark", "", "", " ", " # a", "# [mcp_servers.ctxd]") }

func anyTOML(t *rapid.T) []byte {
	w := writer{t, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")}
	lines := []string{}
	body := func(at int) {
		for i := range w.number("lines", 3) {
			switch w.number("line", 4) {
			case 0:
				lines = append(lines, w.pick("empty", "", " ", "\t"))
			case 1:
				lines = append(lines, w.pick("comment", "# a", "  # [mcp_servers.ctxd]", "#"))
			default:
				lines = append(lines, w.pick("indent", "", "  ", "\t")+w.line(fmt.Sprintf(w.pick("key", "k%d_%d", `"k %d.%d"`, "k%d.x%d"), at, i)))
			}
		}
	}
	body(0)
	for i := range w.number("tables", 4) {
		header := w.pick("header", "[t%d]", "[[t%d]]", "[ t%d . \"a b\" ]", "[mcp_servers.s%d]", "[mcp_servers.s%d.env]", "[\"mcp_servers\".'s %d']")
		lines = append(lines, w.pick("indent", "", "  ")+fmt.Sprintf(header, i)+w.remark())
		body(i + 1)
	}
	return []byte(w.pick("mark", "", "", "\ufeff") + strings.Join(lines, w.end) + w.pick("last", "", w.end, w.end+w.end))
}

// What an edit puts in, and nothing else, it takes out again.
func TestEntriesComeAndGo(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]func(*rapid.T) []byte{"zed": anyJSON, "codex": anyTOML} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := setup.Find(name)
			rapid.Check(t, func(t *rapid.T) {
				doc := document(t)
				parse(t, c, doc) // what is made up has to be right
				out, change, err := c.Put(doc, entry, false)
				if err != nil || change != setup.Added {
					t.Fatalf("%s, %v:\n%s", change, err, doc)
				}
				judge(t, c, doc, out, change)
				rest, _, err := c.Take(out, entry, false)
				if err != nil {
					t.Fatal(err)
				}
				again, _, err := c.Put(rest, entry, false)
				if err != nil {
					t.Fatal(err)
				}
				if last, _, err := c.Take(again, entry, false); err != nil || !bytes.Equal(last, rest) {
					t.Fatalf("%v: %q, was %q", err, last, rest)
				}
			})
		})
	}
}

// Another folder, and a foreign entry that is forced out, leave the rest as it is too.
func TestEntriesAreReplaced(t *testing.T) {
	t.Parallel()
	other := setup.NewEntry("/usr/local/bin/ctxd", "/other \"place\"\t\x7f日")
	foreign := setup.Entry{Command: "docker", Args: []string{"run"}}
	for name, document := range map[string]func(*rapid.T) []byte{"vscode": anyJSON, "codex": anyTOML} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := setup.Find(name)
			rapid.Check(t, func(t *rapid.T) {
				doc := document(t)
				for _, e := range []setup.Entry{other, foreign} {
					first, _, err := c.Put(doc, e, false)
					if err != nil {
						t.Fatal(err)
					}
					out, change, err := c.Put(first, entry, true)
					if err != nil || change != setup.Updated {
						t.Fatalf("%s, %v:\n%s", change, err, first)
					}
					if got, want := parse(t, c, out), withEntry(t, c, parse(t, c, doc), entry); !reflect.DeepEqual(got, want) {
						t.Fatalf("decodes to %v\nwant %v", got, want)
					}
					if direct, _, err := c.Put(doc, entry, false); err != nil || !bytes.Equal(direct, out) {
						t.Fatalf("%v:\n%s\nwant\n%s", err, out, direct)
					}
				}
			})
		})
	}
}

func FuzzJSON(f *testing.F) {
	for _, seed := range seeds(f, "testdata/*/*.json") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc []byte) { anyDocument(t, setup.Find("zed"), doc) })
}

func FuzzTOML(f *testing.F) {
	for _, seed := range seeds(f, "testdata/*/*.toml") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc []byte) { anyDocument(t, setup.Find("codex"), doc) })
}
