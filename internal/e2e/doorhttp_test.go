package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/internal/jsondoc"
	"github.com/ctxd/ctxd/internal/testkit"
)

// restDoor is POST /v1/tools/call.
type restDoor struct{ s *testkit.Server }

func restAt(t testing.TB, set testkit.Settings) door { return restDoor{testkit.Start(t, set)} }

func (d restDoor) Name() string                        { return "rest" }
func (d restDoor) Observer(testing.TB) *testkit.Server { return d.s }

func (d restDoor) Call(t testing.TB, r request) outcome {
	t.Helper()
	b := fmt.Appendf(nil, `{"name":%s`, quoted(r.tool))
	for name, v := range map[string]string{"workspaceId": r.workspace, "channelId": r.channel} {
		if v != "" {
			b = fmt.Appendf(b, `,%q:%s`, name, quoted(v))
		}
	}
	if r.args != "" {
		b = append(append(b, `,"arguments":`...), r.args...)
	}
	headers := r.headers()
	if r.agent != "" {
		headers = append(headers, "X-Agent-Id", r.agent)
	}
	return restOutcome(t, d.s.Do(http.MethodPost, "/v1/tools/call"+r.suffix(), string(b)+"}", headers...))
}

// restOutcome reads an answer of POST /v1/tools/call.
func restOutcome(t testing.TB, a testkit.Answer) outcome {
	t.Helper()
	if a.Status == http.StatusOK {
		var ok struct {
			Result callResult `json:"result"`
		}
		a.Decode(t, &ok)
		return ok.Result.outcome(t)
	}
	var e struct {
		Error   string   `json:"error"`
		Code    string   `json:"error_code"`
		Details []detail `json:"details"`
	}
	a.Decode(t, &e)
	return outcome{code: e.Code, message: e.Error, details: e.Details}
}

func (r request) headers() []string {
	var out []string
	if r.header != "" {
		out = append(out, "x-leanctx-workspace", r.header)
	}
	if r.conversation != "" {
		out = append(out, "X-Conversation-Id", r.conversation)
	}
	return out
}

func (r request) suffix() string {
	if r.query == "" {
		return ""
	}
	return "?workspaceId=" + url.QueryEscape(r.query)
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// statelessDoor is POST /mcp without a session, in raw HTTP.
type statelessDoor struct{ s *testkit.Server }

func statelessAt(t testing.TB, set testkit.Settings) door {
	return statelessDoor{testkit.Start(t, set)}
}

func (d statelessDoor) Name() string                        { return "mcp-stateless" }
func (d statelessDoor) Observer(testing.TB) *testkit.Server { return d.s }

func (d statelessDoor) Call(t testing.TB, r request) outcome {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, quoted(r.tool), r.within(t))
	return rpcOutcome(t, d.s.Do(http.MethodPost, "/mcp"+r.suffix(), body, r.headers()...).Body)
}

// rpcOutcome reads an answer of JSON-RPC to tools/call.
func rpcOutcome(t testing.TB, raw []byte) outcome {
	t.Helper()
	var m struct {
		Result *callResult    `json:"result"`
		Error  *jsonrpc.Error `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	if m.Error != nil {
		return rpcFailure(t, m.Error)
	}
	if m.Result == nil {
		t.Fatalf("neither result nor error in %s", raw)
	}
	noNull(t, raw)
	return m.Result.outcome(t)
}

// noNull fails where a null stands in a result (case 34): no tool has a member that may be one.
func noNull(t testing.TB, raw []byte) {
	t.Helper()
	v, err := jsondoc.Decode(bytes.TrimSpace(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case nil:
			t.Errorf("%s is null in %s", at, raw)
		case []any:
			for i, e := range v {
				walk(fmt.Sprint(at, "/", i), e)
			}
		case map[string]any:
			for k, e := range v {
				walk(at+"/"+k, e)
			}
		}
	}
	walk("", v)
}

func rpcFailure(t testing.TB, e *jsonrpc.Error) outcome {
	t.Helper()
	var data struct {
		Code    string   `json:"error_code"`
		Details []detail `json:"details"`
	}
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatalf("%v in %s", err, e.Data)
		}
	}
	if data.Code == "" {
		t.Fatalf("an error of JSON-RPC without error_code: %v %s", e, e.Data)
	}
	return outcome{code: data.Code, message: e.Message, details: data.Details}
}

// sdkDoor is a session of the official SDK's client.
type sdkDoor struct {
	name    string
	session *mcp.ClientSession
	observe func(testing.TB) *testkit.Server
}

func (d sdkDoor) Name() string                          { return d.name }
func (d sdkDoor) Observer(t testing.TB) *testkit.Server { return d.observe(t) }

func (d sdkDoor) Call(t testing.TB, r request) outcome {
	t.Helper()
	params := &mcp.CallToolParams{Name: r.tool, Arguments: json.RawMessage(r.within(t))}
	if r.conversation != "" {
		params.Meta = mcp.Meta{"ctxd/conversation": r.conversation}
	}
	res, err := d.session.CallTool(t.Context(), params)
	if err != nil {
		var e *jsonrpc.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		return rpcFailure(t, e)
	}
	raw, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var back callResult
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return back.outcome(t)
}

// statefulAt is a session over HTTP.
func statefulAt(t testing.TB, set testkit.Settings) door {
	t.Helper()
	s := testkit.Start(t, with(set, testkit.Settings{"stateful_mode": true}))
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: s.URL + "/mcp", HTTPClient: s.Client, MaxRetries: -1})
	return sdkDoor{"mcp-stateful", session, func(testing.TB) *testkit.Server { return s }}
}

// connect begins a session of the SDK's client, which ends with the test.
func connect(t testing.TB, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil && !strings.Contains(err.Error(), "closed") {
			t.Logf("closing the session: %v", err)
		}
	})
	return session
}
