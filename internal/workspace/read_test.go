package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ten"), "0123456789")
	write(t, filepath.Join(dir, "empty"), "")
	write(t, filepath.Join(dir, "binary"), "\x7fELF\x00\x01")
	mkdir(t, filepath.Join(dir, "sub"))
	w := openAt(t, dir)
	for _, c := range []struct {
		path  string
		limit int64
		want  string
	}{
		{"ten", 0, ""}, {"ten", 10, ""}, {"ten", 9, TooLarge}, {"ten", 1, TooLarge}, {"empty", 1, ""}, {"sub", 0, IsAFolder}, {".", 0, IsAFolder},
		{"none", 0, NoSuchFile}, {"", 0, InvalidPath}, {"../x", 0, OutsideWorkspace}, {".git", 0, Refused},
	} {
		if _, err := w.Read(t.Context(), c.path, c.limit); reasonOf(err) != c.want {
			t.Errorf("%q up to %d: %v", c.path, c.limit, err)
		}
	}
	f, err := w.Read(t.Context(), "ten", 0)
	info, _ := w.Stat("ten")
	if err != nil || string(f.Bytes) != "0123456789" || f.Binary || f.Identity != info.Identity || f.ReadAt.IsZero() {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = w.Read(t.Context(), "binary", 0)
	if err != nil || !f.Binary {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := f.Text(); reasonOf(err) != BinaryFile {
		t.Errorf("text of a binary file: %v", err)
	}
}

// Case 15: a file over the limit costs neither its size nor its time.
func TestReadHugeSparse(t *testing.T) {
	t.Parallel()
	p := filepath.Join(t.TempDir(), "bundle")
	write(t, p, "")
	if err := os.Truncate(p, 1<<40); err != nil {
		t.Skip("no sparse files here:", err)
	}
	if _, err := openAt(t, filepath.Dir(p)).Read(t.Context(), "bundle", 0); reasonOf(err) != TooLarge {
		t.Error(err)
	}
}

// A file that grows while it is read stays within the limit.
func TestReadUpTo(t *testing.T) {
	t.Parallel()
	if b, err := readUpTo(t.Context(), strings.NewReader("0123456789"), make([]byte, 0, 3), 10); err != nil || string(b) != "0123456789" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := readUpTo(t.Context(), strings.NewReader("0123456789"), make([]byte, 0, 3), 9); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readUpTo(ctx, strings.NewReader("0123456789"), make([]byte, 0, 10), 10); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReadCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openAt(t, t.TempDir()).Read(ctx, "x", 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// While a writer renames new versions over a file, every reading is one whole version.
func TestReadWhileRenamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(c string) {
		write(t, filepath.Join(dir, "new"), strings.Repeat(c, 100_000))
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "f")); err != nil {
			t.Error(err)
		}
	}
	put("a")
	w := openAt(t, dir)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100 {
			put(string(rune('a' + i%26)))
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		f, err := w.Read(t.Context(), "f", 0)
		if err != nil || len(f.Bytes) != 100_000 || strings.Trim(string(f.Bytes), string(f.Bytes[:1])) != "" {
			t.Fatalf("torn: %v", err)
		}
	}
}

// Case 3: the identity sees an edit that keeps size and mtime, and a rename over the file.
func TestIdentity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := filepath.Join(dir, "f")
	write(t, p, "one")
	w := openAt(t, dir)
	stat := func() Identity {
		t.Helper()
		i, err := w.Stat("f")
		if err != nil {
			t.Fatal(err)
		}
		return i.Identity
	}
	first := stat()
	if first != stat() {
		t.Error("an untouched file has two identities")
	}
	mtime := time.Unix(0, first.MtimeNs)
	time.Sleep(fineTick)
	write(t, p, "two")
	if err := os.Chtimes(p, mtime, mtime); err != nil {
		t.Fatal(err)
	}
	second := stat()
	if second.MtimeNs != first.MtimeNs || second.Size != first.Size || second == first {
		t.Errorf("%+v, then %+v", first, second)
	}
	write(t, filepath.Join(dir, "g"), "two")
	if err := os.Rename(filepath.Join(dir, "g"), p); err != nil {
		t.Fatal(err)
	}
	if third := stat(); third.Ino == second.Ino || third == second {
		t.Errorf("renamed over: %+v", third)
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 123_456_789)
	ago := func(d time.Duration) int64 { return at.Add(-d).UnixNano() }
	whole := time.Unix(1_699_999_999, 0).UnixNano()
	for _, c := range []struct {
		name         string
		mtime, ctime int64
		granularity  time.Duration
		want         bool
	}{
		{"long ago", ago(time.Hour), ago(time.Hour), 0, true},
		{"just now", ago(0), ago(0), 0, false},
		{"within a tick", ago(fineTick / 2), ago(time.Hour), 0, false},
		{"restored mtime", ago(time.Hour), ago(time.Millisecond), 0, false},
		{"in the future", ago(-time.Hour), ago(time.Hour), 0, false},
		{"whole seconds, 1.1 s ago", whole, whole, 0, false},
		{"whole seconds, a minute ago", whole - int64(time.Minute), whole - int64(time.Minute), 0, true},
		{"as the caller says", ago(time.Second), ago(time.Second), time.Minute, false},
	} {
		if got := (Identity{MtimeNs: c.mtime, CtimeNs: c.ctime}).Settled(at, c.granularity); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
