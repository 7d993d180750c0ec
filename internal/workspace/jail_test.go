//go:build unix

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const foreign = "FOREIGN BYTES"

// jail makes a root with symlinks of every kind, and a place outside that nobody may see.
func jail(t *testing.T) (root, out string) {
	t.Helper()
	base := t.TempDir()
	root, out = filepath.Join(base, "root"), filepath.Join(base, "root_secret")
	write(t, filepath.Join(out, "file"), foreign)
	write(t, filepath.Join(out, "dir/file"), foreign)
	write(t, filepath.Join(root, "in/file"), "inside")
	write(t, filepath.Join(root, ".git/config"), foreign)
	write(t, filepath.Join(root, "keys/id.pem"), foreign)
	for name, target := range map[string]string{
		"to-file": "../root_secret/file", "to-dir": "../root_secret/dir", "to-abs": out, "to-abs-in": filepath.Join(root, "in"), "to-parent": "..", "to-root": "/",
		"in/up": "../../root_secret/file", "chain1": "chain2", "chain2": "chain3", "chain3": "to-dir", "loop1": "loop2", "loop2": "loop1", "self": "self",
		"around": "../root/in/file", "to-proc": "/proc/self/root", "dangling": "nothing", "to-dangling-out": "../root_secret/nothing",
		"to-git": ".git", "to-config": ".git/config", "to-pem": "keys/id.pem", "by-chain": "in/git", "in/git": "../.git",
		"good": "in/file", "good-dir": "in", "good-chain": "good-dir/back", "in/back": "../in/./file", "climb": "in/../in/file", "deep/er/up": "../../in", "updown": "deep/er/up/../in/file",
	} {
		symlink(t, target, filepath.Join(root, name))
	}
	return root, out
}

// Case 13: nothing outside is read, looked at or walked, by whatever symlinks.
func TestJail(t *testing.T) {
	t.Parallel()
	root, out := jail(t)
	w := open(t, Options{Root: root, Refused: []string{"*.pem"}})
	for p, want := range map[string]string{
		"to-file": OutsideWorkspace, "to-dir": OutsideWorkspace, "to-dir/file": OutsideWorkspace, "to-dir/new": OutsideWorkspace, "to-abs": OutsideWorkspace,
		"to-abs/file": OutsideWorkspace, "to-abs-in/file": OutsideWorkspace, "to-parent": OutsideWorkspace, "to-parent/root_secret/file": OutsideWorkspace,
		"to-parent/root/in/file": OutsideWorkspace, "to-root/etc/passwd": OutsideWorkspace, "in/up": OutsideWorkspace, "chain1/file": OutsideWorkspace,
		"chain3": OutsideWorkspace, "around": OutsideWorkspace, "to-proc/etc/passwd": OutsideWorkspace, "to-dangling-out": OutsideWorkspace,
		"loop1": Unreadable, "loop1/x": Unreadable, "self": Unreadable, "self/self": Unreadable, "dangling": NoSuchFile, "dangling/x": NoSuchFile,
		"nothing": NoSuchFile, "nothing/x": NoSuchFile, "in/file/x": NoSuchFile, "good/x": NoSuchFile, strings.Repeat("n", 300): InvalidPath,
		"to-git": Refused, "to-git/config": Refused, "to-config": Refused, "to-pem": Refused, "by-chain/config": Refused, "in/git/HEAD": Refused, "good-dir/git/config": Refused,
		"good": "", "good-dir/file": "", "good-chain": "", "climb": "", "deep/er/up/file": "", "updown": "", "good-dir/back": "",
	} {
		info, err := w.Stat(p)
		if reasonOf(err) != want {
			t.Errorf("stat %s: %v, want %q", p, err, want)
		}
		if err == nil && (info.Type != TypeFile || info.Size != int64(len("inside"))) {
			t.Errorf("stat %s: %+v", p, info)
		}
		f, err := w.Read(t.Context(), p, 0)
		if err == nil && string(f.Bytes) != "inside" || (err == nil) != (want == "") {
			t.Errorf("read %s: %v", p, err)
		}
		if err != nil && (strings.Contains(err.Error(), out) || strings.Contains(err.Error(), "root_secret") && !strings.Contains(p, "root_secret")) {
			t.Errorf("%s: the message tells of the place outside: %v", p, err)
		}
	}
	for _, p := range []string{"to-dir", "to-abs", "to-parent", "chain1", "to-git", "by-chain", "self"} {
		if _, err := w.Walk(t.Context(), p, WalkOptions{}, func(e Entry) error { t.Errorf("%s shows %s", p, e.Path); return nil }); err == nil {
			t.Errorf("walk %s: no error", p)
		}
	}
}

