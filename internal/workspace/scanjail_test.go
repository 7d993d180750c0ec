//go:build unix

package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Case 13: a scan goes through symlinks exactly where reading does.
func TestScanJail(t *testing.T) {
	t.Parallel()
	root, _ := jail(t)
	w := open(t, Options{Root: root, Refused: []string{"*.pem"}})
	for _, rel := range []string{".", "in", "good-dir", "good-chain", "in/file"} {
		got, _ := scanned(t, w, rel, ScanOptions{Hidden: true})
		if strings.Contains(strings.Join(got, ""), foreign) || len(got) == 0 {
			t.Errorf("%s: %q", rel, got)
		}
	}
	got, skips := scanned(t, w, ".", ScanOptions{Hidden: true})
	want, wantSkips := walked(t, w, ".", ScanOptions{Hidden: true})
	if !slices.Equal(got, want) || fmt.Sprint(skips) != fmt.Sprint(wantSkips) {
		t.Errorf("%q %v, want %q %v", got, skips, want, wantSkips)
	}
	for rel, reason := range map[string]string{"to-file": OutsideWorkspace, "no": NoSuchFile, ".git": Refused, "../root_secret": OutsideWorkspace} {
		if _, err := w.Scan(t.Context(), rel, ScanOptions{}, func(Content) error { return nil }); reasonOf(err) != reason {
			t.Errorf("%s: %v, want %s", rel, err, reason)
		}
	}
}

// A file that is a link one moment and a file the next shows its own bytes or none.
func TestScanSwapped(t *testing.T) {
	t.Parallel()
	root, _ := jail(t)
	dir := filepath.Join(root, "swap")
	mkdir(t, dir)
	write(t, filepath.Join(dir, "real"), "inside")
	symlink(t, "../../root_secret/file", filepath.Join(dir, "link"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for _, n := range []string{"real", "link"} {
				_ = os.Link(filepath.Join(dir, n), filepath.Join(dir, "tmp"))
				_ = os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "it"))
			}
		}
	}()
	defer func() { cancel(); <-done }()
	w := openAt(t, root)
	for range 300 {
		if _, err := w.Scan(t.Context(), "swap", ScanOptions{}, func(c Content) error {
			if bytes.Contains(c.Bytes, []byte(foreign)) {
				return errors.New(c.Path + " shows what is outside")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
