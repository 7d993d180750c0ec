package contracttest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// answers is a server that answers whatever it is told to.
type answers struct {
	status int
	kind   string
	body   string
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{"Content-Type": {a.kind}}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

// The gate that every HTTP test goes through can fail: answers that break the contract, each in one way.
func TestTransportCatchesPlantedFaults(t *testing.T) {
	t.Parallel()
	const js = "application/json"
	for _, c := range []struct {
		name, path string
		a          answers
		ok         bool
	}{
		{"a good list", "/v1/tools", answers{200, js, `{"tools":[],"total":0,"offset":0,"limit":1}`}, true},
		{"null for a list", "/v1/tools", answers{200, js, `{"tools":null,"total":0,"offset":0,"limit":1}`}, false},
		{"a missing member", "/v1/tools", answers{200, js, `{"tools":[],"total":0,"offset":0}`}, false},
		{"a wrong type", "/v1/tools", answers{200, js, `{"tools":[],"total":"0","offset":0,"limit":1}`}, false},
		{"an undeclared status", "/v1/tools", answers{201, js, `{}`}, false},
		{"an undeclared type", "/v1/tools", answers{200, "text/html", `<html>`}, false},
		{"an undeclared route", "/v1/nope", answers{200, js, `{}`}, false},
		{"a good error", "/v1/tools", answers{401, js, `{"error":"x","error_code":"unauthorized"}`}, true},
		{"an error in plain text", "/v1/tools", answers{401, "text/plain", `no`}, false},
		{"an error without its code", "/v1/tools", answers{401, js, `{"error":"x"}`}, false},
		{"an unknown code", "/v1/tools", answers{400, js, `{"error":"x","error_code":"made_up"}`}, false},
		{"a code with another status", "/v1/tools", answers{403, js, `{"error":"x","error_code":"unauthorized"}`}, false},
		{"an error that the route does not declare", "/v1/tools", answers{504, js, `{"error":"x","error_code":"request_timeout"}`}, false},
		{"an error outside of all routes", "/nope", answers{404, js, `{"error":"x","error_code":"not_found"}`}, true},
		{"an error of JSON-RPC without data", "/mcp", answers{400, js, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`}, false},
		{"health with another body", "/health", answers{200, "text/plain", "OK"}, false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := Transport{c.a}.RoundTrip(r)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
	}
	if err := Event([]byte(`{"id":1}`)); err == nil {
		t.Error("an event without its members passes")
	}
}
