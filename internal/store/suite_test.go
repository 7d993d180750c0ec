package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

func TestStore(t *testing.T) {
	t.Parallel()
	exercise(t, openTemp)
}

// exercise is what every store must do, whatever keeps its data.
func exercise(t *testing.T, open func(testing.TB, Options) *Store) {
	for name, test := range map[string]func(*testing.T, *Store){
		"what is written is read":           written,
		"an error undoes its own job only":  isolated,
		"a panic is an error":               panics,
		"an ended context keeps a job away": ended,
		"a started job ignores its context": started,
		"flush waits for what is queued":    flushed,
		"a read is one snapshot":            snapshotRead,
		"a read only reads":                 readOnly,
		"commits are told":                  told,
		"close commits what is queued":      closes,
		"values come back as they went":     values,
		"a unique key is refused":           unique,
		"an open result may be left":        leftOpen,
		"a part follows its jobs":           parts,
		"a probe writes":                    func(t *testing.T, s *Store) { must(t, s.Probe(t.Context())); must(t, s.Healthy()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, Options{}))
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t testing.TB, s *Store, want ...string) {
	t.Helper()
	if got := notes(t, s); !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func written(t *testing.T, s *Store) {
	must(t, s.Write(t.Context(), note("a")))
	must(t, s.Write(t.Context(), func(tx *Tx) error {
		return errors.Join(note("b")(tx), note("c")(tx))
	}))
	expect(t, s, "a", "b", "c")
}

func isolated(t *testing.T, s *Store) {
	boom := errors.New("boom")
	release := hold(t, s)
	errs := make([]chan error, 4)
	for i, fn := range []func(*Tx) error{
		note("a"),
		func(tx *Tx) error { return errors.Join(note("lost")(tx), note("lost too")(tx), boom) },
		func(tx *Tx) error { _, err := tx.Exec("INSERT INTO nowhere VALUES (1)"); return err },
		note("b"),
	} {
		errs[i] = make(chan error, 1)
		go func() { errs[i] <- s.Write(context.Background(), fn) }()
		queued(t, s, i+1)
	}
	release()
	must(t, <-errs[0])
	if err := <-errs[1]; !errors.Is(err, boom) {
		t.Errorf("got %v, want the error of the job", err)
	}
	if err := <-errs[2]; err == nil || fault.Is(err, catalog.StoreUnavailable) {
		t.Errorf("got %v, want the error of the statement", err)
	}
	must(t, <-errs[3])
	expect(t, s, "a", "b")
	must(t, s.Healthy())
}

func panics(t *testing.T, s *Store) {
	err := s.Write(t.Context(), func(tx *Tx) error {
		must(t, note("lost")(tx))
		panic("ouch")
	})
	if err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("got %v", err)
	}
	must(t, s.Write(t.Context(), note("a")))
	expect(t, s, "a")
}

func ended(t *testing.T, s *Store) {
	release := hold(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	err := make(chan error, 1)
	go func() { err <- s.Write(ctx, note("lost")) }()
	queued(t, s, 1)
	cancel()
	if got := <-err; !errors.Is(got, context.Canceled) {
		t.Errorf("got %v", got)
	}
	release()
	if got := s.Write(ctx, note("lost")); !errors.Is(got, context.Canceled) {
		t.Errorf("got %v", got)
	}
	must(t, s.Write(t.Context(), note("a")))
	expect(t, s, "a")
}

func started(t *testing.T, s *Store) {
	ctx, cancel := context.WithCancel(t.Context())
	must(t, s.Write(ctx, func(tx *Tx) error {
		cancel()
		return note("a")(tx)
	}))
	expect(t, s, "a")
}

func flushed(t *testing.T, s *Store) {
	must(t, s.Flush(t.Context()))
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprint(i))
		must(t, s.Queue(note(want[i])))
	}
	must(t, s.Flush(t.Context()))
	expect(t, s, want...)
}

func snapshotRead(t *testing.T, s *Store) {
	must(t, s.Write(t.Context(), note("a")))
	count := func(r *Reader) (n int) {
		must(t, r.QueryRow("SELECT count(*) FROM session_note").Scan(&n))
		return n
	}
	must(t, s.Read(t.Context(), func(r *Reader) error {
		before := count(r)
		must(t, s.Write(t.Context(), note("b"))) // of the caller's goroutine, not of the writer's
		if after := count(r); after != before {
			t.Errorf("%d rows, then %d", before, after)
		}
		return nil
	}))
	expect(t, s, "a", "b")
}

