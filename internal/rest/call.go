package rest

import (
	"context"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/rest"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/fault"
)

// CallTool runs one call. It has the id of the request, so that answer, events and log name it alike.
func (s handlers) CallTool(ctx context.Context, r rest.CallToolRequestObject) (rest.CallToolResponseObject, error) {
	in := of(ctx)
	req, err := action.ParseRequest(in.body)
	if err != nil {
		return nil, err
	}
	req.ID, req.Principal = in.id, in.principal
	req.Where.Header, req.Where.Query = r.Params.XLeanctxWorkspace, r.Params.WorkspaceId
	if c := r.Params.XConversationId; c != nil {
		if req.Conversation != "" && req.Conversation != *c {
			return nil, fault.New(catalog.InvalidRequest, "X-Conversation-Id is %q, conversationId in the body is %q", *c, req.Conversation)
		}
		if req.Conversation = *c; *c == "" {
			return nil, fault.New(catalog.InvalidRequest, "X-Conversation-Id is empty")
		}
	}
	if r.Params.XAgentId != nil {
		req.Actor = *r.Params.XAgentId
	}
	res, err := s.Pipeline.Call(ctx, req)
	if err != nil {
		return nil, err
	}
	return raw{kind: "application/json", body: result(res)}, nil
}

// result is {"result": CallToolResult}, put together from what was sealed.
func result(res *action.Result) []byte {
	meta := encode(res.Meta)
	b := make([]byte, 0, len(res.TextJSON)+len(res.Structured)+len(meta)+128)
	b = append(b, `{"result":{"content":[{"type":"text","text":`...)
	b = append(b, res.TextJSON...)
	b = append(b, `}],"structuredContent":`...)
	b = append(b, res.Structured...)
	b = append(b, `,"isError":false,"_meta":{"ctxd/result":`...)
	b = append(b, meta[:len(meta)-1]...)
	return append(b, "}}}\n"...)
}
