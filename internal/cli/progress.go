package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress tells people at a terminal how it goes, once that has taken a second. A nil one tells nobody.
type progress struct {
	out   io.Writer
	mu    sync.Mutex
	step  string
	done  int64
	total int64 // 0: nobody knows

	stop, ended chan struct{}
}

// progress begins to tell, unless nobody would see it. end has to be called, before anything else is written.
func (c *command) progress(step string) *progress {
	if !c.Terminal || c.json {
		return nil
	}
	p := &progress{out: c.Stderr, step: step, stop: make(chan struct{}), ended: make(chan struct{})}
	ticks := time.NewTicker(time.Second)
	go func() { defer ticks.Stop(); p.run(ticks.C) }()
	return p
}

// tell is what a store.Progress is told.
func (p *progress) tell(step string, done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.done, p.total = step, done, total
}

func (p *progress) end() {
	if p != nil {
		close(p.stop)
		<-p.ended
	}
}

// clearLine goes back to the start of the line and empties it.
const clearLine = "\r\x1b[K"

// run writes one line over and over, every second, and takes it away at the end.
func (p *progress) run(ticks <-chan time.Time) {
	defer close(p.ended)
	for seconds := 1; ; seconds++ {
		select {
		case <-ticks:
			fmt.Fprint(p.out, clearLine+p.line(seconds))
		case <-p.stop:
			if seconds > 1 {
				fmt.Fprint(p.out, clearLine)
			}
			return
		}
	}
}

func (p *progress) line(seconds int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total > 0 {
		return fmt.Sprintf("ctxd: %s, %d %%, %d s", p.step, 100*p.done/p.total, seconds)
	}
	return fmt.Sprintf("ctxd: %s, %d s", p.step, seconds)
}
