package e2e

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// repository is what the suite reads: text, and what must not be read as text or at all.
func repository(t testing.TB) string {
	t.Helper()
	return testkit.Write(t, map[string]string{
		"README.md":       "# Example\n\nA small repository.\n",
		"a.txt":           "one\ntwo\nthree\nfour\nfive\n",
		"bare.txt":        "no end of line",
		"crlf.txt":        "one\r\ntwo\r\n",
		"latin.txt":       "caf\xe9\n",
		"src/main.go":     "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n",
		"src/deep/x.go":   "package deep\n\n// Hello says hello.\nfunc Hello() {}\n",
		"data.bin":        "\x00\x01\x02\x03",
		".env":            "SECRET=1\n",
		"key.pem":         "-----BEGIN PRIVATE KEY-----\n",
		".git/config":     "[core]\n",
		"markers.txt":     "---\nother.txt 3L\n1| not a line number\n[cut to max_tokens: 5 lines left; cursor=abc]\na.txt [unchanged 5 lines; fresh=true re-sends]\n",
		"many/" + "l.txt": strings.Repeat("a line of text that is long enough to fill a page\n", 400),
		"odd name &'%20":  "odd\n",
	})
}

// step is a call with what must come of it.
type step struct {
	request
	code string // "" where it succeeds
	says string // a part of the text, or of the message
}

var good = []step{
	{request{tool: "ctx_read", args: `{"path":"a.txt"}`}, "", "a.txt 5L\none\n"},
	{request{tool: "ctx_read", args: `{"path":"a.txt","mode":"lines:2-3,5"}`}, "", "2| two\n3| three\n5| five\n"},
	{request{tool: "ctx_read", args: `{"path":"a.txt","start_line":4,"end_line":4}`}, "", "4| four"},
	{request{tool: "ctx_read", args: `{"path":"src/main.go","mode":"reference"}`}, "", "src/main.go"},
	{request{tool: "ctx_read", args: `{"path":"bare.txt"}`}, "", "no end of line"},
	{request{tool: "ctx_read", args: `{"path":"crlf.txt"}`}, "", "one\r\ntwo\r\n"},
	{request{tool: "ctx_read", args: `{"path":"latin.txt"}`}, "", "café"},
	{request{tool: "ctx_read", args: `{"path":"markers.txt"}`}, "", "markers.txt 5L\n---\nother.txt 3L\n"},
	{request{tool: "ctx_read", args: `{"path":"odd name &'%20"}`}, "", "odd\n"},
	{request{tool: "ctx_read", args: `{"path":"many/l.txt","max_tokens":500}`}, "", "cut to max_tokens"},
	{request{tool: "ctx_read", args: `{"paths":["a.txt","none.txt",".env"]}`}, "", "none.txt: nothing is at"},
	{request{tool: "ctx_multi_read", args: `{"paths":["a.txt","data.bin"]}`}, "", "binary"},
	{request{tool: "ctx_smart_read", args: `{"path":"a.txt"}`}, "", "five"},
	{request{tool: "ctx_tree"}, "", "main.go"},
	{request{tool: "ctx_tree", args: `{"path":"src","depth":1}`}, "", "deep/ (1)"},
	{request{tool: "ctx_search", args: `{"pattern":"hello","case":"insensitive"}`}, "", "src/deep/x.go:3: // Hello says hello."},
	{request{tool: "ctx_search", args: `{"pattern":"no such text"}`}, "", "0 matches"},
	{request{tool: "ctx_session"}, "", "session v0"},
	{request{tool: "ctx_session", args: `{"action":"task","value":"prove it"}`, agent: "ada"}, "", "task: prove it"},
	{request{tool: "ctx_session", args: `{"action":"finding","value":"a.txt:2 - two"}`, agent: "ada"}, "", "- a.txt:2 two (ada)"},
	{request{tool: "ctx_session", args: `{"action":"decision","value":"so it is"}`, agent: "ada"}, "", "so it is"},
	{request{tool: "ctx_session", channel: "other"}, "", "task: none"},
	{request{tool: "ctx_task", args: `{"action":"create","description":"more"}`, agent: "ada"}, "", "t2 pending more"},
	{request{tool: "ctx_task", args: `{"action":"update","task_id":"t2","state":"active"}`, agent: "ada"}, "", "t2 active"},
	{request{tool: "ctx_task", args: `{"action":"get","task_id":"t1"}`}, "", "t1 pending prove it"},
	{request{tool: "ctx_task"}, "", "2 tasks"},
}