// Symlinks are told as what they lead to, and those to refused files are not shown: a walk is a subset of what can be read.
func TestWalkLinks(t *testing.T) {
	t.Parallel()
	root, _ := jail(t)
	w := open(t, Options{Root: root, Refused: []string{"*.pem"}})
	types := map[string]Type{}
	skips, err := w.Walk(t.Context(), ".", WalkOptions{Hidden: true, Stat: true}, func(e Entry) error {
		types[e.Path] = e.Type
		if e.Type == TypeFile {
			if f, err := w.Read(t.Context(), e.Path, 0); err != nil || string(f.Bytes) != "inside" || e.Identity != f.Identity {
				t.Errorf("%+v: %v", e, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]Type{
		"in": TypeFolder, "in/file": TypeFile, "good": TypeFile, "good-chain": TypeFile, "climb": TypeFile, "updown": TypeFile, "good-dir": TypeLink, "to-dir": TypeLink,
		"dangling": TypeLink, "self": TypeLink, "to-file": TypeLink, "to-git": "", "to-config": "", "to-pem": "", "in/git": "", "keys/id.pem": "", "good-dir/file": "",
	} {
		if types[p] != want {
			t.Errorf("%s is %q, want %q", p, types[p], want)
		}
	}
	if skips[SkipRefused] != 6 {
		t.Errorf("skips %v", skips)
	}
	// A walk may begin behind a symlink; its paths are those asked for.
	if got, _ := walkAll(t, w, "good-dir", WalkOptions{}); len(got) != 3 || got[1] != "good-dir/file" {
		t.Errorf("%q", got)
	}
}

// A name that is swapped for a symlink all the time leads outside, or to a refused file, not once.
func TestSwapRace(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{"outside": "../../root_secret/dir", "git": "../.git"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _ := jail(t)
			write(t, filepath.Join(root, ".git/file"), foreign)
			write(t, filepath.Join(root, "race/d/file"), "inside")
			symlink(t, target, filepath.Join(root, "race/l"))
			w := openAt(t, root)
			ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
			defer cancel()
			var all sync.WaitGroup
			all.Go(func() { swap(ctx, filepath.Join(root, "race")) })
			reads := 0
			for ctx.Err() == nil {
				f, err := w.Read(context.Background(), "race/d/file", 0)
				if err == nil && string(f.Bytes) != "inside" {
					t.Fatalf("read %q", f.Bytes)
				}
				if _, err := w.Walk(context.Background(), "race", WalkOptions{Stat: true}, func(e Entry) error {
					if strings.Contains(e.Path, "config") || e.Size == int64(len(foreign)) && e.Type == TypeFile {
						t.Errorf("the walk shows %+v", e)
					}
					return nil
				}); err != nil {
					t.Errorf("walk: %v", err)
				}
				reads++
			}
			all.Wait()
			if reads < 100 {
				t.Logf("only %d reads", reads)
			}
		})
	}
}

// swap puts the folder d and the symlink l in each other's place until ctx ends.
func swap(ctx context.Context, dir string) {
	at := func(n string) string { return filepath.Join(dir, n) }
	for ctx.Err() == nil {
		for _, m := range [][2]string{{"d", "x"}, {"l", "d"}, {"d", "l"}, {"x", "d"}} {
			_ = os.Rename(at(m[0]), at(m[1])) // the names are ours alone
		}
	}
}

// soon fails the test where f takes longer than anything that does not wait.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: blocked", what)
	}
}

