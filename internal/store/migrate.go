package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

//go:embed migrations/*.sql
var embedded embed.FS

// applicationID marks a database file as ours: "ctxd".
const applicationID = 0x63747864

// migration brings a database from version-1 to version.
type migration struct {
	version int
	sql     string
}

// migrations reads NNNN_name.sql files, numbered from 1 without hole.
func migrations(fsys fs.FS) ([]migration, error) {
	names, err := fs.Glob(fsys, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	out := make([]migration, 0, len(names))
	for i, name := range names { // Glob sorts
		number, _, _ := strings.Cut(filepath.Base(name), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("store: %s is not migration %d", name, i+1)
		}
		sql, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		out = append(out, migration{i + 1, string(sql)})
	}
	return out, nil
}

// schema is what a database file says of itself.
type schema struct {
	application, version, objects int
}

func inspect(ctx context.Context, c *conn) (schema, error) {
	var s schema
	for _, q := range []struct {
		sql string
		to  *int
	}{
		{"PRAGMA application_id", &s.application},
		{"PRAGMA user_version", &s.version},
		{"SELECT count(*) FROM sqlite_schema", &s.objects},
	} {
		if err := row(c.query(ctx, q.sql)).Scan(q.to); err != nil {
			return s, err
		}
	}
	return s, nil
}

// check refuses a database that is not ours or newer than this program. It never changes anything.
func (s schema) check(latest int) error {
	switch {
	case s.application != applicationID && (s.objects > 0 || s.version > 0 || s.application != 0):
		return fault.New(catalog.StoreUnavailable, "it is the database of another program; it is kept as it is")
	case s.version > latest:
		return fault.New(catalog.StoreUnavailable,
			"its schema has version %d, and this ctxd knows %d: use the newer ctxd that wrote it", s.version, latest)
	}
	return nil
}

// touch reads a row of every table: what is damaged at their roots is found now and not by the first caller.
func touch(ctx context.Context, c *conn) error {
	rows, err := c.query(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return err
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	for _, name := range names {
		var one int
		err := row(c.query(ctx, `SELECT 1 FROM "`+name+`" LIMIT 1`)).Scan(&one)
		if err != nil && !errors.Is(err, ErrNoRows) {
			return err
		}
	}
	return rows.Err()
}

// migrate applies what is missing, each migration with its version in one transaction. An older database is copied first.
func migrate(ctx context.Context, c *conn, path string, from int, steps []migration) error {
	if from > 0 && from < len(steps) {
		if err := snapshot(ctx, c, fmt.Sprintf("%s.v%d.bak", path, from)); err != nil {
			return fmt.Errorf("copying it before the migration: %w", err)
		}
	}
	for _, m := range steps[min(from, len(steps)):] {
		if err := m.apply(ctx, c); err != nil {
			return fmt.Errorf("migration %d: %w", m.version, err)
		}
	}
	return nil
}

func (m migration) apply(ctx context.Context, c *conn) (err error) {
	if err := c.script(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.script(ctx, "ROLLBACK") // the first failure is the one to tell
		}
	}()
	// Where files cannot be locked another process may have come first.
	if s, err := inspect(ctx, c); err != nil || s.version >= m.version {
		return errors.Join(err, c.script(ctx, "COMMIT"))
	}
	err = c.script(ctx, m.sql)
	if err == nil {
		err = c.script(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", applicationID, m.version))
	}
	return err
}

// snapshot copies the database to the file at path, which appears only when it is whole and on the disk.
func snapshot(ctx context.Context, c *conn, path string) error {
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := vacuumInto(ctx, c, f); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// vacuumInto copies the database to an empty file, whose permissions it keeps, and closes that.
func vacuumInto(ctx context.Context, c *conn, f *os.File) error {
	_, err := c.exec(ctx, "VACUUM INTO ?", f.Name())
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
