// Package contracttest judges answers by api/openapi.json, so that every test that talks HTTP also tests the contract.
//
// Only tests import it.
package contracttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/ctxd/ctxd/api"
	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// Transport judges every answer that comes back through it. What breaks the contract is an error of the request, so that no
// test can overlook it.
type Transport struct {
	Base http.RoundTripper // http.DefaultTransport when nil
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp, nil // its frames are judged as they are read
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it was read to its end, or the error says why not
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err := Judge(r, resp.StatusCode, resp.Header, body); err != nil {
		return nil, fmt.Errorf("%s %s answered %d against the contract: %w\n%s", r.Method, r.URL, resp.StatusCode, err, clip(body))
	}
	return resp, nil
}

func clip(b []byte) []byte {
	if len(b) > 2000 {
		return append(b[:2000:2000], "…"...)
	}
	return b
}

// Judge says what is wrong with an answer.
func Judge(r *http.Request, status int, header http.Header, body []byte) error {
	if status >= 400 {
		if err := judgeError(status, header, body); err != nil {
			return err
		}
	}
	route, params, err := find(r)
	if err != nil {
		if status < 400 && r.Method != http.MethodPost {
			return fmt.Errorf("no route of the contract matches: %w", err)
		}
		return nil // an error outside of all routes, or MCP on another path
	}
	if status == http.StatusNotModified || r.Method == http.MethodHead {
		return nil
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	return openapi3filter.ValidateResponse(context.Background(), in)
}

// find is the operation of a request.
func find(r *http.Request) (*routers.Route, map[string]string, error) {
	router, err := document()
	if err != nil {
		return nil, nil, err
	}
	probe := r.Clone(context.Background())
	if probe.Method == http.MethodHead {
		probe.Method = http.MethodGet
	}
	return router.FindRoute(probe)
}

var document = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// judgeError holds every failure to the envelope, and its code to the status that the catalogue has for it. On the MCP paths
// it may be an error of JSON-RPC.
func judgeError(status int, header http.Header, body []byte) error {
	if !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		return fmt.Errorf("the Content-Type is %q", header.Get("Content-Type"))
	}
	if len(body) == 0 {
		return nil // of a HEAD request
	}
	v, err := jsondoc.Decode(bytes.TrimSpace(body))
	if err != nil {
		return err
	}
	if o, ok := v.(map[string]any); ok && o["jsonrpc"] == "2.0" {
		return judgeRPC(o)
	}
	s, err := contract.Named("error")
	if err != nil {
		return err
	}
	if d := s.Judge(v); d != nil {
		return fmt.Errorf("the envelope is wrong: %v", d)
	}
	var e struct {
		Code catalog.ErrorCode `json:"error_code"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if row := fault.New(e.Code, "x").Row(); row.Code != e.Code || row.Status != status {
		return fmt.Errorf("the code %s has the status %d in the catalogue", e.Code, row.Status)
	}
	return nil
}

func judgeRPC(o map[string]any) error {
	e, ok := o["error"].(map[string]any)
	if !ok {
		return errors.New("the message is no error")
	}
	data, ok := e["data"].(map[string]any)
	if !ok {
		return errors.New("the error of JSON-RPC has no data")
	}
	if code, ok := data["error_code"].(string); !ok || code == "" {
		return errors.New("the error of JSON-RPC has no error_code")
	}
	return nil
}

// Event judges the data of one frame of an event stream.
func Event(data []byte) error {
	v, err := jsondoc.Decode(data)
	if err != nil {
		return err
	}
	s, err := contract.Named("event")
	if err != nil {
		return err
	}
	if d := s.Judge(v); d != nil {
		return fmt.Errorf("%v", d)
	}
	return nil
}
