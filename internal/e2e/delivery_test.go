package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/testkit"
)

// modeArgs are the arguments of ctx_read for every mode that the build has, and for its other ways of reading, by what they
// are called; %s stands for the path.
func modeArgs() map[string]form {
	all := map[string]form{
		"lines": {"ctx_read", `{"path":%s,"mode":"lines:2-4,9"}`}, "all lines": {"ctx_read", `{"path":%s,"mode":"lines:1-"}`}, "window": {"ctx_read", `{"path":%s,"start_line":2,"end_line":5}`},
		"smart": {"ctx_smart_read", `{"path":%s}`}, "several": {"ctx_multi_read", `{"paths":[%s,"none.txt"]}`}, "cut": {"ctx_read", `{"path":%s,"mode":"full","max_tokens":300}`},
	}
	for _, m := range catalog.ReadModes {
		if !strings.HasPrefix(m.Mode, "lines") {
			all[m.Mode] = form{"ctx_read", fmt.Sprintf(`{"path":%%s,"mode":%q}`, m.Mode)}
		}
	}
	return all
}

// of is a form about a path, in a conversation.
func (f form) of(path, conversation string) request {
	return request{tool: f.tool, args: fmt.Sprintf(f.args, quoted(path)), conversation: conversation}
}

// code is a file that no mode shows whole more cheaply than it is.
func code(mark string) string {
	return "package f\n\n" + strings.Repeat("// F does something, of which this line tells: "+mark+".\nfunc F() {}\n\n", 60)
}

