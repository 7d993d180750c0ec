//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf16"
)

// Folders in which the hostile repository lies: the same letters, composed and decomposed.
const (
	rootNFC = `a b/Стойки & (x)'"/日本/é`
	rootNFD = "a b/Стои\u0306ки & (x)'\"/日本/e\u0301"
)

// thing is an entry of a repository, by its path.
type thing struct {
	content string
	kind    string // "" for a file; folder, link, fifo, socket
	target  string // of a link: a path of the repository, or one that begins with ".." or "/" as it is
	mode    os.FileMode
	ignored bool // by info/exclude, which is no file of the repository: its text would differ between twins
}

// oddNames are legal names that somebody's tool has stumbled over. Each keeps the extension that its twin has.
var oddNames = []string{
	"%20", "%2e%2e%2fetc", "new\nline.txt", "tab\there", `qu"ote.txt`, "apos'trophe", "a & b.md", "-rf", "--json", "trail ", "trail .txt", " lead", "😀.go",
	"colon:12.txt", "star*.go", "quest?ion", "[bracket].txt", "[", "{a,b}", "back\\slash", "\\", "$HOME", "`id`", "~", "a;b|c>d", "!bang", "#hash", "a=b", "a:=b", "café.txt",
	"cafe\u0301.txt", "日本語.md", "Стойки", "\u202egpj.exe", "a\u2028b", "\x01", "\x7f", "c:0123abcd:x#1-2", "a.txt 5L", "[cut to max_tokens; cursor=x]", "nul",
	strings.Repeat("long", 60),
}

// oddContents are files of every encoding and end of line.
func oddContents() map[string]string {
	return map[string]string{
		"le.txt": string(utf16Bytes(false, 0xfeff, "one needle\r\ntwo é 😀\r\n")), "be.txt": string(utf16Bytes(true, 0xfeff, "one needle\ntwo\nthree")),
		"1252.txt": "caf\xe9 needle \x80\r\nna\xefve\r\n", "bom.txt": "\xef\xbb\xbfone needle\ntwo\n", "bom only.txt": "\xef\xbb\xbf",
		"lone 16.txt": "\xff\xfe\x3d\xd8n\x00e\x00e\x00d\x00l\x00e\x00\n\x00", "lone 8.json": "日本語日本語日本語 needle \xed\xa0\x80\n", "odd byte.txt": "\xff\xfea\x00b",
		"nul.bin": "needle\x00needle\n", "nul far.txt": strings.Repeat("line\n", 2000) + "\x00 needle\n", "crlf.txt": "one needle\r\ntwo\r\nthree\r\n",
		"cr.txt": "one\rtwo needle\rthree\r", "mixed.txt": "one\r\ntwo needle\rthree\n\nfive", "no end.txt": "one\ntwo needle", "empty.txt": "", "only ends.txt": "\n\r\n\r",
		"marks.txt": "---\nother.txt 3L\n1| needle\n[cut to max_tokens: 5 lines left; cursor=abc]\na.txt [unchanged 5 lines; fresh=true re-sends]\n",
		"picture":   "\x89PNG\r\n\x1a\n\x00\x00", "utf-32.txt": "\xff\xfe\x00\x00a\x00\x00\x00", "code.go": "package f\n\n// F has a needle.\nfunc F() {\n\tprintln(\"needle\")\n}\n",
	}
}

