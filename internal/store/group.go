package store

import (
	"context"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// group commits what is queued, and what queues while it runs, in one transaction.
func (w *writer) group() {
	tx, err := w.begin()
	jobs := w.jobs[:0]
	if err != nil {
		jobs = w.take(jobs)
	}
	for tx != nil && len(jobs) < maxGroup && w.c.failed == nil {
		n := len(jobs)
		if jobs = w.take(jobs); len(jobs) == n {
			break
		}
		for _, j := range jobs[n:] {
			if j.fn != nil {
				j.err = tx.run(j.fn)
			}
		}
	}
	if tx != nil {
		err = w.end(tx)
	}
	w.settle(jobs, err)
	clear(jobs)
	w.jobs = jobs[:0]
	w.backlog, w.wasQuiet = true, false
	w.busyJobs += len(jobs)
	w.quiet.Reset(quietAfter)
}

// begin starts a transaction. The turn file is a queue of one before SQLite's own lock: whoever holds it comes next, so that a
// process that commits without pause cannot starve another, which SQLite by itself allows.
func (w *writer) begin() (*Tx, error) {
	w.c.failed = nil
	turn := false
	defer func() {
		if turn {
			w.s.db.turn.Unlock()
		}
	}()
	ok, err := until(context.Background(), busyLimit, busyPause, func() (bool, error) {
		if turn = turn || w.s.db.turn.Try(true); !turn {
			return false, nil
		}
		_, err := w.c.exec(context.Background(), "BEGIN IMMEDIATE")
		if isBusy(err) {
			w.c.failed = nil
			return false, nil
		}
		return err == nil, err
	})
	if err == nil && !ok {
		err = fault.New(catalog.StoreUnavailable, "the store is unavailable: another process keeps the database busy")
	}
	if err != nil {
		w.fail(unavailable(err))
		return nil, unavailable(err)
	}
	return &Tx{w: w, c: w.c}, nil
}

// end commits, and tells whoever watches.
func (w *writer) end(tx *Tx) error {
	err := tx.commit()
	if err != nil || tx.wrote { // what wrote nothing says nothing about the disk
		w.fail(err)
	}
	if err == nil && tx.wrote {
		w.s.committed.fire()
	}
	return err
}

// fail keeps the failure of the last transaction for Healthy; nil clears it.
func (w *writer) fail(err error) {
	if err == nil {
		w.s.failure.Store(nil)
	} else {
		w.s.failure.Store(&err)
	}
}

// settle tells the callers how their jobs ended: with the group's failure, or else with their own.
func (w *writer) settle(jobs []*job, err error) {
	w.unsettled.Add(-int64(len(jobs)))
	for _, j := range jobs {
		if j.settled == nil {
			continue
		}
		if err != nil {
			j.settled <- err
		} else {
			j.settled <- j.err
		}
	}
}

// idle runs one step of each piece of background work.
func (w *writer) idle() {
	w.mu.Lock()
	idles := w.idles
	w.mu.Unlock()
	w.backlog = false
	for _, fn := range idles {
		tx, err := w.begin()
		if err != nil {
			return // Healthy tells; the next group tries again
		}
		more := false
		err = tx.run(func(tx *Tx) (err error) {
			more, err = fn(tx)
			return err
		})
		if end := w.end(tx); err == nil {
			err = end
		}
		w.backlog = w.backlog || (more && err == nil)
	}
	if !w.backlog {
		w.busyJobs, w.wasQuiet = 0, false
	}
}
