package eventlog

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/store"
)

const (
	processWriters = 32
	processWrites  = 8 // of each writer
)

// child appends like the test that started it, and tells the ids that were acknowledged.
func child(dir string) int {
	s, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	for _, line := range writeMany(New(s, time.Now)) {
		fmt.Println(line)
	}
	if err := s.Close(); err != nil {
		fmt.Println("error", err)
	}
	return 0
}

// writeMany has many writers append to few channels, with arguments that fill pages so that checkpoints come, and gives the
// ids that were acknowledged and the errors.
func writeMany(l *Log) []string {
	var mu sync.Mutex
	var told []string
	var wg sync.WaitGroup
	for w := range processWriters {
		wg.Go(func() {
			for n := range processWrites {
				d := call("c"+strconv.Itoa(w%3), n)
				d.Payload.Arguments = []byte(`"` + strings.Repeat("x", 3000) + `"`)
				var e Event
				err := l.s.Write(context.Background(), func(tx *store.Tx) (err error) {
					e, err = l.Append(tx, d)
					return err
				})
				line := strconv.FormatInt(e.ID, 10)
				if err != nil {
					line = "error " + err.Error()
				}
				mu.Lock()
				told = append(told, line)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return told
}

// Cases 17 and 19, E3: two processes with many writers each, readers and followers on one database. Nothing is locked, nothing
// acknowledged is lost, versions have no hole, and every follower gets every event once and in order.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openIn(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make([][]int64, 3)
	var followers, readers sync.WaitGroup
	const each = 2 * processWriters * processWrites
	for c := range got {
		followers.Go(func() { got[c] = followIDs(ctx, l, "c"+strconv.Itoa(c)) })
	}
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				_, err := l.Tail(context.Background(), Query{Workspace: "w", Channel: "c0", Limit: 20})
				if err == nil && n%8 == 0 {
					_, _, err = l.Search(context.Background(), SearchQuery{Workspace: "w", Text: "ctx_read"})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "CTXD_EVENTLOG_CHILD="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	told := writeMany(l)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		told = append(told, lines.Text())
	}
	must(t, cmd.Wait())
	close(stop)
	readers.Wait()

	if len(told) != each {
		t.Errorf("%d writes of %d ended", len(told), each)
	}
	acknowledged := map[string]bool{}
	for _, line := range told {
		if strings.HasPrefix(line, "error") || acknowledged[line] {
			t.Errorf("a writer was told %q", line)
		}
		acknowledged[line] = true
	}
	time.AfterFunc(600*time.Millisecond, cancel) // two polls of the other process's commits
	followers.Wait()
	for c, delivered := range got {
		events := l.all(t, "c"+strconv.Itoa(c))
		gapless(t, events)
		if !slices.Equal(delivered, ids(events)) {
			t.Errorf("channel %d: %d delivered of %d", c, len(delivered), len(events))
		}
		for _, e := range events {
			delete(acknowledged, strconv.FormatInt(e.ID, 10))
		}
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged events are lost", len(acknowledged))
	}
}

// followIDs gives the ids that a follower received until ctx ended.
func followIDs(ctx context.Context, l *Log, channel string) []int64 {
	var out []int64
	_ = l.Follow(ctx, Query{Workspace: "w", Channel: channel, Limit: 50}, RefsOnly, func(b Batch) error {
		for _, f := range b.Frames {
			out = append(out, f.ID)
		}
		return nil
	})
	return out
}