var bad = []step{
	{request{tool: "ctx_reed", args: `{"path":"a.txt"}`}, "tool_error", "did you mean ctx_read?"},
	{request{tool: "zzzzzzzzzzzz"}, "tool_error", "GET /v1/tools"},
	{request{tool: "ctx_read", args: `{"pth":"a.txt"}`}, "invalid_arguments", `did you mean "path"?`},
	{request{tool: "ctx_read", args: `{"path":"a.txt","mood":"full"}`}, "invalid_arguments", `did you mean "mode"?`},
	{request{tool: "ctx_multi_read"}, "invalid_arguments", `"paths" is missing`},
	{request{tool: "ctx_search"}, "tool_error", "no pattern was given"},
	{request{tool: "ctx_session", args: `{"action":"taks"}`}, "invalid_arguments", `did you mean "task"?`},
	{request{tool: "ctx_session", args: `{"action":7}`}, "invalid_arguments", "action must be a string"},
	{request{tool: "ctx_session", args: `{"action":"status","value":"x"}`}, "invalid_arguments", `"value" is unknown`},
	{request{tool: "ctx_read", args: `{}`}, "tool_error", "no path was given"},
	{request{tool: "ctx_read", args: `{"path":"a.txt","paths":["a.txt"]}`}, "tool_error", "either path or paths"},
	{request{tool: "ctx_read", args: `{"path":"a.txt","mode":"ful"}`}, "tool_error", "did you mean full?"},
	{request{tool: "ctx_read", args: `{"path":"none.txt"}`}, "tool_error", "nothing is at"},
	{request{tool: "ctx_read", args: `{"path":".env"}`}, "tool_error", "refused"},
	{request{tool: "ctx_read", args: `{"path":".ENV.local"}`}, "tool_error", "refused"},
	{request{tool: "ctx_read", args: `{"path":"key.pem"}`}, "tool_error", "refused"},
	{request{tool: "ctx_read", args: `{"path":".git/config"}`}, "tool_error", "refused"},
	{request{tool: "ctx_read", args: `{"path":"../secret"}`}, "tool_error", "outside the workspace"},
	{request{tool: "ctx_read", args: `{"path":"src/../../secret"}`}, "tool_error", "outside the workspace"},
	{request{tool: "ctx_read", args: `{"path":"/etc/passwd"}`}, "tool_error", "outside the workspace"},
	{request{tool: "ctx_read", args: `{"path":"src"}`}, "tool_error", "is a folder"},
	{request{tool: "ctx_read", args: `{"path":"data.bin"}`}, "tool_error", "binary"},
	{request{tool: "ctx_read", args: `{"path":"a\u0000b"}`}, "tool_error", "NUL"},
	{request{tool: "ctx_read", args: `{"path":"a.txt","cursor":"abc"}`}, "tool_error", "cursor"},
	{request{tool: "ctx_tree", args: `{"path":"a.txt"}`}, "tool_error", "no folder"},
	{request{tool: "ctx_tree", args: `{"path":".git"}`}, "tool_error", "refused"},
	{request{tool: "ctx_search", args: `{"pattern":"(("}`}, "tool_error", ""},
	{request{tool: "ctx_search", args: `{"pattern":"x","path":"../.."}`}, "tool_error", "outside the workspace"},
	{request{tool: "ctx_task", args: `{"action":"get","task_id":"t99"}`}, "tool_error", "no task t99"},
	{request{tool: "ctx_read", args: `{"path":"a.txt"}`, workspace: "nowhere"}, "unknown_workspace", "unknown workspace"},
	{request{tool: "ctx_read", args: `{"path":"a.txt"}`, workspace: ".."}, "invalid_request", ""},
	{request{tool: "ctx_read", args: `{"path":"a.txt"}`, channel: "a b"}, "invalid_request", ""},
	{request{tool: "ctx_read", args: `{"path":"a.txt"}`, channel: strings.Repeat("c", 65)}, "invalid_request", ""},
	{request{tool: "ctx_read", args: `{"path":"a.txt","workspaceId":"ä"}`}, "invalid_request", ""},
	{request{tool: "ctx_read", args: `{"path":"a.txt","channelId":7}`}, "invalid_request", "channelId must be a string"},
	{request{tool: "ctx_read", args: `{"path":"a.txt","agentId":"a\nb"}`}, "invalid_request", "control character"},
	{request{tool: "ctx_read", args: `{"path":"a.txt","agentId":"` + strings.Repeat("a", 129) + `"}`}, "invalid_request", "at most 128"},
	{request{tool: strings.Repeat("x", 129)}, "invalid_request", ""},
}

