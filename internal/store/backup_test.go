package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
)

func quiet(string, int64, int64) {}

// A backup that is taken while others write is a prefix of what they wrote, whole and readable by itself.
func TestBackupWhileOthersWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openIn(t, dir, Options{})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				must(t, s.Write(t.Context(), note(fmt.Sprintf("%06d", i))))
			}
		}
	})
	for i := range 5 {
		file := filepath.Join(t.TempDir(), "b")
		must(t, Backup(t.Context(), dir, file, quiet))
		info, err := os.Stat(file)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Error(info.Mode())
		}
		restored := filepath.Join(t.TempDir(), "new")
		aside, err := Restore(t.Context(), restored, file, time.Now(), quiet)
		if must(t, err); aside != "" {
			t.Errorf("%s was there", aside)
		}
		got := notes(t, openIn(t, restored, Options{}))
		for j, text := range got {
			if text != fmt.Sprintf("%06d", j) {
				t.Fatalf("backup %d: note %d is %s", i, j, text)
			}
		}
		left, err := filepath.Glob(file + "*")
		if must(t, err); len(left) != 1 {
			t.Errorf("%v", left)
		}
	}
	close(stop)
	writer.Wait()
}

// A backup never takes the place of a file, comes whole or not at all, and needs something to copy.
func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	file := filepath.Join(out, "b")
	if err := Backup(t.Context(), dir, file, quiet); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no database: %v", err)
	}
	s := openIn(t, dir, Options{})
	must(t, s.Write(t.Context(), note("a")))
	must(t, os.WriteFile(file, []byte("mine"), 0o600))
	if err := Backup(t.Context(), dir, file, quiet); !errors.Is(err, ErrExists) {
		t.Errorf("a file is there: %v", err)
	}
	unchangedFile(t, file, "mine")
	if err := appear(file, file); !errors.Is(err, ErrExists) {
		t.Errorf("it came while it was copied: %v", err)
	}
	var p *fs.PathError
	if err := Backup(t.Context(), dir, filepath.Join(out, "no", "b"), quiet); !errors.As(err, &p) {
		t.Errorf("no folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Backup(ctx, dir, filepath.Join(out, "c"), quiet); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	must(t, s.Close())
	damage(t, File(dir))
	if err := Backup(t.Context(), dir, filepath.Join(out, "c"), quiet); !fault.Is(err, catalog.StoreUnavailable) {
		t.Errorf("damaged: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(out, "c*")); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

// damage overwrites pages of a closed database behind the first.
func damage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0x5a}, int(info.Size())-4096), 4096)
	must(t, errors.Join(err, f.Close()))
}

func unchangedFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if must(t, err); string(got) != want {
		t.Errorf("%s is %.40q", path, got)
	}
}

// A restore keeps what was there, and does nothing while somebody has it open or for a file that is no good.
func TestRestore(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	file := filepath.Join(out, "b")
	s := openIn(t, dir, Options{})
	must(t, s.Write(t.Context(), note("old")))
	must(t, Backup(t.Context(), dir, file, quiet))
	must(t, s.Write(t.Context(), note("new")))
	if _, err := Restore(t.Context(), dir, file, time.Now(), quiet); !errors.Is(err, ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	must(t, s.Close())
	whole, err := os.ReadFile(File(dir))
	must(t, err)
	for name, content := range map[string][]byte{"empty": {}, "short": whole[:5000], "text": []byte(strings.Repeat("no database ", 100)), "torn": append(bytes.Clone(whole[:4096]), bytes.Repeat([]byte{9}, 4096)...), "foreign": foreign(t)} {
		bad := filepath.Join(out, name)
		must(t, os.WriteFile(bad, content, 0o600))
		if _, err := Restore(t.Context(), dir, bad, time.Now(), quiet); !fault.Is(err, catalog.StoreUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(out, "live"), whole, 0o600))
	must(t, os.WriteFile(filepath.Join(out, "live-wal"), []byte("x"), 0o600))
	if _, err := Restore(t.Context(), dir, filepath.Join(out, "live"), time.Now(), quiet); !fault.Is(err, catalog.StoreUnavailable) {
		t.Errorf("copied from a running server: %v", err)
	}
	if _, err := Restore(t.Context(), dir, filepath.Join(out, "none"), time.Now(), quiet); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	unchangedFile(t, File(dir), string(whole))
	aside, err := Restore(t.Context(), dir, file, time.Now(), quiet)
	must(t, err)
	if got := notes(t, openIn(t, dir, Options{})); fmt.Sprint(got) != "[old]" {
		t.Errorf("%v", got)
	}
	again := t.TempDir()
	_, err = Restore(t.Context(), again, aside, time.Now(), quiet)
	must(t, err)
	if got := notes(t, openIn(t, again, Options{})); fmt.Sprint(got) != "[old new]" {
		t.Errorf("what was there: %v", got)
	}
	if left, err := filepath.Glob(File(dir) + ".restore*"); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}

// A damaged database is set aside whole, its log too, and a log whose database is lost never gets at the restored one.
func TestRestoreOverRuins(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	file := filepath.Join(t.TempDir(), "b")
	s := openIn(t, from, Options{})
	must(t, s.Write(t.Context(), note("good")))
	must(t, Backup(t.Context(), from, file, quiet))
	must(t, s.Write(t.Context(), note("not in the backup")))
	wal, err := os.ReadFile(File(from) + "-wal")
	must(t, err)
	for name, ruin := range map[string]string{"damaged": strings.Repeat("ruin ", 1000), "lost": ""} {
		dir := t.TempDir()
		if ruin != "" {
			must(t, os.WriteFile(File(dir), []byte(ruin), 0o600))
		}
		must(t, os.WriteFile(File(dir)+"-wal", wal, 0o600))
		aside, err := Restore(t.Context(), dir, file, time.Now(), quiet)
		must(t, err)
		if got := notes(t, openIn(t, dir, Options{})); fmt.Sprint(got) != "[good]" {
			t.Errorf("%s: %v", name, got)
		}
		if ruin != "" {
			unchangedFile(t, aside, ruin)
		}
		unchangedFile(t, aside+"-wal", string(wal))
	}
}

// Looking at a database changes nothing and makes none.
func TestInspect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Inspect(t.Context(), dir, Intact); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	s := openIn(t, dir, Options{})
	must(t, s.Write(t.Context(), note("a")))
	facts, err := Inspect(t.Context(), dir, Intact)
	if must(t, err); !facts.InUse || facts.Schema != Latest() || facts.Bytes < 4096 {
		t.Errorf("%+v", facts)
	}
	must(t, s.Close())
	before, err := os.ReadFile(File(dir))
	must(t, err)
	if facts, err = Inspect(t.Context(), dir, Intact); err != nil || facts.InUse {
		t.Errorf("%+v %v", facts, err)
	}
	unchangedFile(t, File(dir), string(before))
	damage(t, File(dir))
	if _, err = Inspect(t.Context(), dir, Intact); !fault.Is(err, catalog.StoreUnavailable) {
		t.Error(err)
	}
}
