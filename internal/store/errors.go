package store

import (
	"database/sql"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

// ErrNoRows is what Row.Scan gives when there is no row.
var ErrNoRows = sql.ErrNoRows

var errStopping = fault.New(catalog.Overloaded, "the store is stopping")

// reasons are the SQLite errors that say something of the machine rather than of the statement.
var reasons = map[int]string{
	sqlite3.SQLITE_BUSY:     "another process keeps the database busy",
	sqlite3.SQLITE_LOCKED:   "another process keeps the database busy",
	sqlite3.SQLITE_PROTOCOL: "another process keeps the database busy",
	sqlite3.SQLITE_FULL:     "the disk is full",
	sqlite3.SQLITE_IOERR:    "the disk cannot be read or written",
	sqlite3.SQLITE_CORRUPT:  "the database file is damaged; it is kept as it is",
	sqlite3.SQLITE_NOTADB:   "the database file is no database; it is kept as it is",
	sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
	sqlite3.SQLITE_READONLY: "the database file is not writable",
	sqlite3.SQLITE_PERM:     "the database file is not accessible",
	sqlite3.SQLITE_NOMEM:    "memory ran out",
}

// translate makes a fault store_unavailable of an error that speaks of the machine; any other error stays what it is.
func translate(err error) error {
	if reason, ok := reasons[sqliteCode(err)&0xff]; ok {
		return fault.New(catalog.StoreUnavailable, "the store is unavailable: %s", reason).With(err)
	}
	return err
}

// unavailable makes a fault store_unavailable of any error.
func unavailable(err error) error {
	if err == nil || fault.Is(err, catalog.StoreUnavailable) {
		return err
	}
	return fault.New(catalog.StoreUnavailable, "the store is unavailable: a transaction failed").With(err)
}

// IsUnique says whether err is the refusal of a row whose key is there already.
func IsUnique(err error) bool {
	code := sqliteCode(err)
	return code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

func isBusy(err error) bool { return sqliteCode(err)&0xff == sqlite3.SQLITE_BUSY }

// sqliteCode is the extended code of an SQLite error, 0 for any other.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}
