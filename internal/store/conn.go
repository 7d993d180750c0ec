package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// maxStatements bounds the prepared statements that a connection keeps; what comes later is prepared for each use.
const maxStatements = 256

// conn is one connection, for one goroutine at a time. It stands on the driver and not on database/sql, whose locks and
// conversions cost more than the statements of this store.
type conn struct {
	raw   rawConn
	stmts map[string]*stmt
	open  []*Rows // results that are not closed yet
	args  []driver.NamedValue

	failed error // first store_unavailable that a statement met
}

type rawConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
}

type stmt struct {
	driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	kept  bool // in conn.stmts
	busy  bool // its result is being read
}

// Result is what a statement did.
type Result struct {
	Changed int64 // rows inserted, updated or deleted
	LastID  int64 // row id of the last insert of the connection
}

// dial opens the database at path. A new file takes its permissions from the file modeOf, and so do its companions.
func dial(path, modeOf string) (*conn, error) {
	return dialWith(path, url.Values{"modeof": {modeOf}, "_pragma": {
		"busy_timeout(5000)", "foreign_keys(1)", "synchronous(FULL)", "temp_store(MEMORY)", "journal_size_limit(67108864)",
	}})
}

func dialWith(path string, options url.Values) (*conn, error) {
	path, err := filepath.Abs(path) // an URI has no relative path
	if err != nil {
		return nil, err
	}
	q := options.Encode()
	q = strings.ReplaceAll(q, "+", "%20") // SQLite does not know a plus for a space
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: q}
	c, err := (&sqlite.Driver{}).Open(dsn.String())
	if err != nil {
		return nil, translate(err)
	}
	raw, ok := c.(rawConn)
	if !ok {
		return nil, fmt.Errorf("store: the driver's %T lacks contexts", c)
	}
	return &conn{raw: raw, stmts: map[string]*stmt{}}, nil
}

func (c *conn) close() error {
	c.closeRows()
	for _, st := range c.stmts {
		_ = st.Close() // closing the connection frees it anyway
	}
	return translate(c.raw.Close())
}

// closeRows closes what a job or a read left open.
func (c *conn) closeRows() {
	for len(c.open) > 0 {
		_ = c.open[len(c.open)-1].Close()
	}
}

// script runs several statements, unprepared.
func (c *conn) script(ctx context.Context, sql string) error {
	_, err := c.raw.ExecContext(ctx, sql, nil)
	return c.check(err)
}

// check translates the error of a statement and remembers a failure of the machine.
func (c *conn) check(err error) error {
	if err == nil {
		return nil
	}
	err = translate(err)
	if c.failed == nil && fault.Is(err, catalog.StoreUnavailable) {
		c.failed = err
	}
	return err
}

func (c *conn) exec(ctx context.Context, sql string, args ...any) (Result, error) {
	st, err := c.prepare(ctx, sql)
	if err != nil {
		return Result{}, err
	}
	defer st.done()
	values, err := c.bind(args)
	if err != nil {
		return Result{}, err
	}
	r, err := st.exec.ExecContext(ctx, values)
	if err != nil {
		return Result{}, c.check(err)
	}
	var out Result
	out.Changed, _ = r.RowsAffected() // the driver keeps both numbers and cannot fail to give them
	out.LastID, _ = r.LastInsertId()
	return out, nil
}

func (c *conn) query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	st, err := c.prepare(ctx, sql)
	if err != nil {
		return nil, err
	}
	values, err := c.bind(args)
	if err == nil {
		var raw driver.Rows
		if raw, err = st.query.QueryContext(ctx, values); err == nil {
			st.busy = true
			rows := &Rows{c: c, ctx: ctx, st: st, raw: raw, values: make([]driver.Value, len(raw.Columns()))}
			c.open = append(c.open, rows)
			return rows, nil
		}
	}
	st.done()
	return nil, c.check(err)
}

// prepare gives the statement of that text, a new one while the kept one is being read.
func (c *conn) prepare(ctx context.Context, sql string) (*stmt, error) {
	if st := c.stmts[sql]; st != nil && !st.busy {
		return st, nil
	}
	raw, err := c.raw.PrepareContext(ctx, sql)
	if err != nil {
		return nil, c.check(err)
	}
	st := &stmt{Stmt: raw}
	var ok1, ok2 bool
	st.exec, ok1 = raw.(driver.StmtExecContext)
	st.query, ok2 = raw.(driver.StmtQueryContext)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("store: the driver's %T lacks contexts", raw)
	}
	if c.stmts[sql] == nil && len(c.stmts) < maxStatements {
		st.kept = true
		c.stmts[sql] = st
	}
	return st, nil
}

// done gives a statement back.
func (s *stmt) done() {
	s.busy = false
	if !s.kept {
		_ = s.Close() // nothing depends on it any more
	}
}

// bind makes driver values of args, in the scratch space of the connection: the driver copies them.
func (c *conn) bind(args []any) ([]driver.NamedValue, error) {
	c.args = c.args[:0]
	for i, arg := range args {
		v, err := value(arg)
		if err != nil {
			return nil, fmt.Errorf("store: argument %d: %w", i+1, err)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.args, nil
}

// value makes a driver value: integers, floats, strings, bools, byte slices and types made of them, pointers to them (nil is
// NULL), and times, which are stored as unix milliseconds.
func value(arg any) (driver.Value, error) {
	switch v := arg.(type) {
	case nil, int64, string, []byte, float64:
		return v, nil
	case int:
		return int64(v), nil
	case time.Time:
		return v.UnixMilli(), nil
	}
	v := reflect.ValueOf(arg)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return value(v.Elem().Interface())
	case reflect.Bool:
		if v.Bool() {
			return int64(1), nil
		}
		return int64(0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return int64(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Bytes(), nil
		}
	}
	return nil, fmt.Errorf("%T is no SQL value", arg)
}