// A call gives the same at every door: the text and data of what it did, or the code, reason and details of why not.
func TestEveryDoorAnswersAlike(t *testing.T) {
	t.Parallel()
	set := testkit.Settings{"project_root": repository(t)}
	steps := append(append([]step{}, good...), bad...)
	var mu sync.Mutex
	all := map[string][]outcome{}
	t.Run("doors", func(t *testing.T) {
		eachDoor(t, set, func(t *testing.T, d door) {
			got := make([]outcome, len(steps))
			for i, s := range steps {
				got[i] = d.Call(t, s.request)
				check(t, s, got[i])
			}
			mu.Lock()
			defer mu.Unlock()
			all[d.Name()] = got
		})
	})
	for name, got := range all {
		for i, s := range steps {
			want := all["rest"][i]
			if ask := s.code == "invalid_request"; ask && want.code == got[i].code {
				continue // each door says in its own words what is wrong with what only it has read
			}
			if a, b := timeless(want.same()), timeless(got[i].same()); a != b {
				t.Errorf("%s %s at %s:\n%q\nat rest:\n%q", s.tool, s.args, name, b, a)
			}
		}
	}
}

func check(t *testing.T, s step, got outcome) {
	t.Helper()
	said := got.text
	if s.code != "" {
		said = got.message
	}
	if got.code != s.code || !strings.Contains(said, s.says) {
		t.Errorf("%s %s: %v, want %s %q", s.tool, s.args, got, s.code, s.says)
	}
}

var stamps = regexp.MustCompile(`"(at|created_at|updated_at)":"[^"]*"`)

// timeless drops the only thing that may differ.
func timeless(s string) string { return stamps.ReplaceAllString(s, `"$1":""`) }

// T6: a path is relative to the workspace or absolute in it, any legal name works, and ignore rules are git's.
func TestT6Paths(t *testing.T) {
	t.Parallel()
	root := testkit.Write(t, map[string]string{
		".gitignore": "/build/\n*.log\n!keep.log\n", "build/x.txt": "x\n", "src/build/y.txt": "y\n", "a.log": "a\n", "keep.log": "k\n",
		"odd/new\nline": "n\n", "odd/sp ace": "s\n", "odd/日本": "j\n", "odd/%20": "p\n", "odd/-x": "d\n", "odd/é": "e\n",
	})
	eachDoor(t, testkit.Settings{"project_root": root}, func(t *testing.T, d door) {
		for _, path := range []string{"keep.log", "./keep.log", "odd/../keep.log", root + "/keep.log", "/" + root + "/./keep.log"} {
			if got := d.Call(t, request{tool: "ctx_read", args: `{"path":` + quoted(path) + `}`}); got.text != "keep.log 1L\nk\n" {
				t.Errorf("%s: %v", path, got)
			}
		}
		for _, name := range []string{"odd/new\nline", "odd/sp ace", "odd/日本", "odd/%20", "odd/-x", "odd/é", "a.log", "build/x.txt"} { // ignored is not refused
			if got := d.Call(t, request{tool: "ctx_read", args: `{"path":` + quoted(name) + `}`}); got.code != "" {
				t.Errorf("%q: %v", name, got)
			}
		}
		got := d.Call(t, request{tool: "ctx_tree"})
		for name, shown := range map[string]bool{`"keep.log"`: true, `"src/build/y.txt"`: true, `"a.log"`: false, `"build/x.txt"`: false, `"odd/日本"`: true} {
			if strings.Contains(got.data, name) != shown {
				t.Errorf("%s: shown %v", name, !shown)
			}
		}
		if got := d.Call(t, request{tool: "ctx_search", args: `{"pattern":"^[axyk]$"}`}); !strings.Contains(got.data, `"total_matches":2`) {
			t.Errorf("%v", got)
		}
	})
}