func readOnly(t *testing.T, s *Store) {
	err := s.Read(t.Context(), func(r *Reader) error {
		return r.QueryRow("DELETE FROM session_note RETURNING id").Scan(new(int))
	})
	if err == nil || errors.Is(err, ErrNoRows) {
		t.Errorf("got %v", err)
	}
	expect(t, s)
	boom := errors.New("boom")
	if err := s.Read(t.Context(), func(*Reader) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = s.Read(ctx, func(r *Reader) error {
		cancel()
		return r.QueryRow("SELECT 1").Scan(new(int))
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func told(t *testing.T, s *Store) {
	ch := s.Committed()
	must(t, s.Read(t.Context(), func(*Reader) error { return nil }))
	must(t, s.Write(t.Context(), func(*Tx) error { return nil })) // changes nothing
	select {
	case <-ch:
		t.Error("told of a commit that never was")
	default:
	}
	must(t, s.Write(t.Context(), note("a")))
	<-ch
	select {
	case <-s.Committed():
		t.Error("told twice")
	default:
	}
}

func closes(t *testing.T, s *Store) {
	release := hold(t, s)
	for i := range 20 {
		must(t, s.Queue(note(fmt.Sprint(i))))
	}
	committed := s.Committed()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	release()
	must(t, <-closed)
	must(t, s.Close())
	<-committed
	for what, err := range map[string]error{
		"write": s.Write(t.Context(), note("x")), "queue": s.Queue(note("x")),
		"read": s.Read(t.Context(), func(*Reader) error { return nil }),
	} {
		if !fault.Is(err, catalog.Overloaded) {
			t.Errorf("%s after close: %v", what, err)
		}
	}
	must(t, s.Flush(t.Context()))
	if got := notes(t, openIn(t, s.opts.Dir, Options{})); len(got) != 20 {
		t.Errorf("%d rows of 20", len(got))
	}
}

func values(t *testing.T, s *Store) {
	type word string
	type number int32
	w, at := word("w"), time.UnixMilli(1757000000123).UTC()
	var none *string
	must(t, s.Write(t.Context(), func(tx *Tx) error {
		r := tx.QueryRow("SELECT ?, ?, ?, ?, ?, ?, ?, ?", &w, number(7), true, at, []byte("b"), 1.5, none, uint8(3))
		var (
			gotW      word
			gotN, u   number
			yes       bool
			gotAt     time.Time
			bytes     []byte
			f         float64
			gotNone   = new(string)
			wantBytes = "b"
		)
		if err := r.Scan(&gotW, &gotN, &yes, &gotAt, &bytes, &f, &gotNone, &u); err != nil {
			return err
		}
		if gotW != w || gotN != 7 || !yes || !gotAt.Equal(at) || string(bytes) != wantBytes || f != 1.5 || gotNone != nil || u != 3 {
			t.Errorf("got %v %v %v %v %s %v %v %v", gotW, gotN, yes, gotAt, bytes, f, gotNone, u)
		}
		if err := tx.QueryRow("SELECT NULL").Scan(new(string)); err == nil {
			t.Error("NULL fits in a string")
		}
		if err := tx.QueryRow("SELECT 'x'").Scan(new(int)); err == nil {
			t.Error("a text fits in an int")
		}
		if err := tx.QueryRow("SELECT 1 WHERE 0").Scan(new(int)); !errors.Is(err, ErrNoRows) {
			t.Errorf("no row: %v", err)
		}
		if _, err := tx.Exec("SELECT ?", struct{}{}); err == nil {
			t.Error("a struct is a value")
		}
		return nil
	}))
}

func unique(t *testing.T, s *Store) {
	insert := func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO session VALUES ('w', 'c', 1, 1)")
		return err
	}
	must(t, s.Write(t.Context(), insert))
	if err := s.Write(t.Context(), insert); !IsUnique(err) {
		t.Errorf("got %v", err)
	}
	if IsUnique(errors.New("x")) || IsUnique(nil) {
		t.Error("anything is a refused key")
	}
	must(t, s.Healthy())
}

func leftOpen(t *testing.T, s *Store) {
	must(t, s.Write(t.Context(), note("a")))
	must(t, s.Write(t.Context(), note("b")))
	must(t, s.Write(t.Context(), func(tx *Tx) error {
		const sql = "SELECT id FROM session_note"
		outer, err := tx.Query(sql)
		must(t, err)
		n := 0
		for outer.Next() { // the same text twice at once
			must(t, tx.QueryRow(sql).Scan(&n))
		}
		_, err = tx.Query(sql) // never read nor closed
		return err
	}))
	must(t, s.Write(t.Context(), note("c")))
	expect(t, s, "a", "b", "c")
}

// counter is a Part that counts its jobs and writes their number.
type counter struct {
	n    int
	ends chan bool
}

func (c *counter) Mark() int           { return c.n }
func (c *counter) Rewind(mark int)     { c.n = mark }
func (c *counter) Done(committed bool) { c.ends <- committed }
func (c *counter) Flush(tx *Tx) error  { return note(fmt.Sprint(c.n))(tx) }

func parts(t *testing.T, s *Store) {
	ends := make(chan bool, 10)
	add := func(n int, err error) func(*Tx) error {
		return func(tx *Tx) error {
			tx.Part("counter", func() Part { return &counter{ends: ends} }).(*counter).n += n
			return err
		}
	}
	release := hold(t, s)
	boom := errors.New("boom")
	must(t, s.Queue(add(100, boom))) // makes the part, and fails
	must(t, s.Queue(add(1, nil)))
	must(t, s.Queue(add(10, boom)))
	must(t, s.Queue(add(2, nil)))
	release()
	must(t, s.Flush(t.Context()))
	if !<-ends {
		t.Error("not committed")
	}
	expect(t, s, "3")
}
