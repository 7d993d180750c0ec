package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/jsondoc"
	"github.com/ctxd/ctxd/internal/testkit"
)

// door is a way to call tools.
type door interface {
	Name() string
	Call(t testing.TB, r request) outcome
	// Observer is a server over the same data, to look at what a call has left.
	Observer(t testing.TB) *testkit.Server
}

// request is a call as every door can make it.
type request struct {
	tool                      string
	args                      string // a JSON object; "" for none
	workspace, channel, agent string // named by the door's own means; "" for none
	header, query             string // workspaces; only doors on HTTP have these
	conversation              string // none at the command line, where each call is a conversation of its own
}

// outcome is what came back.
type outcome struct {
	text    string
	data    string // canonical JSON
	code    string // error_code; "" where the call succeeded
	message string // of the failure
	details []detail
	isError bool // over MCP: a result, not an error of the protocol
	meta    map[string]any
}

type detail struct {
	Pointer string `json:"pointer"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (o outcome) String() string {
	if o.code != "" {
		return fmt.Sprintf("%s: %s %v", o.code, o.message, o.details)
	}
	return o.text + "\n" + o.data
}

// same is what must be equal at every door.
func (o outcome) same() string {
	return strings.Join([]string{o.text, o.data, o.code, o.message, fmt.Sprint(o.details)}, "\x00")
}

// callResult is the CallToolResult of REST and MCP alike.
type callResult struct {
	Content           []struct{ Text string } `json:"content"`
	StructuredContent json.RawMessage         `json:"structuredContent"`
	IsError           bool                    `json:"isError"`
	Meta              map[string]any          `json:"_meta"`
}

// outcome reads a result. Over MCP, a failed one has its code in _meta.
func (r callResult) outcome(t testing.TB) outcome {
	t.Helper()
	o := outcome{isError: r.IsError, meta: r.Meta}
	if len(r.Content) != 1 {
		t.Fatalf("%d blocks of content", len(r.Content))
	}
	o.text = r.Content[0].Text
	if r.IsError {
		o.code, _ = r.Meta["error_code"].(string)
		o.message, o.text = strings.TrimPrefix(o.text, o.code+": "), ""
		o.details = detailsOf(t, r.Meta["details"])
		return o
	}
	o.data = canonical(t, r.StructuredContent)
	return o
}

func detailsOf(t testing.TB, v any) (out []detail) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("details %s: %v", raw, err)
	}
	return out
}

func canonical(t testing.TB, raw []byte) string {
	t.Helper()
	v, err := jsondoc.Decode(raw)
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return string(jsondoc.Canonical(v))
}

// within gives the arguments with what else the request names inside them.
func (r request) within(t testing.TB) string {
	t.Helper()
	args := map[string]any{}
	if r.args != "" {
		v, err := jsondoc.Decode([]byte(r.args))
		if err != nil {
			t.Fatalf("%v in %s", err, r.args)
		}
		var ok bool
		if args, ok = v.(map[string]any); !ok {
			return r.args
		}
	}
	for name, v := range map[string]string{"workspaceId": r.workspace, "channelId": r.channel, "agentId": r.agent} {
		if v != "" {
			args[name] = v
		}
	}
	return string(jsondoc.Canonical(args))
}

// eachDoor runs a test through every door.
func eachDoor(t *testing.T, set testkit.Settings, test func(*testing.T, door)) {
	t.Helper()
	for _, open := range []func(testing.TB, testkit.Settings) door{restAt, statelessAt, statefulAt, stdioAt, attachedAt, cliAt} {
		d := open(t, set)
		t.Run(d.Name(), func(t *testing.T) { t.Parallel(); test(t, d) })
	}
}

// with is a copy of settings with more in it.
func with(set testkit.Settings, more testkit.Settings) testkit.Settings {
	out := testkit.Settings{}
	for k, v := range set {
		out[k] = v
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// onData is the settings with a data folder of its own, named, so that an observer can open it too.
func onData(t testing.TB, set testkit.Settings) testkit.Settings {
	t.Helper()
	return with(set, testkit.Settings{"data_dir": filepath.Join(t.TempDir(), "data")})
}
