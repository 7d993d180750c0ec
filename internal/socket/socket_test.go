package socket

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T, dir string) *Listener {
	t.Helper()
	l, err := Listen(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// echo answers each ask with a reply that names its preset, and then gives back every byte.
func echo(t *testing.T, l *Listener) {
	t.Helper()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				a, err := c.Hear()
				if err != nil || c.Tell(Reply{Handshake: Handshake, Version: a.Preset, PID: os.Getpid()}) != nil {
					return
				}
				_, _ = io.Copy(c.UnixConn, c)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
}

func private0700(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{t.TempDir()}, parts...)...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Also in a folder whose path is far longer than that of a socket may be.
func TestHandshake(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"short": private0700(t, "d"), "long": private0700(t, strings.Repeat("long", 30), strings.Repeat("é", 60)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listen(t, dir)
			echo(t, l)
			info, err := os.Lstat(l.Path())
			if err != nil || info.Mode() != os.ModeSocket|0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			c, err := Dial(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			r, err := c.Exchange(Ask{Preset: "word"})
			if err != nil || r.Version != "word" || r.PID != os.Getpid() || r.Refused != "" {
				t.Fatalf("%+v %v", r, err)
			}
			if _, err := io.WriteString(c, "what follows\n"); err != nil {
				t.Fatal(err)
			}
			if err := c.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(c); err != nil || string(rest) != "what follows\n" {
				t.Errorf("%q %v", rest, err)
			}
		})
	}
}

// What comes with the handshake in one piece is not lost.
func TestHandshakeInOnePiece(t *testing.T) {
	t.Parallel()
	dir := private0700(t)
	echo(t, listen(t, dir))
	c, err := Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, `{"handshake":1,"more":[1],"preset":"p"}`+"\n{\"first\":1}\n"); err != nil {
		t.Fatal(err)
	}
	_ = c.CloseWrite()
	lines := bufio.NewScanner(c)
	lines.Scan()
	var r Reply
	if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Version != "p" {
		t.Errorf("%s %v", lines.Bytes(), err)
	}
	if lines.Scan(); lines.Text() != `{"first":1}` {
		t.Errorf("%q", lines.Text())
	}
}

// Whatever somebody says instead of a handshake, his connection ends and the listener goes on.
func TestHostileHandshake(t *testing.T) {
	t.Parallel()
	dir := private0700(t)
	echo(t, listen(t, dir))
	for name, say := range map[string]string{
		"nothing": "", "garbage": "\x00\xff\n", "no object": "[]\n", "a number": "7\n", "half a line": `{"handshake":1`, "wrong type": `{"handshake":"x"}` + "\n",
		"endless": strings.Repeat("x", maxLine+100<<10), "HTTP": "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c, err := Dial(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, say) // the other end may have had enough before its end
		_ = c.CloseWrite()
		if rest, err := io.ReadAll(c.UnixConn); len(rest) > 0 {
			t.Errorf("%s: %q %v", name, rest, err)
		}
		_ = c.Close()
	}
	silent, err := Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	started := time.Now()
	if rest, _ := io.ReadAll(silent.UnixConn); len(rest) > 0 || time.Since(started) > 2*maxWait {
		t.Errorf("%q after %v", rest, time.Since(started))
	}
}

// A server that speaks another handshake, garbage or nothing is told apart from one that serves.
func TestForeignServer(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		`{"handshake":2,"version":"9.9.9","pid":7}` + "\n":                "version 2",
		`{"handshake":2,"version":"9.9.9","pid":7,"refused":"so"}` + "\n": "so",
		"HTTP/1.1 400 Bad Request\r\n\r\n":                                "handshake",
		"":                                                                "handshake",
	} {
		dir := private0700(t)
		l := listen(t, dir)
		var done sync.WaitGroup
		done.Go(func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = c.Hear()
			_, _ = io.WriteString(c, say)
		})
		c, err := Dial(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Exchange(Ask{})
		if got := r.Refused; err == nil && !strings.Contains(got, want) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q %v", say, got, err)
		}
		_ = c.Close()
		done.Wait()
	}
}

// One owns the socket. It goes with its owner, but not with somebody who has come after him.
func TestOwner(t *testing.T) {
	t.Parallel()
	dir := private0700(t)
	if c, err := Dial(t.Context(), dir); !errors.Is(err, ErrNone) {
		t.Errorf("%v %v", c, err)
	}
	if c, err := Dial(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, ErrNone) {
		t.Errorf("%v %v", c, err)
	}
	first := listen(t, dir)
	if l, err := Listen(t.Context(), dir); !errors.Is(err, ErrTaken) {
		t.Fatalf("%v %v", l, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(Path(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := first.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	second := listen(t, dir)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(second.Path()); err != nil {
		t.Error(err)
	}
}

// What a killed server has left, also half made, is taken over, by one of all that start at once.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		dir := private0700(t)
		for _, name := range []string{fileName, newName} {
			left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			left.SetUnlinkOnClose(false)
			_ = left.Close()
		}
		if !Stale(t.Context(), dir) {
			t.Fatal("not stale")
		}
		var starters sync.WaitGroup
		won := make(chan *Listener, 8)
		for range cap(won) {
			starters.Go(func() {
				l, err := Listen(t.Context(), dir)
				switch {
				case err == nil:
					won <- l
				case !errors.Is(err, ErrTaken):
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		starters.Wait()
		if len(won) != 1 || Stale(t.Context(), dir) {
			t.Fatalf("round %d: %d own the socket", round, len(won))
		}
		if err := (<-won).Close(); err != nil {
			t.Error(err)
		}
	}
}

// Something else under the name of the socket: a file is replaced, a folder is left, and nobody listens on either.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	dir := private0700(t)
	if err := os.WriteFile(Path(dir), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Dial(t.Context(), dir); !errors.Is(err, ErrNone) || Stale(t.Context(), dir) {
		t.Errorf("%v %v", c, err)
	}
	if err := listen(t, dir).Close(); err != nil {
		t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(Path(dir), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(t.Context(), dir); err == nil {
		t.Errorf("listens on %s", l.Path())
	}
	if _, err := os.Lstat(filepath.Join(dir, newName)); err == nil {
		t.Error("the new socket is left")
	}
	if err := os.Chmod(dir, 0o722); err != nil {
		t.Fatal(err)
	}
	if c, err := Dial(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "0722") {
		t.Errorf("%v %v", c, err)
	}
}
