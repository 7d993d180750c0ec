package store

import (
	"context"
	"sync"
)

// Reader is a snapshot, for the time of the function that it was given to. Its queries end with the context of the read.
type Reader struct {
	ctx context.Context
	c   *conn
}

// Query runs a query. See Rows.Scan for the arguments.
func (r *Reader) Query(sql string, args ...any) (*Rows, error) { return r.c.query(r.ctx, sql, args...) }

// QueryRow runs a query for one row.
func (r *Reader) QueryRow(sql string, args ...any) *Row { return row(r.c.query(r.ctx, sql, args...)) }

// pool holds the reading connections. They are opened when first needed.
type pool struct {
	dial  func() (*conn, error)
	slots chan *conn // nil: not opened yet
	done  chan struct{}
	once  sync.Once
}

func newPool(n int, dial func() (*conn, error)) *pool {
	p := &pool{dial: dial, slots: make(chan *conn, n), done: make(chan struct{})}
	for range n {
		p.slots <- nil
	}
	return p
}

func (p *pool) take(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-p.done:
		return nil, errStopping
	default:
	}
	select {
	case c := <-p.slots:
		if c != nil {
			return c, nil
		}
		c, err := p.dial()
		if err != nil {
			p.slots <- nil
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, errStopping
	}
}

// give takes a connection back; one that the machine failed is replaced when next needed.
func (p *pool) give(c *conn) {
	if c.failed != nil {
		_ = c.close() // it only read
		c = nil
	}
	p.slots <- c
}

// close waits for every connection to come back.
func (p *pool) close() {
	p.once.Do(func() {
		close(p.done)
		for range cap(p.slots) {
			if c := <-p.slots; c != nil {
				_ = c.close() // it only read
			}
		}
	})
}

func dialReader(d *database) (*conn, error) {
	c, err := dial(d.path, d.lock.Path())
	if err != nil {
		return nil, err
	}
	if err := c.script(context.Background(), "PRAGMA query_only = 1"); err != nil {
		_ = c.close() // the first failure is the one to tell
		return nil, err
	}
	return c, nil
}