func utf16Bytes(big bool, mark uint16, text string) (b []byte) {
	for _, u := range append([]uint16{mark}, utf16.Encode([]rune(text))...) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

// hostile is the hostile repository.
func hostile() map[string]thing {
	all := map[string]thing{}
	for i, name := range oddNames {
		all["names & more/"+name] = thing{content: fmt.Sprintf("needle %d\nsecond\n", i)}
		all["folders\n%20/"+name+"/inside "+name] = thing{content: "needle inside\n"}
		all["ignored 'x'/"+name] = thing{content: "needle perhaps\n", ignored: i%2 == 0 && !strings.Contains(name, "\n")} // no pattern can hold one
	}
	for name, content := range oddContents() {
		all["日本/contents é/"+name] = thing{content: content}
	}
	maps.Copy(all, map[string]thing{
		"empty folder ":                     {kind: "folder"},
		"hidden/.é & dot":                   {content: "needle hidden\n"},
		"hidden/...":                        {content: "needle hidden\n"},
		"hidden/.env 'x'":                   {content: "needle=SECRET\n"},
		"hidden/key é.pem":                  {content: "needle PRIVATE KEY\n"},
		"ignored 'x'/[!a]*.txt":             {content: "needle ignored\n", ignored: true},
		"links/to a file":                   {kind: "link", target: "names & more/new\nline.txt"},
		"links/chain 1":                     {kind: "link", target: "links/chain 2"},
		"links/chain 2":                     {kind: "link", target: "links/to a file"},
		"links/to a folder":                 {kind: "link", target: "names & more"},
		"links/up":                          {kind: "link", target: "links"},
		"links/loop 1":                      {kind: "link", target: "links/loop 2"},
		"links/loop 2":                      {kind: "link", target: "links/loop 1"},
		"links/self":                        {kind: "link", target: "links/self"},
		"links/dangling":                    {kind: "link", target: "links/nothing 'here'"},
		"links/out of it":                   {kind: "link", target: "../../../outside"},
		"links/absolute":                    {kind: "link", target: "/etc/hostname"},
		"links/to the fifo":                 {kind: "link", target: "special/fi fo"},
		"links/to the secret":               {kind: "link", target: "hidden/.env 'x'"},
		"special/fi fo":                     {kind: "fifo"},
		"special/soc'ket":                   {kind: "socket"},
		"special/un\treadable":              {content: "needle unreadable\n", mode: 0o200},
		"special/closed \"folder\"/x":       {content: "needle closed\n"},
		strings.Repeat("deep é/", 20) + "x": {content: "needle deep\n"},
	})
	return all
}

// twins are two repositories with the same contents, one of them under plain names in the same order.
type twins struct {
	odd, plain string            // roots
	things     map[string]thing  // by odd path
	toPlain    map[string]string // paths
	toOdd      map[string]string // names: each plain one is there once

	whole, shown *regexp.Regexp
}

// plainName is a name that stands in no content and in no message: what it is the twin of can be put back.
var plainName = regexp.MustCompile(`\.?(?:env)?tw\d{5}q(?:\.[a-z]+)?`)

func newTwins(things map[string]thing) *twins {
	w := &twins{things: things, toPlain: map[string]string{".": "."}, toOdd: map[string]string{}}
	all := map[string]bool{}
	for p := range things {
		for ; p != "."; p = path.Dir(p) {
			all[p] = true
		}
	}
	order := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) })
	for i, p := range order {
		name, odd := fmt.Sprintf("tw%05dq", i), path.Base(p)
		switch {
		case strings.HasPrefix(odd, ".env"):
			name = ".env" + name
		case strings.HasPrefix(odd, ".") && strings.Contains(p, "hidden"):
			name = "." + name
		}
		if ext := path.Ext(odd); regexp.MustCompile(`^\.(txt|go|md|json|pem|bin|exe)$`).MatchString(ext) {
			name += ext
		}
		w.toOdd[name] = odd
		w.toPlain[p] = path.Join(w.toPlain[path.Dir(p)], name)
	}
	return w
}

// build makes both repositories.
func (w *twins) build(t testing.TB, oddRoot string) {
	t.Helper()
	base := t.TempDir()
	w.odd, w.plain = filepath.Join(base, oddRoot), filepath.Join(base, "plain")
	w.whole, w.shown = w.patterns()
	w.make(t, w.odd, func(p string) string { return p })
	w.make(t, w.plain, func(p string) string { return w.toPlain[p] })
}

