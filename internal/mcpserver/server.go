// Package mcpserver is the MCP door, on the official SDK: streamable HTTP and stdio, versions 2024-11-05 to 2026-07-28. Every
// call runs through the same pipeline as REST.
//
// It translates only. Host, Origin, token and limits of HTTP are the work of rest, whose findings app hands in as functions;
// it never imports rest. Only app imports it.
package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/capability"
	"github.com/ctxd/ctxd/internal/identity"
)

// Config is what a Server is built from.
type Config struct {
	Pipeline *action.Pipeline
	Version  string
	Preset   string // which tools tools/list shows
	NewID    func() string
	Logger   *slog.Logger

	Stdio Stdio

	// Of HTTP only.
	Stateful   bool
	Principal  func(context.Context) identity.Principal        // who asks, by the context of the request
	Fail       func(http.ResponseWriter, *http.Request, error) // answers with the envelope
	Charge     func(context.Context) error                     // counts one more call of a request; nil: nobody does
	SessionTTL time.Duration                                   // how long an idle session lives
	Secret     []byte                                          // binds session ids to principals
}

// Stdio is what holds for the one client of ServeStdio. The zero value is a client that has the process for itself.
type Stdio struct {
	Workspaces []string                                        // that it may name; nil: all
	Default    string                                          // workspace of calls that name none; "": the server's
	Admit      func(context.Context) (leave func(), err error) // asked before each request; nil: all may come
	Calls      context.Context                                 // calls end with it, before the conversation does; nil: together
}

// Server answers MCP messages.
type Server struct {
	Config
	tools   []*mcp.Tool
	http    http.Handler
	flights flights

	mu      sync.Mutex
	servers map[string]*mcp.Server // by principal: a session belongs to who began it
}

// New makes a server.
func New(c Config) *Server {
	s := &Server{Config: c, servers: map[string]*mcp.Server{}}
	for _, t := range capability.Listed(c.Pipeline.Specs(), c.Preset) {
		s.tools = append(s.tools, describe(t))
	}
	s.http = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return s.serverFor(c.Principal(r.Context()).ID)
	}, &mcp.StreamableHTTPOptions{
		Stateless: !c.Stateful, JSONResponse: true, SessionTimeout: c.SessionTTL,
		MaxRequestBodyBytes:        -1,   // rest has bounded the body already
		DisableLocalhostProtection: true, // rest has judged Host and Origin already
		Logger:                     c.Logger,
	})
	return s
}

// instructions is what clients may show their model when they connect.
const instructions = "Context of the workspace: read, search and list files, and share the session of the channel. Answers say what they cost in _meta[\"ctxd/result\"]."

// serverFor gives the server of a principal. They differ only in the ids of their sessions.
func (s *Server) serverFor(principal string) *mcp.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.servers[principal]; ok {
		return known
	}
	srv := s.newServer(func() string { return s.sign(s.NewID(), principal) })
	s.servers[principal] = srv
	return srv
}

// Close ends all sessions of HTTP. Their calls must have been told to end before.
func (s *Server) Close() {
	s.mu.Lock()
	servers := slices.Collect(maps.Values(s.servers))
	s.mu.Unlock()
	for _, srv := range servers {
		for session := range srv.Sessions() {
			_ = session.Close() // its client has gone, or will see that the session has
		}
	}
}

func (s *Server) newServer(sessionID func() string) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "ctxd", Title: "ctxd", Version: s.Version}, &mcp.ServerOptions{
		Instructions: instructions, GetSessionID: sessionID, Logger: s.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range s.tools {
		srv.AddTool(t, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			panic("mcpserver: calls are taken before they reach the SDK")
		})
	}
	srv.AddReceivingMiddleware(s.take)
	return srv
}

// sign makes a session id that only its principal can use: nothing need be remembered to tell.
func (s *Server) sign(id, principal string) string {
	mac := hmac.New(sha256.New, s.Secret)
	mac.Write([]byte(id + "\x00" + principal))
	return id + "." + hex.EncodeToString(mac.Sum(nil)[:12]) // it is a conversation too, whose ids have at most 64 characters
}

func (s *Server) owns(session, principal string) bool {
	id, _, _ := strings.Cut(session, ".")
	return hmac.Equal([]byte(s.sign(id, principal)), []byte(session))
}

// describe is a tool as tools/list shows it.
func describe(t tool.Spec) *mcp.Tool {
	d := &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Input, Annotations: annotations(t)}
	if out := capability.OutputSchema(t); len(out) <= shortSchema && len(t.Capabilities) == 1 {
		d.OutputSchema = out
	}
	return d
}

// shortSchema is how long an output schema may be to be listed, in bytes: a list costs tokens in every conversation, and
// /v1/tools has them all (tools.md T2).
const shortSchema = 256

// annotations are the hints of a tool, as cautious as its worst capability, derived from side effects alone.
func annotations(t tool.Spec) *mcp.ToolAnnotations {
	effects := capability.SideEffects(t)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(effects, w) })
	}
	readOnly := len(effects) == 0 || len(effects) == 1 && effects[0] == "read"
	destructive := !readOnly
	open := has("external_network", "send_message", "financial", "code_execution")
	return &mcp.ToolAnnotations{ReadOnlyHint: readOnly, DestructiveHint: &destructive, IdempotentHint: readOnly, OpenWorldHint: &open}
}
