package main

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

// A call is judged by the schema of its tool alone: what that refuses does not pass as the call of an unknown tool.
func TestCallRequestIsOneCall(t *testing.T) {
	t.Parallel()
	s, err := sources.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	whole, contract, err := Bundle(s)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{
		`{"name": "ctx_read"}`:                                             true,
		`{"name": "ctx_read", "arguments": {"path": "a"}}`:                 true,
		`{"name": "ctx_read", "arguments": {"file": "a"}}`:                 false,
		`{"name": "ctx_read", "arguments": {"paths": null}}`:               false,
		`{"name": "ctx_read", "stray": 1}`:                                 false,
		`{"name": "ctx_search", "arguments": {}}`:                          true,
		`{"name": "ctx_multi_read", "arguments": {}}`:                      false,
		`{"name": "ctx_task", "arguments": {"state": "done"}}`:             true,
		`{"name": "ctx_task", "arguments": {"action": "delete"}}`:          false,
		`{"name": "their_tool"}`:                                           true,
		`{"name": "their_tool", "arguments": null}`:                        true,
		`{"name": "their_tool", "arguments": {"any": ["thing", 1, null]}}`: true,
		`{"name": "their_tool", "arguments": []}`:                          false,
		`{"name": "their_tool", "stray": 1}`:                               false,
		`{"arguments": {}}`:                                                false,
	}
	for _, d := range []*doc.Object{whole, contract} {
		loaded, err := openapi3.NewLoader().LoadFromData(doc.Marshal(d))
		if err != nil {
			t.Fatal(err)
		}
		request := loaded.Components.Schemas["CallRequest"].Value
		for in, want := range cases {
			var v any
			if err := json.Unmarshal([]byte(in), &v); err != nil {
				t.Fatal(err)
			}
			if err := request.VisitJSON(v); (err == nil) != want {
				t.Errorf("%s: %s gives %v", d.Object("info").String("title"), in, err)
			}
		}
	}
}
