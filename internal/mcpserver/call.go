package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/identity"
)

// Members of _meta.
const (
	metaResult       = "ctxd/result"
	metaConversation = "ctxd/conversation"
)

// take runs tools/call through the pipeline and leaves the rest to the SDK.
func (s *Server) take(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || method != "tools/call" {
			return next(ctx, method, req)
		}
		return s.call(ctx, call)
	}
}

func (s *Server) call(ctx context.Context, call *mcp.CallToolRequest) (mcp.Result, error) {
	req, ctx, done, err := s.request(ctx, call)
	if err != nil {
		return nil, rpcError(err)
	}
	defer done()
	res, err := s.Pipeline.Call(ctx, req)
	if err != nil {
		return failed(req.ID, fault.From(err))
	}
	return &mcp.CallToolResult{
		Meta:              mcp.Meta{metaResult: res.Meta},
		Content:           []mcp.Content{&mcp.TextContent{Text: res.Text}},
		StructuredContent: json.RawMessage(res.Structured),
	}, nil
}

// request says who calls from where. The context that comes back ends with the HTTP request too, which the SDK's does not.
func (s *Server) request(ctx context.Context, call *mcp.CallToolRequest) (action.Request, context.Context, func(), error) {
	req := action.Request{ID: s.NewID(), Tool: call.Params.Name, Arguments: call.Params.Arguments, Conversation: call.Session.ID()}
	req.Actor = actor(call)
	done := func() {}
	if call.Extra != nil && call.Extra.Header != nil {
		f, ok := s.flights.find(call.Extra.Header)
		if !ok {
			return req, ctx, done, fault.New(catalog.RequestCanceled, "the caller went away")
		}
		req.Principal, req.Where.Header, req.Where.Query = f.principal, f.header, f.query
		if req.Conversation == "" {
			req.Conversation = f.conversation
		}
		if f.actor != "" {
			req.Actor = f.actor
		}
		ctx, done = until(ctx, f.ctx)
	} else {
		req.Principal, req.Conversation = identity.Local(), s.flights.stdio
	}
	if v, there := call.Params.Meta[metaConversation]; there {
		c, ok := v.(string)
		if !ok {
			return req, ctx, done, fault.New(catalog.InvalidRequest, "_meta[%q] must be a string", metaConversation)
		}
		req.Conversation = c
	}
	return req, ctx, done, nil
}

// until is ctx, ended also when other ends.
func until(ctx, other context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}

// actor is the name that the client gives itself, as far as it is fit to be shown.
func actor(call *mcp.CallToolRequest) string {
	info := call.ClientInfo()
	if info == nil || len(info.Name) > action.MaxActor {
		return ""
	}
	for _, c := range info.Name {
		if c < ' ' || c == 0x7f {
			return ""
		}
	}
	return info.Name
}

// failed tells a fault (http.md X3): what a tool or its arguments did wrong is a result that a model can read; what the call
// itself did wrong is an error of the protocol.
func failed(callID string, f *fault.Fault) (mcp.Result, error) {
	asResult := f.Code == catalog.ToolError && f.Reason() != "unknown_tool" || f.Code == catalog.InvalidArguments ||
		f.Code == catalog.RequestTimeout || f.Code == catalog.StoreUnavailable || f.Code == catalog.Overloaded || f.Code == catalog.Internal
	if !asResult {
		return nil, rpcError(f)
	}
	meta := mcp.Meta{"error_code": f.Code, "callId": callID, "retryable": f.Row().Retryable}
	if f.Details != nil {
		meta["details"] = f.Details
	}
	return &mcp.CallToolResult{
		Meta: meta, IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%s: %s", f.Code, f.Message)}},
	}, nil
}

// rpcError is a fault as an error of JSON-RPC, its code beside it for clients to branch on.
func rpcError(err error) error {
	f := fault.From(err)
	row := f.Row()
	data, mErr := json.Marshal(map[string]any{"error_code": f.Code, "retryable": row.Retryable, "details": f.Details})
	if f.Details == nil || mErr != nil {
		data = fmt.Appendf(nil, `{"error_code":%q,"retryable":%t}`, f.Code, row.Retryable)
	}
	return &jsonrpc.Error{Code: int64(row.JSONRPC), Message: f.Message, Data: data}
}
