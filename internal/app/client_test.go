package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/gen/client"
	"github.com/ctxd/ctxd/internal/testkit"
)

// R3: the generated client speaks to a real server, in types.
func TestR3GeneratedClient(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	c, err := client.NewClientWithResponses(s.URL, client.WithHTTPClient(s.Client))
	if err != nil {
		t.Fatal(err)
	}
	limit := 2
	tools, err := c.ListToolsWithResponse(t.Context(), &client.ListToolsParams{Limit: &limit})
	if err != nil || tools.JSON200 == nil || len(tools.JSON200.Tools) != 2 || tools.JSON200.Total < 7 {
		t.Fatalf("%+v, %v", tools, err)
	}
	read, err := c.CallToolWithBodyWithResponse(t.Context(), nil, "application/json",
		strings.NewReader(`{"name":"ctx_read","arguments":{"path":"README.md"}}`))
	if err != nil || read.JSON200 == nil || read.JSON200.Result.IsError || read.JSON200.Result.Meta.CtxdResult.Tokens == 0 {
		t.Fatalf("%s, %v", read.Body, err)
	}
	wrong, err := c.CallToolWithBodyWithResponse(t.Context(), nil, "application/json", strings.NewReader(`{"name":"ctx_raed"}`))
	if err != nil || wrong.StatusCode() != http.StatusBadRequest || wrong.JSONDefault == nil || wrong.JSONDefault.ErrorCode != "tool_error" {
		t.Fatalf("%s, %v", wrong.Body, err)
	}
	sum, err := c.GetSummaryWithResponse(t.Context(), nil)
	if err != nil || sum.JSON200 == nil || sum.JSON200.TotalEvents != 2 {
		t.Fatalf("%s, %v", sum.Body, err)
	}
}
