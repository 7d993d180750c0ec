package mcpserver

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// message is what is known of a body.
type message struct {
	is    bool            // it is JSON-RPC
	batch bool            // a list of messages
	id    json.RawMessage // of the only message in it; nil: null
}

// parse judges a body once, strictly: JSON that means one thing only, and JSON-RPC. What it knows of a body that it refuses
// comes back as well.
func parse(raw []byte) (m message, err error) {
	v, err := jsondoc.Decode(raw)
	if err != nil {
		return m, fault.New(catalog.InvalidRequest, "the body is no JSON-RPC message: %w", err)
	}
	list, batch := v.([]any)
	if !batch {
		list = []any{v}
		m.id = idOf(v)
	}
	if len(list) == 0 {
		return m, fault.New(catalog.InvalidRequest, "the body is an empty batch")
	}
	for _, v := range list {
		o, ok := v.(map[string]any)
		if !ok || o["jsonrpc"] != "2.0" {
			return m, fault.New(catalog.InvalidRequest, `the body is no JSON-RPC message: "jsonrpc" must be "2.0"`)
		}
		if id, there := o["id"]; there && id != nil && idOf(v) == nil {
			return m, fault.New(catalog.InvalidRequest, "the id of a message is a string or a whole number below 2^53")
		}
	}
	m.is, m.batch = true, batch
	return m, nil
}

// idOf is the id of a message, nil where it has none that would come back as it went: the SDK keeps numbers as doubles.
func idOf(v any) json.RawMessage {
	o, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	switch id := o["id"].(type) {
	case string:
		return jsondoc.Canonical(id)
	case json.Number:
		const most = 1 << 53
		if n, err := strconv.ParseInt(string(id), 10, 64); err == nil && -most < n && n < most {
			return json.RawMessage(strconv.FormatInt(n, 10))
		}
	}
	return nil
}

// rpcCode is the code of JSON-RPC for a body that parse refuses.
func rpcCode(err error) int64 {
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) {
		return -32700
	}
	return -32600
}
