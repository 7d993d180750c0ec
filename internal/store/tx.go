package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
)

// Tx is the transaction of a group of jobs, for the time of the job that it was given to.
type Tx struct {
	w     *writer
	c     *conn
	parts []keyedPart
	saved bool // the running job has its savepoint
	wrote bool // something was changed
}

// Part is what a package keeps in memory for the time of a group: rows to be written together at its end, which no query of
// the group sees. Its methods are called by the writer.
type Part interface {
	// Mark names the present state, for Rewind.
	Mark() int
	// Rewind undoes all since the mark: the job failed. Mark 0 is the empty part.
	Rewind(mark int)
	// Flush writes what it holds, before the commit. An error fails the group.
	Flush(tx *Tx) error
	// Done tells how the group ended, before those who wait for it know.
	Done(committed bool)
}

type keyedPart struct {
	key  any
	part Part
	mark int // at the start of the running job
}

// Part gives the part of that key, made by create for the first job of the group that asks.
func (t *Tx) Part(key any, create func() Part) Part {
	for _, p := range t.parts {
		if p.key == key {
			return p.part
		}
	}
	p := keyedPart{key: key, part: create()}
	t.parts = append(t.parts, p)
	return p.part
}

// Exec runs a statement. See Rows.Scan for the arguments.
func (t *Tx) Exec(sql string, args ...any) (Result, error) {
	if err := t.save(sql); err != nil {
		return Result{}, err
	}
	return t.c.exec(context.Background(), sql, args...)
}

// Query runs a query, also one that writes and returns rows. A text that starts with SELECT must not write.
func (t *Tx) Query(sql string, args ...any) (*Rows, error) {
	if err := t.save(sql); err != nil {
		return nil, err
	}
	return t.c.query(context.Background(), sql, args...)
}

// QueryRow runs a query for one row.
func (t *Tx) QueryRow(sql string, args ...any) *Row { return row(t.Query(sql, args...)) }

// Waiting says whether other jobs wait for the writer: background work stops then.
func (t *Tx) Waiting() bool { return t.w.due() }

// save opens the savepoint of the job before its first statement that may write: a job that only reads, or leaves its rows to
// a Part, needs none.
func (t *Tx) save(sql string) error {
	if t.c.failed != nil {
		return t.c.failed
	}
	if strings.HasPrefix(sql, "SELECT") {
		return nil
	}
	t.wrote = true
	if t.saved {
		return nil
	}
	_, err := t.c.exec(context.Background(), "SAVEPOINT job")
	t.saved = err == nil
	return err
}

// run runs a job and undoes it when it fails.
func (t *Tx) run(fn func(*Tx) error) (err error) {
	known := len(t.parts)
	for i := range t.parts {
		t.parts[i].mark = t.parts[i].part.Mark()
	}
	t.saved = false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store: a job panicked: %v\n%s", p, debug.Stack())
		}
		t.c.closeRows()
		switch {
		case err != nil:
			t.undo(known)
		case t.saved:
			t.end("RELEASE job")
		}
	}()
	return fn(t)
}

func (t *Tx) undo(known int) {
	for i, p := range t.parts {
		if i < known {
			p.part.Rewind(p.mark)
		} else {
			p.part.Rewind(0)
		}
	}
	if t.saved && t.c.failed == nil {
		t.end("ROLLBACK TO job")
		t.end("RELEASE job")
	}
}

// end runs a statement that cannot fail while the transaction stands; when it does, the group is lost.
func (t *Tx) end(sql string) {
	if _, err := t.c.exec(context.Background(), sql); err != nil && t.c.failed == nil {
		t.c.failed = unavailable(err)
	}
}

// commit makes the group durable, or undoes it and fails with store_unavailable.
func (t *Tx) commit() error {
	err := t.flush()
	if err == nil {
		_, err = t.c.exec(context.Background(), "COMMIT")
	}
	if err != nil {
		_, _ = t.c.exec(context.Background(), "ROLLBACK") // SQLite may have done so already
	}
	err = unavailable(err)
	for _, p := range t.parts {
		p.part.Done(err == nil)
	}
	return err
}

func (t *Tx) flush() error {
	t.saved = true // what fails from here on fails the group: no savepoint
	for _, p := range t.parts {
		if err := p.part.Flush(t); err != nil {
			return err
		}
	}
	return t.c.failed
}
