package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/fault"
)

// Members of _meta.
const (
	metaResult       = "ctxd/result"
	metaConversation = "ctxd/conversation"
)

// take runs tools/call through the pipeline and leaves the rest to the SDK, which would let a panic end the process.
func (s *Server) take(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				s.Logger.Error("request failed", "method", method, "cause", fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
				res, err = nil, rpcError(fault.New(catalog.Internal, "the server failed; its log says why"))
			}
		}()
		leave, err := s.admit(ctx, method)
		if err != nil {
			return nil, rpcError(err)
		}
		defer leave()
		if call, ok := req.(*mcp.CallToolRequest); ok && method == "tools/call" {
			return s.call(ctx, call)
		}
		if err := s.anywhere(req.GetExtra()); err != nil {
			return nil, rpcError(err)
		}
		return next(ctx, method, req)
	}
}

// anywhere checks the workspace of a request whose answer does not depend on it, as REST does.
func (s *Server) anywhere(extra *mcp.RequestExtra) error {
	if s.flights.stdio != "" || extra == nil {
		return nil
	}
	f, ok := s.flights.find(extra.Header)
	if !ok || f.header == nil && f.query == nil {
		return nil
	}
	_, err := s.Pipeline.Locate(f.principal, action.Where{Header: f.header, Query: f.query})
	return err
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
	req := action.Request{ID: s.NewID(), Tool: call.Params.Name, Arguments: call.Params.Arguments, Client: clientName(call)}
	done := func() {}
	if s.flights.stdio != "" {
		req.Principal, req.Conversation = s.caller(), s.flights.stdio
		if s.Stdio.Default != "" {
			req.Where.Header = &s.Stdio.Default
		}
		ctx, done = until(ctx, s.flights.running)
	} else {
		f, ok := s.flights.find(header(call))
		if !ok {
			return req, ctx, done, fault.New(catalog.RequestCanceled, "the caller went away")
		}
		var err error
		if ctx, done, err = s.enter(ctx, f); err != nil {
			return req, ctx, done, err
		}
		req.Principal, req.Where.Header, req.Where.Query = f.principal, f.header, f.query
		req.Actor, req.Conversation = f.actor, call.Session.ID()
		if req.Conversation == "" {
			req.Conversation = f.conversation
		}
	}
	if v, there := call.Params.Meta[metaConversation]; there {
		c, ok := v.(string)
		if !ok || c == "" {
			done()
			return req, ctx, func() {}, fault.New(catalog.InvalidRequest, "_meta[%q] must be an id", metaConversation)
		}
		req.Conversation = c
	}
	return req, ctx, done, nil
}

// header finds the headers that the call came with; nil where the SDK knows none.
func header(call *mcp.CallToolRequest) http.Header {
	if call.Extra == nil {
		return nil
	}
	return call.Extra.Header
}

// enter begins a call of an HTTP request. The calls of a batch take turns, and each counts as a request: one request must not
// be a way around the limits on many (http.md L1).
func (s *Server) enter(ctx context.Context, f *flight) (context.Context, func(), error) {
	ctx, done := until(ctx, f.ctx)
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		done()
		return ctx, func() {}, ctx.Err()
	}
	leave := func() { <-f.turn; done() }
	if f.calls++; f.calls > 1 && s.Charge != nil {
		if err := s.Charge(f.ctx); err != nil {
			leave()
			return ctx, func() {}, err
		}
	}
	return ctx, leave, nil
}

// until is ctx, ended also when other ends.
func until(ctx, other context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(nil) }
}

// clientName is the name that the client program gives itself.
func clientName(call *mcp.CallToolRequest) string {
	if info := call.ClientInfo(); info != nil {
		return info.Name
	}
	return ""
}

// failed tells a fault (http.md X3): what a tool or its arguments did wrong is a result that a model can read; what the call
// itself did wrong is an error of the protocol.
func failed(callID string, f *fault.Fault) (mcp.Result, error) {
	asResult := f.Code == catalog.ToolError && f.Reason() != "unknown_tool" || f.Code == catalog.InvalidArguments ||
		f.Code == catalog.RequestTimeout || f.Code == catalog.StoreUnavailable || f.Code == catalog.Overloaded || f.Code == catalog.Internal
	if !asResult {
		return nil, callError(callID, f)
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
func rpcError(err error) error { return callError("", err) }

// callError is rpcError for a call, whose events have the id.
func callError(callID string, err error) error {
	f := fault.From(err)
	row := f.Row()
	data, mErr := json.Marshal(struct {
		Code      catalog.ErrorCode `json:"error_code"`
		Retryable bool              `json:"retryable"`
		Details   any               `json:"details,omitempty"`
		CallID    string            `json:"callId,omitempty"`
	}{f.Code, row.Retryable, f.Details, callID})
	if mErr != nil {
		data = fmt.Appendf(nil, `{"error_code":%q,"retryable":%t}`, f.Code, row.Retryable)
	}
	return &jsonrpc.Error{Code: int64(row.JSONRPC), Message: f.Message, Data: data}
}