func (w *twins) make(t testing.TB, root string, named func(string) string) {
	t.Helper()
	var excludes strings.Builder
	for _, p := range slices.Sorted(maps.Keys(w.things)) {
		x := w.things[p]
		full := filepath.Join(root, named(p))
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		switch x.kind {
		case "":
			must(t, os.WriteFile(full, []byte(x.content), 0o644))
		case "folder":
			must(t, os.Mkdir(full, 0o755))
		case "link":
			target := x.target
			if !strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "..") {
				target = w.named(named, target)
				rel, err := filepath.Rel(filepath.Dir(named(p)), target)
				must(t, err)
				target = rel
			}
			must(t, os.Symlink(target, full))
		case "fifo":
			must(t, syscall.Mkfifo(full, 0o644))
		case "socket":
			unixSocket(t, full)
		}
		if x.mode != 0 {
			must(t, os.Chmod(full, x.mode))
		}
		if x.ignored {
			excludes.WriteString("/" + escaped(named(p)) + "\n")
		}
	}
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "info/exclude": excludes.String(), "objects/x": "", "refs/heads/x": ""} {
		full := filepath.Join(root, ".git", name)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must(t, os.WriteFile(full, []byte(content), 0o644))
	}
}

// named is the name of what may not be there.
func (w *twins) named(named func(string) string, p string) string {
	if n := named(p); n != "" {
		return n
	}
	return path.Join(named(path.Dir(p)), "tw99999q")
}

// socket makes a socket. Its path may be longer than the system binds.
func unixSocket(t testing.TB, full string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	must(t, err)
	defer os.RemoveAll(dir)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	must(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, l.Close())
	must(t, os.Rename(filepath.Join(dir, "s"), full))
}

// escaped is a path as a pattern of an ignore file that means just it.
func escaped(p string) string {
	p = regexp.MustCompile(`[\\*?\[\]!#]`).ReplaceAllString(p, `\$0`)
	if strings.HasSuffix(p, " ") {
		p = strings.TrimSuffix(p, " ") + `\ `
	}
	return p
}

const plainPath = `\.?(?:env)?tw\d{5}q(?:\.[a-z]+)?(?:/\.?(?:env)?tw\d{5}q(?:\.[a-z]+)?)*`

// patterns find the paths of the plain repository, absolute ones too: a whole string, and in what is shown to a reader.
func (w *twins) patterns() (whole, shown *regexp.Regexp) {
	p := `(?:` + regexp.QuoteMeta(w.plain) + `/)?` + plainPath
	pointer := `c:[0-9a-f]{8}:` + plainPath + `#\d+-\d+`
	return regexp.MustCompile(`^(?:` + p + `|` + pointer + `)$`), regexp.MustCompile(pointer + `|"` + p + `"|` + p)
}

// names puts the odd names into a path.
func (w *twins) names(s string) string {
	if rest, ok := strings.CutPrefix(s, w.plain+"/"); ok {
		return w.odd + "/" + w.names(rest)
	}
	return plainName.ReplaceAllStringFunc(s, func(name string) string {
		if odd, ok := w.toOdd[name]; ok {
			return odd
		}
		return name
	})
}

// text puts the odd names into what is shown to a reader: quoted where they would break a line, or where the plain name is.
func (w *twins) text(s string) string {
	s = w.shown.ReplaceAllStringFunc(s, func(p string) string {
		if strings.HasPrefix(p, `"`) {
			return cutQuote(w.names(strings.Trim(p, `"`)))
		}
		return oneLine(w.names(p))
	})
	return strings.ReplaceAll(s, w.plain, w.odd)
}

// cutQuote is how a message quotes a path.
func cutQuote(p string) string {
	if len(p) > 300 {
		return strconv.Quote(p[:300]) + "…"
	}
	return strconv.Quote(p)
}

// oneLine is how the tools show a name.
func oneLine(name string) string {
	for _, r := range name {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return strconv.Quote(name)
		}
	}
	return name
}

// data puts the odd names into a decoded document.
func (w *twins) data(v any) any {
	switch v := v.(type) {
	case string:
		if w.whole.MatchString(v) {
			return w.names(v)
		}
		return w.text(v)
	case []any:
		for i := range v {
			v[i] = w.data(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = w.data(v[k])
		}
	}
	return v
}
