package store

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"modernc.org/sqlite"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

func TestE2Pragmas(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	check := func(scan func(sql string, to any) error) {
		t.Helper()
		for sql, want := range map[string]any{
			"SELECT synchronous FROM pragma_synchronous": int64(2), "SELECT foreign_keys FROM pragma_foreign_keys": int64(1),
			"SELECT journal_mode FROM pragma_journal_mode": "wal", "SELECT user_version FROM pragma_user_version": int64(1),
		} {
			var got any
			must(t, scan(sql, &got))
			if got != want {
				t.Errorf("%s: %v, want %v", sql, got, want)
			}
		}
	}
	must(t, s.Write(t.Context(), func(tx *Tx) error {
		check(func(sql string, to any) error { return tx.QueryRow(sql).Scan(to) })
		return nil
	}))
	must(t, s.Read(t.Context(), func(r *Reader) error {
		check(func(sql string, to any) error { return r.QueryRow(sql).Scan(to) })
		return nil
	}))
	if !sqlite.FdatasyncEnabled() {
		t.Log("commits use fsync here")
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b?#%41", "data")
	s := openIn(t, dir, Options{})
	must(t, s.Write(t.Context(), note("a")))
	expect(t, s, "a")
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 5 {
		t.Errorf("%d files: %v", len(entries), entries)
	}
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode())
	}
}

// version gives the first n of three migrations.
func version(n int) fs.FS {
	files := fstest.MapFS{}
	for i, sql := range []string{
		"CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);",
		"ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 2;",
		"UPDATE a SET y = y + 1;",
	} {
		if i < n {
			files["migrations/000"+string(rune('1'+i))+"_x.sql"] = &fstest.MapFile{Data: []byte(sql)}
		}
	}
	return files
}

func TestMigration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := open(t.Context(), Options{Dir: dir}, version(1))
	must(t, err)

	// While an older program has it open, a newer one keeps away.
	synctest.Test(t, func(t *testing.T) {
		_, err := open(t.Context(), Options{Dir: dir}, version(3))
		if !fault.Is(err, catalog.StoreUnavailable) || !strings.Contains(err.Error(), "stop that one") {
			t.Errorf("got %v", err)
		}
	})
	must(t, s.Close())

	// Many that open it at once migrate it once.
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := open(context.Background(), Options{Dir: dir}, version(3))
			if err != nil {
				t.Error(err)
				return
			}
			var y int
			must(t, s.Read(context.Background(), func(r *Reader) error { return r.QueryRow("SELECT y FROM a").Scan(&y) }))
			if y != 3 {
				t.Errorf("y is %d", y)
			}
			must(t, s.Close())
		})
	}
	wg.Wait()

	// The copy is the old database, whole.
	old := t.TempDir()
	data, err := os.ReadFile(filepath.Join(dir, "ctxd.db.v1.bak"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(old, fileName), data, 0o600))
	s, err = open(t.Context(), Options{Dir: old}, version(1))
	must(t, err)
	must(t, s.Close())

	// A newer one is refused.
	before, err := os.ReadFile(filepath.Join(dir, fileName))
	must(t, err)
	_, err = open(t.Context(), Options{Dir: dir}, version(1))
	if !fault.Is(err, catalog.StoreUnavailable) || !strings.Contains(err.Error(), "version 3") {
		t.Errorf("got %v", err)
	}
	unchanged(t, dir, before)
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := version(3).(fstest.MapFS)
	bad["migrations/0003_x.sql"] = &fstest.MapFile{Data: []byte("UPDATE a SET y = 9; CREATE TABLE a (x);")}
	s, err := open(t.Context(), Options{Dir: dir}, version(2))
	must(t, err)
	must(t, s.Close())
	if _, err := open(t.Context(), Options{Dir: dir}, bad); !fault.Is(err, catalog.StoreUnavailable) {
		t.Errorf("got %v", err)
	}
	s, err = open(t.Context(), Options{Dir: dir}, version(2))
	must(t, err)
	must(t, s.Read(t.Context(), func(r *Reader) error {
		var y int
		if err := r.QueryRow("SELECT y FROM a").Scan(&y); err != nil || y != 2 {
			t.Errorf("y is %d, %v", y, err)
		}
		return nil
	}))
	must(t, s.Close())
	holes := version(3).(fstest.MapFS)
	delete(holes, "migrations/0002_x.sql")
	if _, err := migrations(holes); err == nil {
		t.Error("a missing migration is not missed")
	}
}

func unchanged(t *testing.T, dir string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, fileName))
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("the file was changed")
	}
}

// A file that cannot be used is refused with its name and a reason, and kept.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	s := openIn(t, good, Options{})
	for range 50 {
		must(t, s.Queue(note(strings.Repeat("x", 1000))))
	}
	must(t, s.Close())
	whole, err := os.ReadFile(filepath.Join(good, fileName))
	must(t, err)
	damaged := bytes.Clone(whole)
	for i := 4096; i < len(damaged); i++ {
		damaged[i] = 0xa5
	}
	for name, c := range map[string]struct {
		data   []byte
		reason string
	}{
		"text":      {[]byte(strings.Repeat("no database\n", 1000)), "is no database"},
		"short":     {[]byte("x"), "is no database"},
		"damaged":   {damaged, "damaged"},
		"truncated": {whole[:4096*3], "damaged"},
		"foreign":   {foreign(t), "another program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, fileName), c.data, 0o600))
			s, err := Open(t.Context(), Options{Dir: dir})
			if err == nil {
				_ = s.Close()
			}
			if !fault.Is(err, catalog.StoreUnavailable) || !strings.Contains(err.Error(), c.reason) ||
				!strings.Contains(err.Error(), filepath.Join(dir, fileName)) {
				t.Errorf("got %v", err)
			}
			unchanged(t, dir, c.data)
		})
	}
}

func foreign(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "other.db")
	c, err := (&sqlite.Driver{}).Open(path)
	must(t, err)
	_, err = c.(driver.ExecerContext).ExecContext(t.Context(), "CREATE TABLE theirs (x)", nil)
	must(t, errors.Join(err, c.Close()))
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func TestLostFileBesideItsLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wal := filepath.Join(dir, fileName+"-wal")
	must(t, os.WriteFile(wal, []byte("precious"), 0o600))
	if _, err := Open(t.Context(), Options{Dir: dir}); !fault.Is(err, catalog.StoreUnavailable) {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(wal); err != nil || string(data) != "precious" {
		t.Errorf("the log is %q, %v", data, err)
	}
}

func TestUnusableFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(t.Context(), Options{Dir: file}); !fault.Is(err, catalog.StoreUnavailable) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Options{Dir: t.TempDir()}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A commit of another process is told within the polling interval, and one's own is not taken for it.
func TestForeignCommits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := openIn(t, dir, Options{}), openIn(t, dir, Options{})
	must(t, a.Probe(t.Context()))
	foreign, committed := a.Foreign(), a.Committed()
	must(t, b.Write(t.Context(), note("a")))
	<-foreign
	<-committed
	expect(t, a, "a")

	foreign = a.Foreign()
	must(t, a.Write(t.Context(), note("b")))
	must(t, a.Write(t.Context(), func(tx *Tx) error {
		tx.w.look()
		return nil
	}))
	select {
	case <-foreign:
		t.Error("its own commit is foreign to it")
	default:
	}
}