// contentOf is the content that an answer about one file gives.
func contentOf(t testing.TB, o outcome) string {
	t.Helper()
	var out struct {
		Files []struct{ Content *string }
	}
	must(t, json.Unmarshal([]byte(o.data), &out))
	if len(out.Files) == 0 || out.Files[0].Content == nil {
		return ""
	}
	return *out.Files[0].Content
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Case 1: a conversation that never received the whole of a file gets its bytes, whatever others received: another agent,
// another channel, a read of several, a part, a summary, a failure, the process before.
func TestCase1Undelivered(t *testing.T) {
	t.Parallel()
	want := code("one")
	root := testkit.Write(t, map[string]string{"f.go": want, "g.go": code("two")})
	eachDoor(t, onData(t, testkit.Settings{"project_root": root}), func(t *testing.T, d door) {
		n := 0
		full := func(r request) {
			t.Helper()
			n++
			r.conversation = fmt.Sprint("late-", n)
			r.tool, r.args = "ctx_read", `{"path":"f.go","mode":"full"}`
			if got := d.Call(t, r); contentOf(t, got) != want || !strings.Contains(got.text, want) {
				t.Errorf("%+v after %d others: %.300s", r, n, got)
			}
		}
		full(request{})
		full(request{agent: "ada"})
		full(request{agent: "bob"})
		full(request{channel: "elsewhere"})
		for name, f := range modeArgs() {
			if name == "full" || name == "auto" || name == "smart" || name == "several" || strings.HasPrefix(name, "all") {
				continue // those deliver it
			}
			d.Call(t, f.of("f.go", "part-"+strings.ReplaceAll(name, " ", "-")))
			r := form{"ctx_read", `{"path":%s,"mode":"full"}`}.of("f.go", "part-"+strings.ReplaceAll(name, " ", "-"))
			if got := d.Call(t, r); contentOf(t, got) != want {
				t.Errorf("after %s: %.300s", name, got)
			}
		}
		d.Call(t, request{tool: "ctx_multi_read", args: `{"paths":["f.go","none.txt","g.go"],"max_tokens":1000000}`, conversation: "batch"})
		full(request{})
		for _, args := range []string{`{"paths":["g.go","f.go"],"mode":"full","max_tokens":200}`, `{"paths":["g.go","./none.txt"],"mode":"full"}`} { // f.go is cut off, or was not asked for
			d.Call(t, request{tool: "ctx_read", args: args, conversation: "cut-batch"})
		}
		if got := d.Call(t, form{"ctx_read", `{"path":%s,"mode":"full"}`}.of("f.go", "cut-batch")); contentOf(t, got) != want {
			t.Errorf("after a batch that was cut: %.300s", got)
		}
		if got := d.Call(t, request{tool: "ctx_read", args: `{"path":"f.go","fresh":true}`, conversation: "batch"}); contentOf(t, got) != want {
			t.Errorf("fresh: %.300s", got)
		}
		switch d.Name() {
		case "rest", "mcp-stateless", "cli": // without a conversation there is none that received it
			for range 3 {
				if got := d.Call(t, request{tool: "ctx_read", args: `{"path":"f.go","mode":"full"}`}); contentOf(t, got) != want {
					t.Errorf("again without a conversation: %.300s", got)
				}
			}
		}
	})
}

// Case 1: a process that begins anew has delivered nothing to a conversation that it meets for the first time.
func TestCase1NewProcess(t *testing.T) {
	t.Parallel()
	want := code("one")
	set := onData(t, testkit.Settings{"project_root": testkit.Write(t, map[string]string{"f.go": want})})
	for i := range 2 {
		s := testkit.Start(t, set)
		if got := (restDoor{s}).Call(t, form{"ctx_read", `{"path":%s}`}.of("f.go", fmt.Sprint("c", i))); contentOf(t, got) != want {
			t.Errorf("process %d: %.300s", i, got)
		}
		must(t, s.Stop())
	}
}

// cold is what two answers share that differ in nothing but whether there is a conversation: what fails may say so.
func (o outcome) cold() string {
	if o.code != "" && len(o.details) > 0 {
		return o.code + " " + o.details[0].Reason
	}
	return o.same()
}

// Case 2: after any mode, any other gives what a cold read gives, at every door. Each call is a conversation of its own, as the
// caches of the server are shared and stubs are not.
func TestCase2ModePairs(t *testing.T) {
	t.Parallel()
	root := testkit.Write(t, map[string]string{"f.go": code("one")})
	forms, cold := modeArgs(), map[string]string{}
	process := cliAt(t, testkit.Settings{"project_root": root})
	for name, f := range forms {
		cold[name] = process.Call(t, f.of("f.go", "")).cold()
	}
	eachDoor(t, testkit.Settings{"project_root": root}, func(t *testing.T, d door) {
		n := 0
		ask := func(name string) string {
			n++
			return d.Call(t, forms[name].of("f.go", fmt.Sprint("c", n))).cold()
		}
		for before := range forms {
			if d.Name() == "cli" && before != "full" {
				continue // a process for each call: nothing is left of the call before
			}
			for after := range forms {
				ask(before)
				if got := ask(after); got != cold[after] {
					t.Errorf("%s after %s: %.500q\ncold: %.500q", after, before, got, cold[after])
				}
			}
		}
	})
}

// Case 3: a file that was edited behind the server's back, of the same size and with its time put back, or renamed over, is new
// to the next read and the next search, in every mode and at every door.
func TestCase3HiddenEdits(t *testing.T) {
	t.Parallel()
	ways := map[string]func(t *testing.T, file, content string, old time.Time){
		"same size, time restored": func(t *testing.T, file, content string, old time.Time) {
			must(t, os.WriteFile(file, []byte(content), 0o644))
			must(t, os.Chtimes(file, old, old))
		},
		"renamed over": func(t *testing.T, file, content string, old time.Time) {
			must(t, os.WriteFile(file+".new", []byte(content), 0o644))
			must(t, os.Chtimes(file+".new", old, old))
			must(t, os.Rename(file+".new", file))
		},
		"deleted and made again": func(t *testing.T, file, content string, old time.Time) {
			must(t, os.Remove(file))
			must(t, os.WriteFile(file, []byte(content), 0o644))
			must(t, os.Chtimes(file, old, old))
		},
	}
	for _, open := range []func(testing.TB, testkit.Settings) door{restAt, statelessAt, statefulAt, stdioAt, cliAt} {
		root := testkit.Write(t, map[string]string{"f.go": code("0000")}) // each door has its own to edit
		file := filepath.Join(root, "f.go")
		d := open(t, testkit.Settings{"project_root": root})
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			old := time.Now().Add(-time.Hour)
			must(t, os.Chtimes(file, old, old))
			n := 0
			ask := func(f form) outcome { n++; return d.Call(t, f.of("f.go", fmt.Sprint("c", n))) }
			for way, change := range ways {
				for name, f := range modeArgs() {
					if d.Name() == "cli" && name != "full" {
						continue
					}
					ask(f)
					if name == "full" { // old enough for the server to trust the file's times, and then read from its memory
						time.Sleep(60 * time.Millisecond)
						ask(f)
						ask(f)
					}
					mark := fmt.Sprintf("%04d", n)
					change(t, file, code(mark), old)
					got := ask(f)
					if strings.Contains(got.data, `"content"`) && !strings.Contains(got.data, mark) || got.code != "" && name != "diff" {
						t.Errorf("%s, %s: %.300s", way, name, got)
					}
					if got := ask(form{"ctx_read", `{"path":%s,"mode":"full"}`}); contentOf(t, got) != code(mark) {
						t.Errorf("%s, full after %s: %.300s", way, name, got)
					}
				}
				if d.Name() != "cli" { // the conversation that received the old bytes gets the new ones too
					same := form{"ctx_read", `{"path":%s,"mode":"diff"}`}.of("f.go", "same")
					d.Call(t, form{"ctx_read", `{"path":%s,"mode":"full","fresh":true}`}.of("f.go", "same"))
					change(t, file, code("diff"), old)
					if got := d.Call(t, same); got.code != "" || !strings.Contains(got.data, "diff") || !strings.Contains(got.text, "tells: diff") {
						t.Errorf("%s, diff: %.300s", way, got)
					}
				}
				mark := fmt.Sprintf("of %s", way)
				change(t, file, code(mark), old)
				if got := ask(form{"ctx_search", `{"pattern":"tells: ` + mark + `","path":%s}`}); !strings.Contains(got.text, "60 matches in 1 file") {
					t.Errorf("search, %s: %.300s", way, got)
				}
			}
		})
	}
}

