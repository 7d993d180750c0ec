package cli

import (
	"bytes"
	"testing"
	"time"
)

// One line that is written over and taken away at the end; nothing before a second has passed, and nothing for pipes.
func TestProgress(t *testing.T) {
	t.Parallel()
	run := func(n int) string {
		out := make(said, 8)
		p := &progress{out: out, step: "copying", stop: make(chan struct{}), ended: make(chan struct{})}
		ticks := make(chan time.Time)
		go p.run(ticks)
		text := ""
		for i := range n {
			p.tell("copying", int64(i), 4)
			if i == 2 {
				p.tell("checking", 0, 0)
			}
			ticks <- time.Time{}
			text += <-out
		}
		p.end()
		close(out)
		for more := range out {
			text += more
		}
		return text
	}
	for n, want := range []string{"", clearLine + "ctxd: copying, 0 %, 1 s" + clearLine} {
		if got := run(n); got != want {
			t.Errorf("%d seconds: %q", n, got)
		}
	}
	if got := run(3); got != clearLine+"ctxd: copying, 0 %, 1 s"+clearLine+"ctxd: copying, 25 %, 2 s"+clearLine+"ctxd: checking, 3 s"+clearLine {
		t.Errorf("%q", got)
	}
	for _, c := range []*command{{}, {IO: IO{Terminal: true}, json: true}} {
		p := c.progress("x")
		p.tell("y", 1, 2)
		if p.end(); p != nil {
			t.Error("it tells nobody")
		}
	}
	c := &command{IO: IO{Terminal: true, Stderr: &bytes.Buffer{}}}
	p := c.progress("x")
	p.end()
}

// said is what was written, piece by piece.
type said chan string

func (s said) Write(b []byte) (int, error) { s <- string(b); return len(b), nil }
