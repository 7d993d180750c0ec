package rest

import (
	"context"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/rest"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/fault"
)

// handlers implements the generated interface.
type handlers struct{ *Server }

var _ rest.StrictServerInterface = handlers{}

// GetHealth says that the process serves.
func (s handlers) GetHealth(context.Context, rest.GetHealthRequestObject) (rest.GetHealthResponseObject, error) {
	return raw{kind: "text/plain; charset=utf-8", body: []byte("ok\n")}, nil
}

// GetReady says whether the server wants traffic.
func (s handlers) GetReady(ctx context.Context, _ rest.GetReadyRequestObject) (rest.GetReadyResponseObject, error) {
	reasons := s.Ready(ctx)
	if len(reasons) == 0 {
		return object(schema.Ready{Status: "ready", Checks: []string{"configuration", "store"}}), nil
	}
	var details []fault.Detail
	for _, r := range reasons {
		details = append(details, fault.Detail{Message: r})
	}
	return nil, fault.New(catalog.NotReady, "not ready: %s", reasons[0]).WithDetails(details)
}

// GetOpenAPI gives the whole API.
func (s handlers) GetOpenAPI(_ context.Context, r rest.GetOpenAPIRequestObject) (rest.GetOpenAPIResponseObject, error) {
	return document(s.documents.openAPI, r.Params.IfNoneMatch), nil
}

// GetContractOpenAPI gives the routes of the contract.
func (s handlers) GetContractOpenAPI(ctx context.Context, r rest.GetContractOpenAPIRequestObject) (rest.GetContractOpenAPIResponseObject, error) {
	if err := s.anywhere(ctx, r.Params.XLeanctxWorkspace); err != nil {
		return nil, err
	}
	return document(s.documents.contract, r.Params.IfNoneMatch), nil
}

// GetCapabilities gives the capabilities document.
func (s handlers) GetCapabilities(ctx context.Context, r rest.GetCapabilitiesRequestObject) (rest.GetCapabilitiesResponseObject, error) {
	if err := s.anywhere(ctx, r.Params.XLeanctxWorkspace); err != nil {
		return nil, err
	}
	return raw{kind: "application/json", body: s.documents.capabilities}, nil
}

// GetManifest gives the whole tool surface.
func (s handlers) GetManifest(ctx context.Context, r rest.GetManifestRequestObject) (rest.GetManifestResponseObject, error) {
	if err := s.anywhere(ctx, r.Params.XLeanctxWorkspace); err != nil {
		return nil, err
	}
	return raw{kind: "application/json", body: s.documents.manifest}, nil
}

// Caps of /v1/tools (http.md R5).
const (
	toolsLimit = 200
	toolsCap   = 500
)

// ListTools gives a page of the tools.
func (s handlers) ListTools(ctx context.Context, r rest.ListToolsRequestObject) (rest.ListToolsResponseObject, error) {
	if err := s.anywhere(ctx, r.Params.XLeanctxWorkspace); err != nil {
		return nil, err
	}
	offset, limit := 0, toolsLimit
	if r.Params.Offset != nil {
		offset = *r.Params.Offset
	}
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	if offset < 0 || limit < 0 {
		return nil, fault.New(catalog.InvalidRequest, "offset and limit are 0 or more")
	}
	all := s.documents.entries
	offset, limit = min(offset, len(all)), min(limit, toolsCap)
	return object(schema.ToolList{Tools: all[offset:min(offset+limit, len(all))], Total: len(all), Offset: offset, Limit: limit}), nil
}

// anywhere checks the workspace of a request whose answer does not depend on it.
func (s *Server) anywhere(ctx context.Context, header *string) error {
	_, err := s.Pipeline.Locate(of(ctx).principal, action.Where{Header: header})
	return err
}
