// Package store keeps the data of ctxd in one SQLite database: opening and migrating it, one writer that commits what queued
// together, and a pool of readers.
//
// It knows tables only from its migrations and leaves what is in them to the packages that own them (eventlog, memory). It
// does not log: Healthy says what went wrong. Engine packages import it; only it imports the SQL driver.
//
// A job must not call Write, Queue and wait, Flush or Read of the same store: the writer runs one job at a time.
package store

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// Options say where the database is and how the store works. Only Dir is needed.
type Options struct {
	Dir      string           // data folder, made with mode 0700; holds ctxd.db
	Now      func() time.Time // time.Now by default
	Readers  int              // reads that may run at once; 4 by default
	Linger   time.Duration    // longest wait of a queued job for company; 5 ms by default
	MaxQueue int              // jobs that may wait; 4096 by default
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Linger <= 0 {
		o.Linger = 5 * time.Millisecond
	}
	if o.MaxQueue <= 0 {
		o.MaxQueue = 4096
	}
	return o
}

// Store is an open database. Its methods may be called from any goroutine.
type Store struct {
	opts      Options
	db        *database
	w         *writer
	readers   *pool
	committed signal
	foreign   signal
	failure   atomic.Pointer[error] // of the last group; nil when it was committed
	closing   sync.Once
	closed    error
}

// Open opens the database in Options.Dir, or makes it; an older schema is migrated after a copy ctxd.db.v<N>.bak was made.
// A file that is newer, foreign, damaged or held by another program fails with store_unavailable and stays as it is.
func Open(ctx context.Context, opts Options) (*Store, error) {
	return open(ctx, opts, embedded)
}

func open(ctx context.Context, opts Options, files fs.FS) (*Store, error) {
	steps, err := migrations(files)
	if err != nil {
		return nil, err
	}
	// As durable as fsync, without a journal entry for the time stamps of the file. Where there is none, fsync it is.
	_, _ = sqlite.Fdatasync(true)
	s := &Store{opts: opts.withDefaults()}
	if s.db, err = openDatabase(ctx, s.opts.Dir, steps); err != nil {
		return nil, err
	}
	s.readers = newPool(s.opts.Readers, func() (*conn, error) { return dialReader(s.db) })
	s.w = newWriter(s)
	s.w.look() // what others commit from here on is told
	go s.w.run()
	return s, nil
}

// Write runs fn in a transaction and returns when it is durable. Several jobs share a transaction, each within a savepoint of
// its own: an error of fn undoes what fn did and nothing else, and comes back as it is; a panic counts as an error. (Ending
// the goroutine does not: no t.Fatal in fn.)
//
// Fails with overloaded when the queue is full or the store stopping, with store_unavailable when the transaction could not be
// committed, and with the error of ctx when that ended before fn started, which then never runs. Once fn runs, its commit
// decides and not ctx.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{fn: fn, settled: make(chan error, 1)}
	if err := s.w.push(j); err != nil {
		return err
	}
	select {
	case err := <-j.settled:
		return err
	case <-ctx.Done():
		if j.claim() {
			return ctx.Err()
		}
		return <-j.settled
	}
}

// Queue has fn run like Write, within Options.Linger, and does not wait for it: what it does may be lost when the process or
// the disk fails before. Fails with overloaded when the queue is full or the store stopping.
func (s *Store) Queue(fn func(*Tx) error) error {
	return s.w.push(&job{fn: fn})
}

// Flush returns when all that this process queued before is committed. It fails with store_unavailable when it could not be,
// and with the error of ctx when that ended first.
func (s *Store) Flush(ctx context.Context) error {
	if s.w.unsettled.Load() == 0 {
		return nil
	}
	j := &job{settled: make(chan error, 1)}
	if err := s.w.push(j); err != nil {
		return err
	}
	select {
	case err := <-j.settled:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read runs fn on one snapshot of what is committed. It waits while Options.Readers others read; fails with the error of ctx
// when that ended first, with overloaded when the store is closed, with store_unavailable, and with the error of fn.
func (s *Store) Read(ctx context.Context, fn func(*Reader) error) error {
	c, err := s.readers.take(ctx)
	if err != nil {
		return err
	}
	defer s.readers.give(c)
	if _, err := c.exec(context.Background(), "BEGIN"); err != nil {
		return err
	}
	defer func() {
		c.closeRows()
		_, _ = c.exec(context.Background(), "ROLLBACK") // nothing was written
	}()
	return fn(&Reader{ctx, c})
}

// Idle registers background work: fn runs in the writer when nobody waits for it, as a transaction of its own, again as long
// as it says that there is more. It must be ready to stop when Tx.Waiting says so, and write only what it needs to.
func (s *Store) Idle(fn func(*Tx) (more bool, err error)) { s.w.addIdle(fn) }

// Committed gives a channel that is closed at the next commit, be it of this process or, with a delay of up to 250 ms, of
// another one. Take it, look, then wait for it: no commit is missed. It is also closed when the store closes.
func (s *Store) Committed() <-chan struct{} { return s.committed.next() }

// Foreign is Committed for other processes only.
func (s *Store) Foreign() <-chan struct{} { return s.foreign.next() }

// Healthy gives the failure of the last transaction, nil when it was committed.
func (s *Store) Healthy() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Probe writes a few bytes and reports like Write: whether the disk takes them.
func (s *Store) Probe(ctx context.Context) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec("UPDATE store_probe SET at = ?", s.opts.Now())
		return err
	})
}

// Close commits what is queued, refuses what comes later, and waits for running reads. Twice is fine.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.w.stop()
		s.readers.close()
		s.closed = errors.Join(s.Healthy(), s.db.close())
		s.foreign.fire()
		s.committed.fire()
	})
	return s.closed
}
