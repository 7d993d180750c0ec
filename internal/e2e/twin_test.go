//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/jsondoc"
	"github.com/ctxd/ctxd/internal/testkit"
)

// settings serve both twins.
func (w *twins) settings() testkit.Settings {
	return testkit.Settings{"workspaces": []map[string]any{{"id": "odd", "root": w.odd}, {"id": "plain", "root": w.plain}}, "defaultWorkspaceId": "plain"}
}

var cursors = regexp.MustCompile(`(cursor=|"next":")[A-Za-z0-9_-]+`)

// asTwin is an answer about the plain repository as the odd one must give it.
func (w *twins) asTwin(t testing.TB, o outcome) string {
	t.Helper()
	o.text, o.message = w.text(o.text), w.text(o.message)
	if o.data != "" {
		v, err := jsondoc.Decode([]byte(o.data))
		must(t, err)
		o.data = string(jsondoc.Canonical(w.data(v)))
	}
	for i := range o.details {
		o.details[i].Message = w.text(o.details[i].Message)
	}
	return strings.NewReplacer(" plain/", " odd/", `"workspace":"plain"`, `"workspace":"odd"`).Replace(comparable(o))
}

// comparable is what twins share: cursors are opaque.
func comparable(o outcome) string { return timeless(cursors.ReplaceAllString(o.same(), "${1}…")) }

// form is a call about one path of a repository.
type form struct{ tool, args string }

// forms are every tool and mode that takes a path; %s stands for the path, %[2]s for the absolute one, and %[3]s for one below it.
func forms() []form {
	out := []form{
		{"ctx_read", `{"path":%s,"mode":"lines:99"}`}, {"ctx_read", `{"path":%[2]s,"fresh":true}`}, {"ctx_read", `{"paths":[%s,%[2]s]}`}, {"ctx_smart_read", `{"path":%s}`},
		{"ctx_multi_read", `{"paths":[%s,%[3]s,%[2]s],"mode":"lines:1"}`}, {"ctx_multi_read", `{"paths":[%[2]s,%s],"mode":"reference"}`},
		{"ctx_tree", `{"path":%s}`}, {"ctx_tree", `{"path":%[2]s,"depth":1,"show_hidden":true,"respect_gitignore":false}`},
		{"ctx_search", `{"pattern":"needle","path":%s,"context":1}`}, {"ctx_search", `{"pattern":"NEEDLE","literal":true,"case":"insensitive","path":%[2]s}`},
	}
	modes := modeArgs()
	for _, name := range slices.Sorted(maps.Keys(modes)) {
		if name != "cut" { // where it is cut depends on how many tokens the name has
			out = append(out, modes[name])
		}
	}
	return out
}

// whole are calls about the repository.
var whole = []form{
	{"ctx_tree", `{"depth":64,"max_tokens":200000}`}, {"ctx_tree", `{}`}, {"ctx_tree", `{"depth":64,"show_hidden":true,"respect_gitignore":false,"max_tokens":200000}`},
	{"ctx_search", `{"pattern":"needle","max_results":1000,"max_tokens":200000}`}, {"ctx_search", `{"pattern":"needle","max_results":7}`},
	{"ctx_search", `{"pattern":"needle","include":["*.txt"],"exclude":["*.go"],"context":2,"max_results":1000,"max_tokens":200000}`},
	{"ctx_search", `{"pattern":"^one|é$|\\x{1F600}|na.ve","max_results":1000,"max_tokens":200000}`}, {"ctx_search", `{"pattern":"nothing of it"}`},
	{"ctx_session", `{}`}, {"ctx_session", `{"action":"task","value":"needle é"}`}, {"ctx_session", `{"action":"decision","value":"so"}`},
	{"ctx_task", `{"action":"create","description":"more\n& 'x'"}`}, {"ctx_task", `{"action":"update","task_id":"t2","state":"active"}`}, {"ctx_task", `{}`}, {"ctx_task", `{"action":"get","task_id":"t2"}`},
}