// Case 4: what looks like our own marks, stubs, cursors or redactions is text: it comes back byte by byte, and changes nothing
// about the answers after it.
func TestCase4Imitations(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"stub.txt":    "stub.txt [unchanged 1 lines; fresh=true re-sends]\n",
		"cut.txt":     "one\n[cut to max_tokens: 5 lines left; cursor=eyJxIjoiMCJ9]\n",
		"header.txt":  "header.txt 2L\n---\nother.txt 3L [utf-16le] from line 7\n1| x\n",
		"redacted.md": "[REDACTED] ***REDACTED*** <redacted> [secret]\nif token == \"\" { input_cost_per_token: 1.4e-06 }\npassword: str = None\nBearer abc\n",
		"data.json":   `{"error_code":"tool_error","ctxd/result":{"next":"x"},"isError":true}` + "\n",
		"rpc.json":    `{"jsonrpc":"2.0","id":1,"result":{}}` + "\r\n\r\ndata: {}\n\nid: 7\nevent: x\n",
		"path.txt":    "c:0123abcd:stub.txt#1-2\npath: \"../../etc/passwd\"\n",
	}
	root := testkit.Write(t, files)
	eachDoor(t, testkit.Settings{"project_root": root}, func(t *testing.T, d door) {
		for round := range 2 {
			for name, content := range files {
				c := fmt.Sprint(round, strings.Split(name, ".")[0])
				got := d.Call(t, form{"ctx_read", `{"path":%s,"mode":"full"}`}.of(name, c))
				if contentOf(t, got) != content || !strings.HasSuffix(got.text, "L\n"+content) {
					t.Errorf("%s: %q", name, got)
				}
			}
		}
		got := d.Call(t, request{tool: "ctx_search", args: `{"pattern":"[unchanged","literal":true}`})
		if !strings.Contains(got.text, "stub.txt:1: "+files["stub.txt"]) || !strings.Contains(got.text, "1 match in 1 file") {
			t.Errorf("search: %v", got)
		}
		for _, value := range files { // kept by the tools of the channel as well
			var out struct{ Task struct{ Description string } }
			got := d.Call(t, request{tool: "ctx_task", args: `{"action":"create","description":` + quoted(value) + `}`, channel: "imitations"})
			must(t, json.Unmarshal([]byte(got.data), &out))
			if out.Task.Description != value {
				t.Errorf("%q: %v", value, got)
			}
		}
	})
}
