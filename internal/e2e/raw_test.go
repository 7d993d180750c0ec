package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/contracttest"
	"github.com/ctxd/ctxd/internal/testkit"
)

// dial opens a connection to a server, which ends with the test.
func dial(t testing.TB, s *testkit.Server) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// send writes bytes to a new connection and reads one answer, which is held to the contract. Without an answer it is nil.
func send(t testing.TB, s *testkit.Server, text string) *testkit.Answer {
	t.Helper()
	c := dial(t, s)
	go func() { _, _ = io.WriteString(c, text) }() // the server may refuse before it has read all
	method, _, _ := strings.Cut(text, " ")
	return receive(t, c, method)
}

// receive reads one answer of a request with that method; nil if the connection ends without one.
func receive(t testing.TB, c net.Conn, method string) *testkit.Answer {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || err != nil && strings.Contains(err.Error(), "reset") {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode >= 400 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/nowhere", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := contracttest.Judge(r, resp.StatusCode, resp.Header, body); err != nil {
			t.Errorf("%d %v %s: %v", resp.StatusCode, resp.Header, body, err)
		}
	}
	return &testkit.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

// X1: whatever is written to the socket, what comes back is the envelope.
func TestX1RawRequests(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"max_body_bytes": 1000})
	const host = "Host: localhost\r\n"
	long := strings.Repeat("a", 100<<10)
	for _, c := range []struct {
		name, text string
		status     int
		code       string
	}{
		{"no HTTP", "hello\r\n\r\n", 400, "invalid_request"},
		{"a request line of two words", "GET /health\r\n" + host + "\r\n", 400, "invalid_request"},
		{"an unknown version", "GET /health HTTP/9.9\r\n" + host + "\r\n", 400, "invalid_request"},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403, "origin_denied"},
		{"a header without a colon", "GET /health HTTP/1.1\r\n" + host + "nonsense\r\n\r\n", 400, "invalid_request"},
		{"a header with a space in its name", "GET /health HTTP/1.1\r\n" + host + "a b: c\r\n\r\n", 400, "invalid_request"},
		{"a header with NUL", "GET /health HTTP/1.1\r\n" + host + "a: \x00\r\n\r\n", 400, "invalid_request"},
		{"a folded header", "GET /health HTTP/1.1\r\n" + host + " folded: x\r\n\r\n", 400, ""},
		{"no Host", "GET /health HTTP/1.1\r\n\r\n", 400, "invalid_request"},
		{"an empty Host", "GET /health HTTP/1.1\r\nHost:\r\n\r\n", 403, "origin_denied"},
		{"two Hosts", "GET /health HTTP/1.1\r\n" + host + host + "\r\n", 400, "invalid_request"},
		{"a malformed Host", "GET /health HTTP/1.1\r\nHost: a\x01b\r\n\r\n", 400, "invalid_request"},
		{"HTTP/1.0", "GET /health HTTP/1.0\r\n" + host + "\r\n", 200, ""},
		{"HTTP/1.0 without Host", "GET /health HTTP/1.0\r\n\r\n", 403, "origin_denied"},
		{"a NUL in the path", "GET /v1/tools\x00 HTTP/1.1\r\n" + host + "\r\n", 400, "invalid_request"},
		{"an encoded NUL", "GET /v1/tools%00 HTTP/1.1\r\n" + host + "\r\n", 404, "not_found"},
		{"a broken escape", "GET /v1/%zz HTTP/1.1\r\n" + host + "\r\n", 400, "invalid_request"},
		{"absolute form", "GET http://localhost/health HTTP/1.1\r\n" + host + "\r\n", 200, ""},
		{"absolute form of another host", "GET http://evil.example/health HTTP/1.1\r\n" + host + "\r\n", 403, "origin_denied"},
		{"absolute form, foreign Host", "GET http://localhost/health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200, ""}, // RFC 9112 3.2.2: the target wins
		{"no path", "GET tools HTTP/1.1\r\n" + host + "\r\n", 400, "invalid_request"},
		{"asterisk", "GET * HTTP/1.1\r\n" + host + "\r\n", 404, "not_found"},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\n" + host + "\r\n", 404, "not_found"},
		{"OPTIONS * of another host", "OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "origin_denied"},
		{"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\n" + host + "\r\n", 403, "origin_denied"},
		{"CONNECT to us", "CONNECT localhost:443 HTTP/1.1\r\n" + host + "\r\n", 404, "not_found"},
		{"TRACE", "TRACE /v1/tools HTTP/1.1\r\n" + host + "\r\n", 405, "method_not_allowed"},
		{"a method of our own", "BREW /v1/tools HTTP/1.1\r\n" + host + "\r\n", 405, "method_not_allowed"},
		{"a method that is no token", "G@T /v1/tools HTTP/1.1\r\n" + host + "\r\n", 400, "invalid_request"},
		{"a lower-case method", "get /v1/tools HTTP/1.1\r\n" + host + "\r\n", 405, "method_not_allowed"},
		{"a long target", "GET /" + long + " HTTP/1.1\r\n" + host + "\r\n", 431, "header_too_large"},
		{"a long query", "GET /v1/tools?a=" + long + " HTTP/1.1\r\n" + host + "\r\n", 431, "header_too_large"},
		{"a long header", "GET /v1/tools HTTP/1.1\r\n" + host + "a: " + long + "\r\n\r\n", 431, "header_too_large"},
		{"many headers", "GET /v1/tools HTTP/1.1\r\n" + host + strings.Repeat("a: b\r\n", 20000) + "\r\n", 431, "header_too_large"},
		{"an unknown expectation", "GET /v1/tools HTTP/1.1\r\n" + host + "Expect: tea\r\n\r\n", 400, "invalid_request"},
		{"the same in HTTP/1.0", "GET /v1/tools HTTP/1.0\r\n" + host + "Expect: tea\r\n\r\n", 400, "invalid_request"},
		{"an unknown coding", "GET /v1/tools HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 400, "invalid_request"},
		{"a length and a coding", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n", 400, "invalid_request"},
		{"two lengths", post("Content-Length: 2\r\nContent-Length: 3\r\n") + "{}", 400, "invalid_request"},
		{"a negative length", post("Content-Length: -1\r\n"), 400, "invalid_request"},
		{"a length of words", post("Content-Length: two\r\n"), 400, "invalid_request"},
		{"a huge length", post("Content-Length: 99999999999999999999\r\n"), 400, "invalid_request"},
		{"too large by its length", post("Content-Length: 1001\r\n"), 413, "payload_too_large"},
		{"far too large by its length", post("Content-Length: 999999999999\r\n"), 413, "payload_too_large"},
		{"too large in chunks", post("Transfer-Encoding: chunked\r\n") + "fff\r\n" + strings.Repeat(" ", 0xfff) + "\r\n0\r\n\r\n", 413, "payload_too_large"},
		{"a broken chunk", post("Transfer-Encoding: chunked\r\n") + "zz\r\n{}\r\n", 400, "invalid_request"},
		{"a chunk without its end", post("Transfer-Encoding: chunked\r\n") + "2\r\n{}xx", 400, "invalid_request"},
		{"an endless chunk size", post("Transfer-Encoding: chunked\r\n") + strings.Repeat("0", 5000), 400, "invalid_request"},
		{"another media type", "POST /v1/tools/call HTTP/1.1\r\n" + host + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415, "unsupported_media_type"},
		{"no media type", "POST /v1/tools/call HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\n{}", 415, "unsupported_media_type"},
		{"a body of GET that is too large", "GET /v1/tools HTTP/1.1\r\n" + host + "Content-Length: 2000\r\n\r\n", 413, "payload_too_large"},
		{"a body of GET", "GET /health HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\n{}", 200, ""},
		{"100-continue", post("Content-Length: 2\r\nExpect: 100-continue\r\n") + "{}", 100, ""},
		{"100-continue, too large", post("Content-Length: 2000\r\nExpect: 100-continue\r\n"), 413, "payload_too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := send(t, s, c.text)
			switch {
			case a == nil:
				t.Error("no answer")
			case c.name == "a folded header": // net/http takes it or leaves it; both are an answer
			case a.Status != c.status || a.Code() != c.code:
				t.Errorf("%d %s", a.Status, a.Body)
			case a.Status == 405 && a.Header.Get("Allow") == "":
				t.Error("no Allow")
			}
		})
	}
}

func post(headers string) string {
	return "POST /v1/tools/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + headers + "\r\n"
}

// L2: headers, bodies and idle connections that take too long are given up, on every route and with any method. Nothing keeps
// its place meanwhile.
func TestL2SlowClients(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, testkit.Settings{"header_timeout_ms": 200, "body_timeout_ms": 200, "idle_timeout_ms": 200, "max_concurrency": 1, "max_queue": 0})
	const host = "Host: localhost\r\n"
	for name, text := range map[string]string{
		"headers":                "GET /v1/tools HTTP/1.1\r\nHost: ",
		"nothing":                "",
		"a body":                 post("Content-Length: 20\r\n") + `{"name":`,
		"chunks":                 post("Transfer-Encoding: chunked\r\n") + "5\r\n{",
		"a body of GET":          "GET /v1/tools HTTP/1.1\r\n" + host + "Content-Length: 20\r\n\r\n",
		"a body of health":       "GET /health HTTP/1.1\r\n" + host + "Content-Length: 20\r\n\r\n",
		"a body of a stream":     "GET /v1/events HTTP/1.1\r\n" + host + "Content-Length: 20\r\n\r\n",
		"a body to nowhere":      "DELETE /nowhere HTTP/1.1\r\n" + host + "Content-Length: 20\r\n\r\n",
		"a body that is refused": "POST /v1/tools HTTP/1.1\r\n" + host + "Content-Length: 20\r\n\r\n",
		"a foreign body":         "POST /v1/tools/call HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 20\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, s)
			started := time.Now()
			if _, err := io.WriteString(c, text); err != nil {
				t.Fatal(err)
			}
			all, err := io.ReadAll(c) // until the server closes the connection
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatal(err)
			}
			if took := time.Since(started); took > 25*time.Second {
				t.Errorf("given up after %v: %s", took, all)
			}
			if len(all) > 0 && !bytes.HasPrefix(all, []byte("HTTP/1.1 4")) {
				t.Errorf("%s", all)
			}
			if a := s.Get("/v1/tools?limit=0"); a.Status != http.StatusOK {
				t.Errorf("its place is still taken: %d %s", a.Status, a.Body)
			}
		})
	}
	c := dial(t, s)
	if _, err := io.WriteString(c, "GET /health HTTP/1.1\r\n"+host+"\r\n"); err != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(c); err != nil || !bytes.HasSuffix(all, []byte("ok\n")) { // it ends: idle
		t.Errorf("%s %v", all, err)
	}
}
