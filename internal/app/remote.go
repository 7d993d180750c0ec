package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/fault"
)

const (
	dialTimeout = 10 * time.Second
	maxAnswer   = 256 << 20 // bytes of an answer of a server
)

// Remote is a server elsewhere, as its callers know it.
type Remote struct {
	URL   string // without the path of a route
	Token string // "" for none
	Agent string // label of the caller
}

// RemoteFault is a fault that a server answered with.
type RemoteFault struct {
	error
	RequestID string
}

// Unwrap gives the fault.
func (f *RemoteFault) Unwrap() error { return f.error }

// Call makes one call over REST. The fault is the server's, as a *RemoteFault; an *Unreachable where none answered as one.
func (r Remote) Call(ctx context.Context, call schema.CallRequest) (*schema.CallResponse, error) {
	target, err := r.target()
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(call)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, fault.New(catalog.InvalidRequest, "--server: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if r.Agent != "" {
		req.Header.Set("X-Agent-Id", r.Agent)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the token is for this server
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, r.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, r.unreachable(ctx, err)
	}
	return r.read(resp.StatusCode, raw)
}

func (r Remote) target() (string, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fault.New(catalog.InvalidRequest, "--server is the address of a server, as http://127.0.0.1:8080, not %q", r.URL)
	}
	return strings.TrimSuffix(u.String(), "/") + "/v1/tools/call", nil
}

func (r Remote) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &Unreachable{fmt.Sprintf("the server %s cannot be reached: %v", r.URL, err)}
}

func (r Remote) read(status int, raw []byte) (*schema.CallResponse, error) {
	if status == http.StatusOK {
		var out schema.CallResponse
		if err := json.Unmarshal(raw, &out); err == nil && len(out.Result.Content) > 0 {
			return &out, nil
		}
	}
	var e schema.Error
	if json.Unmarshal(raw, &e) != nil || e.ErrorCode == "" {
		return nil, &Unreachable{fmt.Sprintf("what answers at %s with status %d is no ctxd", r.URL, status)}
	}
	f := fault.New(catalog.ErrorCode(e.ErrorCode), "%s", e.Error)
	var details []fault.Detail
	if json.Unmarshal(e.Details, &details) == nil && len(details) > 0 {
		f = f.WithDetails(details)
	}
	out := &RemoteFault{error: f}
	if e.RequestID != nil {
		out.RequestID = *e.RequestID
	}
	return nil, out
}
