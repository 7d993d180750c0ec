package sources_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/tools/internal/contractcopy"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

// Each edit breaks the contract in one place; what Load says names the file and the thing.
func TestBrokenSourcesAreRefused(t *testing.T) {
	t.Parallel()
	const (
		tree, session = "schemas/manifest/ctx_tree.json", "schemas/manifest/ctx_session.json"
		codes         = "api/catalog/errors.yaml"
	)
	for name, c := range map[string]struct{ file, old, new, want string }{
		"unknown scope":          {tree, `"scopes": ["search"]`, `"scopes": ["serch"]`, `ctx_tree.json: capability 0: cap:ctxd:folder:list: no scope "serch" in api/catalog/scopes.yaml`},
		"two meanings":           {session, `"The task, finding or decision."`, `"The task."`, `ctx_session.json: the parameter "value" means different things`},
		"no binding":             {session, `"bindings": [{ "profile": "aip.mcp.compat.v1", "action": "finding" }],`, ``, "ctx_session.json: either there is one capability, or each is bound to an action"},
		"default of no action":   {session, `"default_action": "status"`, `"default_action": "show"`, "ctx_session.json: either there is one capability"},
		"id taken":               {tree, `"cap:ctxd:folder:list"`, `"cap:ctxd:file:read"`, "ctx_tree.json: cap:ctxd:file:read is taken by ctx_read"},
		"name of another file":   {tree, `"tool": "ctx_tree"`, `"tool": "ctx_list"`, `the tool is called "ctx_list", the file says "ctx_tree"`},
		"open input":             {tree, `"additionalProperties": false,`, ``, "an input is a closed object"},
		"combined input":         {tree, `"additionalProperties": false,`, `"additionalProperties": false, "anyOf": [{}],`, "an input has no anyOf at its root"},
		"reserved parameter":     {session, `"max_tokens": {`, `"channelid": {`, `the parameter "channelid" is taken by the call itself`},
		"long parameter":         {session, `"max_tokens": {`, `"` + strings.Repeat("a", 41) + `": {`, "does not match"},
		"no output":              {session, `"output_schema"`, `"output_skema"`, "has an input and an output schema"},
		"reference to no file":   {tree, `../tool-parts.schema.json#/$defs/max_tokens`, `../parts.json#/$defs/max_tokens`, "ctx_tree.json"},
		"reference to nothing":   {tree, `#/$defs/max_tokens`, `#/$defs/min_tokens`, `no member "min_tokens"`},
		"reference to itself":    {"schemas/tool-parts.schema.json", `"max_tokens": {`, `"max_tokens": { "$ref": "#/$defs/max_tokens",`, "references go round"},
		"member twice":           {tree, `"title":`, `"title": "a", "title":`, `ctx_tree.json: line`},
		"code twice":             {codes, "code: origin_denied", "code: scope_denied", `errors.yaml: "scope_denied" stands twice`},
		"code of capitals":       {codes, "code: internal", "code: Internal", `"Internal" does not match`},
		"row without a status":   {codes, "  status: 401\n", "", `the row of "unauthorized" is not whole`},
		"unknown column":         {codes, "  status: 401\n", "  http: 401\n", "errors.yaml"},
		"unknown consistency":    {"api/catalog/events.yaml", "consistency: local", "consistency: maybe", `the row of "tool_call_recorded" has an unknown word`},
		"unknown kind of metric": {"api/catalog/metrics.yaml", "type: counter", "type: rate", `the row of "eventsAppended" has an unknown word`},
		"alias taken":            {"api/catalog/scopes.yaml", "[sessionmutations,", "[search,", `scopes.yaml: "search" stands twice`},
		"foreign id":             {"schemas/ready.schema.json", "ctxd.dev/schemas/ready", "ctxd.dev/schemas/steady", "schemas/ready.schema.json: $id is"},
		"type taken":             {"schemas/ready.schema.json", `"title": "Ready"`, `"title": "Error"`, "the name Error is taken by schemas/error.schema.json"},
		"type not exported":      {"schemas/ready.schema.json", `"title": "Ready"`, `"title": "ready"`, `"ready" is no exported name`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := contractcopy.Make(t)
			contractcopy.Edit(t, root, c.file, c.old, c.new)
			_, err := sources.Load(root)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestGoName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"ctx_read": "CtxRead", "read-many": "ReadMany", "task_result": "TaskResult", "sessionMutations": "SessionMutations"} {
		if got := sources.GoName(in); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}
