package rest

import (
	"bytes"
	"fmt"
	"net"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
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

func (c conn) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(b, []byte("HTTP/1.1 ")) {
		return c.Conn.Write(b)
	}
	line, text, ok := bytes.Cut(b, plainError)
	if !ok || bytes.ContainsAny(line, "\r\n") {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(enveloped(string(line), string(text))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// enveloped keeps the status that net/http chose.
func enveloped(line, text string) []byte {
	code := catalog.InvalidRequest
	if strings.HasPrefix(line, "HTTP/1.1 431") {
		code = catalog.HeaderTooLarge
	}
	body := encode(envelope{Error: "no valid HTTP request: " + strings.TrimSpace(text), Code: code})
	return fmt.Appendf(nil, "%s\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", line, len(body), body)
}
