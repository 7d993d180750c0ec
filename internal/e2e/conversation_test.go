package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// reader reads many/l.txt, which is long enough for a stub, as one conversation would.
type reader func(t *testing.T, tool, args string) outcome

// A3, cases 1 and 25: at every door, "unchanged" is said to a conversation that got the whole file, and to nobody else.
func TestA3ConversationAtEveryDoor(t *testing.T) {
	t.Parallel()
	root := repository(t)
	set := testkit.Settings{"project_root": root, "stateful_mode": true, "tokens": tokens(everything("a", nil), everything("b", nil))}
	s := testkit.Start(t, set)
	open := testkit.Start(t, testkit.Settings{"project_root": root})
	rest := func(token, body string, header ...string) reader {
		return func(t *testing.T, tool, args string) outcome {
			return restOutcome(t, s.Call(fmt.Sprintf(`{"name":%q,"arguments":%s%s}`, tool, args, body), append([]string{"Authorization", bearer(token)}, header...)...))
		}
	}
	rpc := func(s *testkit.Server, meta string, header ...string) reader {
		return func(t *testing.T, tool, args string) outcome {
			return rpcOutcome(t, s.Do(http.MethodPost, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, tool, args, meta), header...).Body)
		}
	}
	session := func(token string) reader {
		auth := []string{"Authorization", bearer(token)}
		return rpc(s, "", append([]string{"Mcp-Session-Id", begin(t, s, auth...)}, auth...)...)
	}
	stdio := func() reader {
		d := stdioAt(t, testkit.Settings{"project_root": root})
		return func(t *testing.T, tool, args string) outcome { return d.Call(t, request{tool: tool, args: args}) }
	}
	for name, read := range map[string]reader{
		"rest, in the body":                    rest("a", `,"conversationId":"c1"`),
		"rest, in a header":                    rest("a", "", "X-Conversation-Id", "c2"),
		"rest, the name of another's":          rest("b", `,"conversationId":"c1"`),
		"rest, the same in another channel":    rest("a", `,"conversationId":"c1","channelId":"other"`),
		"rest, the same by another agent":      rest("a", `,"conversationId":"c1"`, "X-Agent-Id", "ada"),
		"mcp without a session":                rpc(open, `,"_meta":{"ctxd/conversation":"c1"}`),
		"mcp without a session, in a header":   rpc(open, "", "X-Conversation-Id", "c2"),
		"an mcp session":                       session("a"),
		"another session of the same caller":   session("a"),
		"a session of another caller":          session("b"),
		"stdio":                                stdio(),
		"another process on the same standard": stdio(),
	} {
		t.Run(name, func(t *testing.T) {
			talks(t, read)
			if o := read(t, "ctx_read", `{"path":"src/main.go","mode":"lines:1-"}`); o.code != "" {
				t.Fatal(o)
			}
			for range 2 { // short enough that a stub would be dearer
				if o := read(t, "ctx_smart_read", `{"path":"src/main.go"}`); !strings.HasPrefix(o.text, "src/main.go 5L\npackage main") {
					t.Errorf("%s", o.text)
				}
			}
		})
	}
	for name, read := range map[string]reader{
		"rest": rest("a", ""), "mcp": rpc(open, ""), "cli": func(t *testing.T, tool, args string) outcome {
			return cliAt(t, testkit.Settings{"project_root": root}).Call(t, request{tool: tool, args: args})
		},
	} {
		t.Run("no conversation over "+name, func(t *testing.T) {
			for range 3 {
				if o := read(t, "ctx_read", `{"path":"many/l.txt"}`); !strings.HasPrefix(o.text, "many/l.txt 400L\na line") {
					t.Errorf("%.200s", o.text)
				}
			}
			if o := read(t, "ctx_read", `{"path":"many/l.txt","mode":"diff"}`); !strings.Contains(o.message, "belongs to no conversation") {
				t.Error(o)
			}
		})
	}
}

// talks reads a file in one conversation: first all of it, then that it is unchanged, by each tool that reads.
func talks(t *testing.T, read reader) {
	t.Helper()
	const stub = "many/l.txt [unchanged 400 lines; fresh=true re-sends]\n"
	first := read(t, "ctx_multi_read", `{"paths":["a.txt","many/l.txt"]}`)
	if !strings.Contains(first.text, "many/l.txt 400L\na line") || first.meta["fidelity"] == "lossy" {
		t.Errorf("%.200s", first.text)
	}
	for tool, args := range map[string]string{"ctx_read": `{"path":"many/l.txt"}`, "ctx_smart_read": `{"path":"many/../many/l.txt"}`, "ctx_multi_read": `{"paths":["many/l.txt"]}`} {
		if o := read(t, tool, args); o.text != stub || !strings.Contains(o.data, `"mode":"unchanged"`) {
			t.Errorf("%s: %.200s", tool, o)
		}
	}
	for _, args := range []string{`{"path":"many/l.txt","fresh":true}`, `{"path":"many/l.txt","mode":"full"}`} {
		if o := read(t, "ctx_read", args); !strings.HasPrefix(o.text, "many/l.txt 400L\na line") {
			t.Errorf("%s: %.200s", args, o.text)
		}
	}
}

// Cases 1 and 3: what was edited since, however it is hidden, is told as a change or sent anew.
func TestConversationSeesEdits(t *testing.T) {
	t.Parallel()
	root := repository(t)
	s := testkit.Start(t, testkit.Settings{"project_root": root})
	file := filepath.Join(root, "many", "l.txt")
	read := func(mode string) outcome {
		return restOutcome(t, s.Call(fmt.Sprintf(`{"name":"ctx_read","conversationId":"c","arguments":{"path":"many/l.txt","mode":%q}}`, mode)))
	}
	read("auto")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(raw), "long", "LONG", 1) // as large as before
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, mode := range []string{"auto", "diff"} {
			if o := read(mode); !strings.Contains(o.text, "\n-a line of text that is long") || !strings.Contains(o.text, "\n+a line of text that is LONG") {
				t.Errorf("%s: %.300s", mode, o.text)
			}
		}
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := read("auto"); !strings.Contains(o.text, "[unchanged 400 lines") {
		t.Errorf("put back: %.300s", o.text)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if o := read("auto"); !strings.Contains(o.message, "nothing is at") {
		t.Errorf("deleted: %v", o)
	}
}
