package e2e

import (
	"context"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/socket"
	"github.com/ctxd/ctxd/internal/testkit"
)

// attachedAt is a session of a process that is attached to a server.
func attachedAt(t testing.TB, set testkit.Settings) door {
	t.Helper()
	set = onData(t, set)
	s := testkit.Start(t, set)
	in, out, _ := attach(t, options(t, set))
	return sdkDoor{"mcp-attached", connect(t, &mcp.IOTransport{Reader: out, Writer: in}), func(testing.TB) *testkit.Server { return s }}
}

// attach starts what ctxd mcp is once it is attached. It ends with the test; how comes through ended.
func attach(t testing.TB, o app.Options) (in io.WriteCloser, out io.ReadCloser, ended <-chan error) {
	t.Helper()
	a, err := app.Attach(t.Context(), o)
	if err != nil || a == nil {
		t.Fatalf("not attached: %v", err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done, told := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(done)
		told <- a.Relay(ctx, inR, outW)
		_ = outW.Close() // a pipe never fails to close
	}()
	t.Cleanup(func() {
		cancel()
		_ = outR.Close() // so that nothing waits for a reader
		<-done
	})
	return inW, outR, told
}

// ask connects to the socket of a server and says something of its own.
func ask(t testing.TB, set testkit.Settings, a socket.Ask) (*socket.Conn, socket.Reply) {
	t.Helper()
	c, err := socket.Dial(t.Context(), set["data_dir"].(string))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	r, err := c.Exchange(a)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}
