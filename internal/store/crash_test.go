package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// child writes until it is killed, and tells each write once it is acknowledged.
func child(dir string) int {
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				text := fmt.Sprintf("%d-%d-%d", os.Getpid(), g, i)
				if err := s.Write(context.Background(), note(text)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(text)
			}
		})
	}
	wg.Wait()
	return 0
}

// What was acknowledged before a kill -9 is there after it.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range 4 {
		for _, text := range runChild(t, dir, 20+round*70) {
			acknowledged[text] = true
		}
	}
	s := openIn(t, dir, Options{})
	for _, text := range notes(t, s) {
		delete(acknowledged, text)
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged writes are lost", len(acknowledged))
	}
	must(t, s.Read(t.Context(), func(r *Reader) error {
		var verdict string
		must(t, r.QueryRow("SELECT integrity_check FROM pragma_integrity_check").Scan(&verdict))
		if verdict != "ok" {
			t.Error(verdict)
		}
		return nil
	}))
}

// runChild kills a child after n acknowledgements and gives all that it told.
func runChild(t *testing.T, dir string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "CTXD_STORE_CHILD="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var told []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		told = append(told, lines.Text())
		if len(told) == n {
			must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	if len(told) < n {
		t.Fatalf("the child wrote %d times", len(told))
	}
	return told
}

// A process that waits for the lock of another one gets it in the end, and a plain user never reads that the database is
// locked.
func TestForeignLock(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	other, err := dial(s.db.path, s.db.lock.Path())
	must(t, err)
	defer func() { must(t, other.close()) }()
	must(t, other.script(t.Context(), "BEGIN IMMEDIATE"))
	done := make(chan error, 1)
	go func() { done <- s.Write(context.Background(), note("a")) }()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	must(t, other.script(t.Context(), "COMMIT"))
	must(t, <-done)
	expect(t, s, "a")
}

// One that never lets go makes writes fail, not reads, and only for as long as it lasts.
func TestForeignLockForGood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openIn(t, dir, Options{})
		must(t, s.Write(t.Context(), note("a")))
		other, err := dial(s.db.path, s.db.lock.Path())
		must(t, err)
		must(t, other.script(t.Context(), "BEGIN IMMEDIATE"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Write(ctx, note("lost")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		err = s.Write(t.Context(), note("lost"))
		if !fault.Is(err, catalog.StoreUnavailable) || strings.Contains(err.Error(), "locked") {
			t.Errorf("got %v", err)
		}
		if s.Healthy() == nil {
			t.Error("healthy")
		}
		expect(t, s, "a")
		must(t, other.close())
		must(t, s.Write(t.Context(), note("b")))
		must(t, s.Healthy())
		expect(t, s, "a", "b")
	})
}

// Case 17 within one process: two stores on one file, each with many writers and readers, while a third connection truncates
// the write-ahead log over and over. Nothing is refused, and neither store waits for the other for long.
func TestTwoStoresAndCheckpoints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stores := []*Store{openIn(t, dir, Options{}), openIn(t, dir, Options{})}
	c, err := dial(stores[0].db.path, stores[0].db.lock.Path())
	must(t, err)
	stop, checkpoints := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				_ = c.close()
				checkpoints <- n
				return
			default:
			}
			var busy int
			if row(c.query(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")).Scan(&busy, new(int), new(int)) == nil && busy == 0 {
				n++
			}
		}
	}()
	var wg sync.WaitGroup
	const writers, each = 16, 10
	for i := range 2 * writers {
		s := stores[i%2]
		wg.Go(func() {
			for range each {
				if err := s.Write(context.Background(), note(strings.Repeat("x", 2000))); err != nil {
					t.Error(err)
				}
				if err := s.Read(context.Background(), func(r *Reader) error {
					return r.QueryRow("SELECT count(*) FROM session_note").Scan(new(int))
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	t.Logf("%d checkpoints", <-checkpoints)
	if n := len(notes(t, stores[0])); n != 2*writers*each {
		t.Errorf("%d rows of %d", n, 2*writers*each)
	}
}
