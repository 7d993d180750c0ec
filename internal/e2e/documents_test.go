package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/api"
	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/testkit"
)

// R2: the document of the contract has its eleven routes and nothing but methods below a path; the whole one is the file.
func TestR2Documents(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	whole, contract := s.Get("/openapi.json"), s.Get("/v1/openapi.json")
	if string(whole.Body) != string(api.OpenAPI) {
		t.Error("/openapi.json is not the file")
	}
	for name, a := range map[string]testkit.Answer{"/openapi.json": whole, "/v1/openapi.json": contract} {
		var d struct {
			OpenAPI      string                    `json:"openapi"`
			Paths        map[string]map[string]any `json:"paths"`
			ExternalDocs struct{ URL string }      `json:"externalDocs"`
		}
		a.Decode(t, &d)
		if !strings.HasPrefix(d.OpenAPI, "3.0.") {
			t.Errorf("%s: openapi %q", name, d.OpenAPI)
		}
		n := 0
		for path, methods := range d.Paths {
			for m := range methods {
				n++
				i := slices.IndexFunc(catalog.Routes, func(r catalog.Route) bool { return r.Path == path && r.Method == strings.ToUpper(m) })
				if i < 0 || name == "/v1/openapi.json" && !catalog.Routes[i].Contract {
					t.Errorf("%s: %s %s", name, m, path)
				}
			}
		}
		if want := map[string]int{"/openapi.json": len(catalog.Routes), "/v1/openapi.json": 11}[name]; n != want {
			t.Errorf("%s has %d operations, not %d", name, n, want)
		}
		if name == "/v1/openapi.json" && d.ExternalDocs.URL != "/openapi.json" {
			t.Errorf("externalDocs: %q", d.ExternalDocs.URL)
		}
		tag := a.Header.Get("ETag")
		for _, c := range []struct {
			held string
			want int
		}{{tag, 304}, {"W/" + tag, 304}, {`"x", ` + tag, 304}, {"*", 304}, {`"x"`, 200}, {strings.Trim(tag, `"`), 200}, {"", 200}} {
			b := s.Get(name, "If-None-Match", c.held)
			if b.Status != c.want || b.Status == 304 && (len(b.Body) > 0 || b.Header.Get("ETag") != tag) {
				t.Errorf("%s, If-None-Match %s: %d, %d bytes", name, c.held, b.Status, len(b.Body))
			}
			if h := s.Do(http.MethodHead, name, "", "If-None-Match", c.held); h.Status != c.want {
				t.Errorf("HEAD %s, If-None-Match %s: %d", name, c.held, h.Status)
			}
		}
	}
}

// R3: every tool has types of its own in the document; requests are closed, answers open.
func TestR3ToolTypes(t *testing.T) {
	t.Parallel()
	var d struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(api.OpenAPI, &d); err != nil {
		t.Fatal(err)
	}
	for _, spec := range tool.Specs {
		name := ""
		for part := range strings.SplitSeq(spec.Name, "_") {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
		in, out, call := d.Components.Schemas[name+"Input"], d.Components.Schemas[name+"Output"], d.Components.Schemas[name+"Call"]
		if in == nil || call == nil || out == nil && slices.Contains([]string{"CtxRead", "CtxSearch", "CtxTree"}, name) { // others share one
			t.Errorf("%s: input %v, output %v, call %v", name, in != nil, out != nil, call != nil)
			continue
		}
		if in["oneOf"] != nil {
			continue // one type for each action
		}
		if in["additionalProperties"] != false || call["additionalProperties"] != false || out["additionalProperties"] == false {
			t.Errorf("%s: requests are closed and answers open: %v %v %v", name, in["additionalProperties"], call["additionalProperties"], out["additionalProperties"])
		}
	}
}

// R5: pages of tools.
func TestR5Tools(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	type page struct {
		Tools                []json.RawMessage
		Total, Offset, Limit int
	}
	for query, want := range map[string][3]int{ // tools, offset, limit
		"": {len(tool.Specs), 0, 200}, "?limit=0": {0, 0, 0}, "?limit=2": {2, 0, 2}, "?limit=501": {len(tool.Specs), 0, 500},
		"?limit=1000000000": {len(tool.Specs), 0, 500}, "?offset=5&limit=500": {len(tool.Specs) - 5, 5, 500}, "?offset=1000000": {0, len(tool.Specs), 200},
	} {
		var p page
		a := s.Get("/v1/tools" + query)
		a.Decode(t, &p)
		if got := [3]int{len(p.Tools), p.Offset, p.Limit}; got != want || p.Total != len(tool.Specs) || strings.Contains(string(a.Body), "null") {
			t.Errorf("%s: %v of %d, want %v", query, got, p.Total, want)
		}
	}
	var all struct {
		Tools []struct {
			Name   string          `json:"name"`
			Input  json.RawMessage `json:"input_schema"`
			Sha256 string          `json:"schema_sha256"`
		} `json:"tools"`
	}
	s.Get("/v1/tools").Decode(t, &all)
	var names []string
	for _, e := range all.Tools {
		names = append(names, e.Name)
		if sum := sha256.Sum256(e.Input); hex.EncodeToString(sum[:]) != e.Sha256 {
			t.Errorf("%s: another hash", e.Name)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("%v", names)
	}
}

// R6: the capabilities have their keys in order and the same bytes on every call and after a restart, and no secret in them.
func TestR6Capabilities(t *testing.T) {
	t.Parallel()
	set := onData(t, testkit.Settings{"project_root": repository(t), "auth_token": "a-secret-token-of-somebody", "tokens": tokens(everything("ci", nil))})
	auth := []string{"Authorization", bearer("ci")}
	s := testkit.Start(t, set)
	body := string(s.Get("/v1/capabilities", auth...).Body)
	at := 0
	for _, key := range []string{"contract_version", "server", "plane", "transports", "presets", "read_modes", "tools", "features", "extensions", "contracts", "contract_status"} {
		i := strings.Index(body, `"`+key+`":`)
		if i < at {
			t.Errorf("%s stands at %d, before what precedes it", key, i)
		}
		at = i
	}
	for _, secret := range []string{"a-secret-token", "secret-of-ci", "sha256", set["data_dir"].(string), set["project_root"].(string), "ci\""} {
		if strings.Contains(body, secret) {
			t.Errorf("%s stands in %s", secret, body)
		}
	}
	s.Call(`{"name":"ctx_session"}`, auth...)
	if again := string(s.Get("/v1/capabilities", auth...).Body); again != body {
		t.Errorf("%s\n%s", body, again)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if again := string(testkit.Start(t, set).Get("/v1/capabilities", auth...).Body); again != body {
		t.Errorf("after a restart: %s\n%s", body, again)
	}
	var manifest map[string]json.RawMessage
	testkit.Start(t, nil).Get("/v1/manifest").Decode(t, &manifest)
	for _, key := range []string{"schema_version", "counts", "read_modes", "tools"} {
		if manifest[key] == nil {
			t.Errorf("no %s in the manifest", key)
		}
	}
}
