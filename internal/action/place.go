package action

import (
	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/workspace"
)

// Locate finds the workspace of a request (http.md A4): body, then header, then query, then the default; header and query
// must agree. A workspace that is not served and one that the principal is not bound to get the same answer.
func (p *Pipeline) Locate(who identity.Principal, at Where) (*workspace.Workspace, error) {
	for _, named := range []struct {
		what string
		id   *string
	}{{"workspaceId in the body", at.Body}, {"x-leanctx-workspace", at.Header}, {"workspaceId in the query", at.Query}} {
		if named.id == nil {
			continue
		}
		if err := identity.CheckID(named.what, *named.id); err != nil {
			return nil, err
		}
	}
	if at.Header != nil && at.Query != nil && *at.Header != *at.Query {
		return nil, fault.New(catalog.InvalidRequest, "x-leanctx-workspace is %q, workspaceId in the query is %q", *at.Header, *at.Query)
	}
	id := p.Workspaces.Default()
	for _, named := range []*string{at.Query, at.Header, at.Body} {
		if named != nil {
			id = *named
		}
	}
	ws := p.Workspaces.Get(id)
	if ws == nil || !who.Bound(id) {
		return nil, fault.New(catalog.UnknownWorkspace, "unknown workspace")
	}
	return ws, nil
}