// FIFOs, sockets and devices are told as what they are; nothing waits for them, also not where git would look for rules.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	initRepo(t, dir)
	write(t, filepath.Join(dir, "sub/file"), "")
	special := []string{"fifo"}
	for _, p := range []string{"fifo", "sub/.gitignore", "sub/.git", ".git/info/exclude", ".git/index"} {
		if err := syscall.Mkfifo(filepath.Join(dir, p), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if syscall.Mknod(filepath.Join(dir, "device"), syscall.S_IFCHR|0o600, 1<<8|5) == nil { // needs root
		special = append(special, "device")
	}
	symlink(t, "fifo", filepath.Join(dir, "to-fifo"))
	write(t, filepath.Join(dir, ".gitignore"), "ignored\n")
	write(t, filepath.Join(dir, "ignored"), "")
	w := openAt(t, dir)
	for _, p := range append(special, "to-fifo") {
		soon(t, p, func() {
			if _, err := w.Read(context.Background(), p, 0); reasonOf(err) != NotAFile {
				t.Errorf("read %s: %v", p, err)
			}
			if i, err := w.Stat(p); err != nil || i.Type != TypeOther {
				t.Errorf("stat %s: %+v, %v", p, i, err)
			}
		})
	}
	soon(t, "walk", func() {
		_, skips := walkAll(t, w, ".", WalkOptions{Stat: true})
		if skips[SkipSpecial] != len(special) || skips[SkipIgnored] != 1 || skips[SkipIndex] != 1 {
			t.Errorf("%v", skips)
		}
	})
}

// Looking at a FIFO has no effect on whoever waits at its other end, and opening one, were it swapped in, does not wait.
func TestFifoIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := make(chan *os.File, 1)
	go func() {
		f, _ := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for a reader
		opened <- f
	}()
	w := openAt(t, dir)
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, _ = w.Read(t.Context(), "fifo", 0)
		walkAll(t, w, ".", WalkOptions{Stat: true})
	}
	select {
	case f := <-opened:
		_ = f.Close()
		t.Fatal("the FIFO was opened")
	default:
	}
	soon(t, "open", func() {
		top, err := openTop(w.root)
		if err != nil {
			t.Error(err)
			return
		}
		defer top.close()
		r, err := top.open("fifo")
		if err != nil {
			t.Error(err)
			return
		}
		_ = (<-opened).Close()
		_ = r.Close()
		again, err := top.open("fifo") // nobody is at the other end now
		if err != nil {
			t.Error(err)
			return
		}
		_ = again.Close()
	})
}

// A file that turns into a FIFO between the look and the open blocks nobody.
func TestFifoRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "d"), "inside")
	if err := syscall.Mkfifo(filepath.Join(dir, "l"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := openAt(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { swap(ctx, dir) })
	soon(t, "reads", func() {
		for ctx.Err() == nil {
			if f, err := w.Read(context.Background(), "d", 0); err == nil && string(f.Bytes) != "inside" {
				t.Errorf("read %q", f.Bytes)
			}
		}
	})
	all.Wait()
}

func TestPermission(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	write(t, filepath.Join(dir, "closed/x"), "")
	for _, p := range []string{"file", "closed"} {
		if err := os.Chmod(filepath.Join(dir, p), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o700) })
	w := openAt(t, dir)
	for _, p := range []string{"file", "closed/x"} {
		if _, err := w.Read(t.Context(), p, 0); reasonOf(err) != Unreadable {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, skips := walkAll(t, w, ".", WalkOptions{}); skips[SkipUnreadable] != 1 {
		t.Errorf("%v", skips)
	}
}
