package rest

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// Listener makes the answers of net/http to what is no HTTP request our envelope too: it writes them to the connection by
// itself, before any handler, as plain text (http.md X1: "from any layer").
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

// plainError is what net/http puts behind the status line of such an answer, and of no other.
var plainError = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write implements net.Conn.
func (c conn) Write(b []byte) (int, error) {
	refusal := translate(b)
	if refusal == nil {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(refusal); err != nil {
		return 0, err
	}
	return len(b), nil
}

// translate gives the envelope of a refusal that net/http has made; nil for what is no such thing.
func translate(b []byte) []byte {
	switch {
	case bytes.HasPrefix(b, []byte("HTTP/1.1 417 ")), bytes.HasPrefix(b, []byte("HTTP/1.0 417 ")):
		// No handler of ours answers so: net/http does, to any Expect but 100-continue.
		return enveloped(catalog.InvalidRequest, "the header Expect asks for what no server here does")
	case !bytes.HasPrefix(b, []byte("HTTP/1.1 ")):
		return nil
	}
	line, text, ok := bytes.Cut(b, plainError)
	if !ok || bytes.ContainsAny(line, "\r\n") {
		return nil
	}
	code := catalog.InvalidRequest
	if bytes.HasPrefix(line, []byte("HTTP/1.1 431")) {
		code = catalog.HeaderTooLarge
	}
	return enveloped(code, "no valid HTTP request: "+strings.TrimSpace(string(text)))
}

// enveloped is a whole answer. Its status is that of the code, so that the two never disagree.
func enveloped(code catalog.ErrorCode, message string) []byte {
	row := fault.New(code, "").Row()
	body := encode(envelope{Error: message, Code: code, Retryable: row.Retryable})
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		row.Status, http.StatusText(row.Status), len(body), body)
}
