//go:build unix

package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/fault"
)

// box is a machine with a home and a project.
type box struct {
	t    *testing.T
	host Host
}

func newBox(t *testing.T) *box {
	t.Helper()
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t, Host{OS: "linux", Home: filepath.Join(dir, "home"), Root: filepath.Join(dir, "project")}}
	b.must(os.Mkdir(b.host.Home, 0o755), os.Mkdir(b.host.Root, 0o755))
	return b
}

func (b *box) must(errs ...error) {
	b.t.Helper()
	if err := errors.Join(errs...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) target(client string, s Scope) *Target {
	b.t.Helper()
	target, err := NewTarget(Find(client), s, b.host, "/opt/bin/ctxd", false)
	b.must(err)
	return target
}

func (b *box) write(path, text string, mode fs.FileMode) string {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode))
	return path
}

func (b *box) read(path string) string {
	b.t.Helper()
	data, err := os.ReadFile(path)
	b.must(err)
	return string(data)
}

// tree is every file of the machine with its mode and content.
func (b *box) tree() string {
	b.t.Helper()
	var out strings.Builder
	b.must(filepath.WalkDir(filepath.Dir(b.host.Home), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		out.WriteString(path + " " + info.Mode().String())
		if err == nil && info.Mode().IsRegular() && info.Size() < 1<<16 {
			data, err := os.ReadFile(path)
			out.WriteString(" " + string(data))
			return err
		}
		out.WriteString("\n")
		return err
	}))
	return out.String()
}

// refused wants a reason and a hint, and nothing changed.
func (b *box) refused(t *Target, reason, hint string) {
	b.t.Helper()
	before := b.tree()
	r, err := t.Put(false)
	if fault.From(err).Reason() != reason || !strings.Contains(err.Error(), hint) {
		b.t.Errorf("%v, %v; want %s, %q", r, err, reason, hint)
	}
	if after := b.tree(); after != before {
		b.t.Errorf("left behind\n%s\nwas\n%s", after, before)
	}
}

func TestNewFiles(t *testing.T) {
	b := newBox(t)
	for _, c := range []struct {
		target       *Target
		file, folder fs.FileMode
	}{
		{b.target("cursor", Project), 0o644, 0o755},
		{b.target("vscode", User), 0o600, 0o700},
	} {
		r, err := c.target.Put(false)
		b.must(err)
		info, err := os.Stat(r.File)
		b.must(err)
		dir, err := os.Stat(filepath.Dir(r.File))
		b.must(err)
		if r.Change != Added || r.Backup != "" || info.Mode().Perm() != c.file || dir.Mode().Perm()&^0o022 != c.folder&^0o022 || b.read(r.File) != r.Snippet {
			t.Errorf("%+v, %v in %v", r, info.Mode(), dir.Mode())
		}
	}
	if tree := b.tree(); strings.Contains(tree, "/.ctxd-") || strings.Contains(tree, backupSuffix) {
		t.Error(tree)
	}
}

func TestOldFilesKeepTheirModeAndACopy(t *testing.T) {
	b := newBox(t)
	target := b.target("claude-code", Project)
	first := b.write(target.File, "{\n  \"mcpServers\": {}\n}\n", 0o640)
	r, err := target.Put(false)
	b.must(err)
	info, err := os.Stat(r.File)
	b.must(err)
	if r.File != first || r.Backup != first+backupSuffix || b.read(r.Backup) != "{\n  \"mcpServers\": {}\n}\n" || info.Mode().Perm() != 0o640 {
		t.Fatalf("%+v, %v", r, info.Mode())
	}
	if copied, err := os.Stat(r.Backup); err != nil || copied.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", copied, err)
	}
	// What comes later has ctxd in it, and is no copy of what was there before.
	target.Entry.Args[2] = "/elsewhere"
	for _, edit := range []func(bool) (*Result, error){target.Put, target.Take} {
		r, err := edit(false)
		b.must(err)
		if !r.Changed || b.read(r.Backup) != "{\n  \"mcpServers\": {}\n}\n" {
			t.Errorf("%+v, and the copy is\n%s", r, b.read(r.Backup))
		}
	}
	// Without ctxd, the file is what was there before again.
	b.write(target.File, "{}", 0o640)
	r, err = target.Put(false)
	b.must(err)
	if b.read(r.Backup) != "{}" {
		t.Error(b.read(r.Backup))
	}
}

func TestNothingToDo(t *testing.T) {
	b := newBox(t)
	target := b.target("codex", Project)
	before := b.tree()
	if r, err := target.Take(false); err != nil || r.Changed || b.tree() != before {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := target.Print(); err != nil || !strings.Contains(r.Snippet, "[mcp_servers.ctxd]") || b.tree() != before {
		t.Errorf("%+v, %v", r, err)
	}
	if state, err := target.Look(); state != Absent || err != nil || b.tree() != before {
		t.Errorf("%s, %v", state, err)
	}
	_, err := target.Put(false)
	b.must(err)
	// A file that is right needs no permission to write.
	b.must(os.Chmod(target.File, 0o400))
	before = b.tree()
	if r, err := target.Put(false); err != nil || r.Change != Unchanged || b.tree() != before {
		t.Errorf("%+v, %v", r, err)
	}
}
