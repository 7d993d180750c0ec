package store

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain also runs the children that the tests start from this binary.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CTXD_STORE_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	goleak.VerifyTestMain(m)
}

// openIn opens the store in dir and closes it with the test.
func openIn(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	opts.Dir = dir
	s, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openTemp(t testing.TB, opts Options) *Store { return openIn(t, t.TempDir(), opts) }

// note writes a row that rows counts.
func note(text string) func(*Tx) error {
	return func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO session_note (workspace, channel, kind, text, at) VALUES ('w', 'c', 'finding', ?, ?)",
			text, time.UnixMilli(1))
		return err
	}
}

func notes(t testing.TB, s *Store) []string {
	t.Helper()
	out := []string{}
	err := s.Read(context.Background(), func(r *Reader) error {
		rows, err := r.Query("SELECT text FROM session_note ORDER BY id")
		if err != nil {
			return err
		}
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			out = append(out, text)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hold keeps the writer busy until the returned function is called, so that what is queued meanwhile becomes one group.
func hold(t testing.TB, s *Store) (release func()) {
	t.Helper()
	started, end := make(chan struct{}), make(chan struct{})
	if err := s.w.push(&job{settled: make(chan error, 1), fn: func(*Tx) error {
		close(started)
		<-end
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	<-started
	return func() { close(end) }
}

// queued waits until n jobs wait.
func queued(t testing.TB, s *Store, n int) {
	t.Helper()
	for range 5000 {
		s.w.mu.Lock()
		got := len(s.w.queue)
		s.w.mu.Unlock()
		if got >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d jobs never queued", n)
}