// call fills a form.
func (f form) call(workspace, root, p string) request {
	args := f.args
	if strings.Contains(args, "%") {
		args = fmt.Sprintf(strings.ReplaceAll(args, "%s", "%[1]s"), quoted(p), quoted(root+"/"+p), quoted(p+"/tw99999q"))
		if i := strings.Index(args, "%!(EXTRA"); i >= 0 {
			args = args[:i]
		}
	}
	return request{tool: f.tool, args: args, workspace: workspace}
}

// Cases 11 and 12: a repository with hostile names and contents, in a hostile place, answers every tool in every mode as its
// twin with plain names does, at every door of the real program and of one under the race detector.
func TestTwins(t *testing.T) {
	t.Parallel()
	nfc, nfd := newTwins(hostile()), newTwins(hostile())
	nfc.build(t, rootNFC)
	nfd.build(t, rootNFD)
	doors, _ := programDoors(t, nfc.settings())
	for _, d := range doors {
		t.Run("program-"+d.Name(), func(t *testing.T) {
			t.Parallel()
			nfc.compareAll(t, d, map[string]int{"rest": 3, "mcp-stateless": 17, "cli": 97}[d.Name()], 0)
		})
	}
	eachDoor(t, nfd.settings(), func(t *testing.T, d door) {
		every := 53
		if d.Name() == "cli" {
			every = 509 // each call starts an engine
		}
		nfd.compareAll(t, d, every, 1)
	})
}

// compareAll thins out the calls, since each takes milliseconds: every path meets a part of the forms, and every form a part of
// the paths, others at each door. The calls about the whole repository are all made through REST of the program.
func (w *twins) compareAll(t *testing.T, d door, every, shift int) {
	t.Helper()
	for i, f := range whole {
		if stateful := f.tool == "ctx_session" || f.tool == "ctx_task"; stateful || every == 3 || (i+len(d.Name())+shift)%5 == 0 {
			w.compare(t, d, f, "")
		}
	}
	paths, all := append(slices.Sorted(maps.Keys(w.toPlain)), ""), forms()
	for i, p := range paths {
		for j, f := range all {
			if p != "" && (i*len(all)+j+shift)%every == 0 {
				w.compare(t, d, f, p)
			}
		}
	}
}

func (w *twins) compare(t *testing.T, d door, f form, p string) {
	t.Helper()
	got, twin := d.Call(t, f.call("odd", w.odd, p)), d.Call(t, f.call("plain", w.plain, path.Clean(w.toPlain[p])))
	if a, b := comparable(got), w.asTwin(t, twin); a != b {
		a, b = apart(a, b)
		t.Errorf("%s %s of %q:\n%q\nits twin:\n%q", f.tool, f.args, p, a, b)
	}
}

// apart is where two texts begin to differ.
func apart(a, b string) (string, string) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-80)
	return a[from:min(len(a), i+200)], b[from:min(len(b), i+200)]
}

// Cases 7, 11 and 12: a line of 10 MB, at every door of the real program: the race detector would count its tokens for minutes.
func TestTwinsLongLine(t *testing.T) {
	t.Parallel()
	const p = "日本 &/a 'line'.txt"
	w := newTwins(map[string]thing{p: {content: strings.Repeat("long words é ", 400_000) + "needle" + strings.Repeat(" and more of them", 300_000)}})
	w.build(t, rootNFD)
	doors, _ := programDoors(t, w.settings())
	for _, d := range doors {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			for _, f := range []form{
				{"ctx_read", `{"path":%s}`}, {"ctx_read", `{"path":%s,"mode":"lines:1","max_tokens":500}`}, {"ctx_read", `{"path":%s,"mode":"reference"}`},
				{"ctx_read", `{"path":%s,"mode":"lines:2"}`}, {"ctx_multi_read", `{"paths":[%s,%[2]s],"max_tokens":2000}`}, {"ctx_smart_read", `{"path":%s,"max_tokens":1000}`},
				{"ctx_tree", `{}`}, {"ctx_search", `{"pattern":"needle"}`}, {"ctx_search", `{"pattern":"NEEDLE and (more|less)","case":"insensitive","path":%s,"context":3}`},
				{"ctx_search", `{"queries":["needle$","é needle","them$"]}`},
			} {
				w.compare(t, d, f, p)
			}
		})
	}
}
