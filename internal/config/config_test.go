package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

func key(t *testing.T, name string) catalog.ConfigKey {
	t.Helper()
	for _, k := range catalog.ConfigKeys {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("no key %s", name)
	return catalog.ConfigKey{}
}

func TestLaterLayersWin(t *testing.T) {
	t.Parallel()
	file, err := ParseFile([]byte(`{"port": 1000, "host": "localhost", "max_rps": 7}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Merge(Layer{"file", file}, Layer{"environment", map[string]any{"port": json.Number("2000")}}, Layer{"flag", map[string]any{"port": json.Number("3000")}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Port != 3000 || c.Host != "localhost" || c.MaxRps != 7 || c.MaxConcurrency != 32 {
		t.Errorf("%+v", c.Config)
	}
	for k, want := range map[string]string{"port": "flag", "host": "file", "max_rps": "file", "max_concurrency": "default"} {
		if got := c.Source(k); got != want {
			t.Errorf("%s comes from %s, want %s", k, got, want)
		}
	}
}

// Zero is a value, not an absence.
func TestZeroTurnsALimitOff(t *testing.T) {
	t.Parallel()
	c, err := Merge(Layer{"file", map[string]any{"max_rps": json.Number("0"), "request_timeout_ms": json.Number("0")}})
	if err != nil || c.MaxRps != 0 || c.RequestTimeoutMs != 0 || c.RateBurst != 100 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestFaultsNameTheKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"prot": 1}`:            `did you mean "port"?`,
		`{"port": 70000}`:        "/port must be at most 65535",
		`{"port": "x"}`:          "/port must be of type integer",
		`{"port": 1, "port": 2}`: `"port" stands twice`,
		`{"tokens":[{"id":"a b","sha256Hex":"` + strings.Repeat("a", 64) + `","scopes":["search"]}]}`: "/tokens/0/id",
		`{"tokens":[{"id":"a","sha256Hex":"aa","scopes":["search"]}]}`:                                "/tokens/0/sha256Hex",
		`[]`: "no object",
		``:   "ends early",
	} {
		_, err := ParseFile([]byte(in))
		if !fault.Is(err, catalog.InvalidRequest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestFromText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, text, want string }{
		{"port", "80", "80"}, {"stateful_mode", "true", "true"}, {"host", "::1", `"::1"`},
		{"allowed_hosts", "a, b,,", `["a","b"]`}, {"allowed_hosts", `["a,b"]`, `["a,b"]`}, {"allowed_hosts", "", "[]"},
	} {
		v, err := FromText(key(t, c.key), c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := json.Marshal(v)
		if err != nil || string(got) != c.want {
			t.Errorf("%s=%s gave %s, want %s", c.key, c.text, got, c.want)
		}
	}
	for k, text := range map[string]string{"port": "eighty", "stateful_mode": "yes please", "allowed_hosts": "[1"} {
		if v, err := FromText(key(t, k), text); err == nil {
			t.Errorf("%s=%s gave %v", k, text, v)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	c, err := Merge(Layer{"file", map[string]any{"auth_token": "very-secret-token"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(c.Settings())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "very-secret") || !strings.Contains(string(out), "[secret]") {
		t.Errorf("%s", out)
	}
}

// A4, A5: several workspaces, and which of them is the default.
func TestA4Roots(t *testing.T) {
	t.Parallel()
	none := func(string) bool { return false }
	w, err := ParseRoot("/srv/my:odd:api", none)
	if err != nil || w["id"] != "api" || w["root"] != "/srv/my:odd" {
		t.Errorf("%v, %v", w, err)
	}
	if w, err = ParseRoot("/srv/my:odd", func(string) bool { return true }); err == nil {
		t.Errorf("a folder's name became an id: %v", w)
	}
	if w, err = ParseRoot("/srv/web", none); err != nil || w["id"] != "web" {
		t.Errorf("%v, %v", w, err)
	}
	roots := func(layers ...Layer) (string, string) {
		c, err := Merge(layers...)
		if err != nil {
			t.Fatal(err)
		}
		list, def, err := c.Roots()
		if err != nil {
			return "", err.Error()
		}
		var ids []string
		for _, w := range list {
			ids = append(ids, w.ID)
		}
		return strings.Join(ids, " "), def
	}
	ws := func(ids ...string) Layer {
		list := []any{}
		for _, id := range ids {
			list = append(list, map[string]any{"id": id, "root": "/" + id})
		}
		return Layer{"flag", map[string]any{"workspaces": list}}
	}
	set := func(k, v string) Layer { return Layer{"flag", map[string]any{k: v}} }
	for _, c := range []struct {
		layers   []Layer
		ids, def string
	}{
		{nil, "default", "default"},
		{[]Layer{ws("a", "b")}, "a b", "a"},
		{[]Layer{ws("a", "default")}, "a default", "default"},
		{[]Layer{ws("a"), set("project_root", "/x")}, "default a", "default"},
		{[]Layer{ws("a", "b"), set("defaultWorkspaceId", "b")}, "a b", "b"},
	} {
		if ids, def := roots(c.layers...); ids != c.ids || def != c.def {
			t.Errorf("%v: %s, default %s; want %s, %s", c.layers, ids, def, c.ids, c.def)
		}
	}
	for _, bad := range [][]Layer{{ws("a", "a")}, {ws("a"), set("defaultWorkspaceId", "c")}} {
		if ids, err := roots(bad...); ids != "" || !strings.Contains(err, "invalid_request") {
			t.Errorf("%v: %s %s", bad, ids, err)
		}
	}
}

func TestA5Tokens(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("aB", 32)
	parse := func(tokens string, extra ...Layer) error {
		file, err := ParseFile([]byte(`{"tokens":` + tokens + `}`))
		if err != nil {
			return err
		}
		c, err := Merge(append(extra, Layer{"file", file})...)
		if err != nil {
			return err
		}
		_, err = c.IdentityTokens([]string{"default"})
		return err
	}
	if err := parse(`[{"id":"a","sha256Hex":"` + hash + `","scopes":["search","sessionmutations"],"expiresAt":"2030-01-01T00:00:00Z","workspaces":["default"]}]`); err != nil {
		t.Error(err)
	}
	for in, want := range map[string]string{
		`[{"id":"a","sha256Hex":"` + hash + `","scopes":["Search"]}]`:                                                                              `no scope "Search"`,
		`[{"id":"a","sha256Hex":"` + hash + `","scopes":["search"],"workspaces":["x"]}]`:                                                           "not served",
		`[{"id":"a","sha256Hex":"` + hash + `","scopes":["search"]},{"id":"b","sha256Hex":"` + strings.ToLower(hash) + `","scopes":["search"]}]`:   "are the same",
		`[{"id":"a","sha256Hex":"` + hash + `","scopes":["search"]},{"id":"a","sha256Hex":"` + strings.Repeat("b", 64) + `","scopes":["search"]}]`: "two tokens",
		`[{"id":"a","sha256Hex":"` + hash + `","scopes":["search"],"expiresAt":"tomorrow"}]`:                                                       "expiresAt",
		`[{"id":"a","sha256Hex":"` + hash + `","scopes":[]}]`:                                                                                      "scopes",
	} {
		if err := parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

// Whatever a configuration file holds, it is taken whole or refused with the fault invalid_request.
func FuzzParseFile(f *testing.F) {
	for _, s := range []string{`{}`, `{"port":1}`, `{"tokens":[{"id":"a","sha256Hex":"` + strings.Repeat("a", 64) + `","scopes":["search"]}]}`, `{"workspaces":[{"id":"x","root":"/"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := ParseFile(data)
		if err != nil {
			if !fault.Is(err, catalog.InvalidRequest) {
				t.Fatalf("%v", err)
			}
			return
		}
		c, err := Merge(Layer{"file", values})
		if err != nil {
			if !fault.Is(err, catalog.InvalidRequest) {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, _, err := c.Roots(); err != nil && !fault.Is(err, catalog.InvalidRequest) {
			t.Fatalf("%v", err)
		}
		if _, err := c.IdentityTokens(nil); err != nil && !fault.Is(err, catalog.InvalidRequest) {
			t.Fatalf("%v", err)
		}
	})
}
