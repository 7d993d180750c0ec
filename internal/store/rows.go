package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"
)

// Rows is the result of a query. What is not closed when the job or the read ends is closed then.
type Rows struct {
	c      *conn
	ctx    context.Context
	st     *stmt
	raw    driver.Rows
	values []driver.Value
	err    error
	closed bool
}

// Next moves to the next row; false after the last one or a failure, which Err tells apart.
func (r *Rows) Next() bool {
	if r.closed || r.err != nil {
		return false
	}
	err := r.ctx.Err()
	if err == nil {
		err = r.raw.Next(r.values)
	}
	if err == nil {
		return true
	}
	if !errors.Is(err, io.EOF) {
		r.err = r.c.check(err)
	}
	_ = r.Close()
	return false
}

// Scan copies the row into pointers to what an argument may be (see value), or to pointers to them where NULL may come. A
// byte slice is the caller's.
func (r *Rows) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("store: %d columns for %d places", len(r.values), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, r.values[i]); err != nil {
			return fmt.Errorf("store: column %d: %w", i+1, err)
		}
	}
	return nil
}

// Err is the failure that ended Next, nil after the last row.
func (r *Rows) Err() error { return r.err }

// Close ends the result. Twice is fine.
func (r *Rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.raw.Close()
	r.st.done()
	if i := slices.Index(r.c.open, r); i >= 0 {
		r.c.open = slices.Delete(r.c.open, i, i+1)
	}
	return r.c.check(err)
}

// Row is the result of a query for one row.
type Row struct {
	rows *Rows
	err  error
}

func row(rows *Rows, err error) *Row { return &Row{rows, err} }

// Scan copies the first row, or says ErrNoRows.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }() // what there was to read has been read
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	return r.rows.Scan(dest...)
}

func assign(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case *int64:
		if n, ok := v.(int64); ok {
			*d = n
			return nil
		}
	case *string:
		if s, ok := v.(string); ok {
			*d = s
			return nil
		}
	case *[]byte:
		if b, ok := v.([]byte); ok {
			*d = b
			return nil
		}
	case *any:
		*d = v
		return nil
	case *time.Time:
		if n, ok := v.(int64); ok {
			*d = time.UnixMilli(n).UTC()
			return nil
		}
	}
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("%T is no place for a value", dest)
	}
	return assignElem(p.Elem(), v)
}

func assignElem(e reflect.Value, v driver.Value) error {
	if e.Kind() == reflect.Pointer {
		if v == nil {
			e.SetZero()
			return nil
		}
		e.Set(reflect.New(e.Type().Elem()))
		return assign(e.Interface(), v)
	}
	isBytes := e.Kind() == reflect.Slice && e.Type().Elem().Kind() == reflect.Uint8
	switch v := v.(type) {
	case int64:
		switch {
		case e.CanInt() && !e.OverflowInt(v):
			e.SetInt(v)
			return nil
		case e.Kind() == reflect.Bool:
			e.SetBool(v != 0)
			return nil
		case e.CanFloat():
			e.SetFloat(float64(v))
			return nil
		}
	case float64:
		if e.CanFloat() {
			e.SetFloat(v)
			return nil
		}
	case string:
		if e.Kind() == reflect.String {
			e.SetString(v)
			return nil
		}
		if isBytes {
			e.SetBytes([]byte(v))
			return nil
		}
	case []byte:
		if isBytes {
			e.SetBytes(v)
			return nil
		}
	case nil:
		if isBytes {
			e.SetZero()
			return nil
		}
	}
	return fmt.Errorf("%T does not fit in %s", v, e.Type())
}
