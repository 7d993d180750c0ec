//go:build unix

package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/internal/fault"
)

func TestLinks(t *testing.T) {
	b := newBox(t)
	dotfiles := b.write(filepath.Join(b.host.Home, "dotfiles", "claude.json"), "{}", 0o600)
	user := b.target("claude-code", User)
	b.must(os.Symlink(filepath.Join("dotfiles", "claude.json"), user.File))
	r, err := user.Put(false)
	b.must(err)
	if info, err := os.Lstat(user.File); err != nil || info.Mode()&fs.ModeSymlink == 0 || r.File != dotfiles || !strings.Contains(b.read(dotfiles), "ctxd") {
		t.Errorf("%v, %v, %+v", info, err, r)
	}
	// A repository does not choose which file of its reader's machine is written.
	project := b.target("claude-code", Project)
	b.must(os.Symlink(dotfiles, project.File))
	b.refused(project, "leaves_project", "--print")
	cursor := b.target("cursor", Project)
	b.must(os.Symlink(b.host.Home, filepath.Dir(cursor.File)))
	b.refused(cursor, "leaves_project", b.host.Home)
	inside := b.write(filepath.Join(b.host.Root, "etc", "gemini.json"), "{}", 0o600)
	gemini := b.target("gemini", Project)
	b.must(os.Mkdir(filepath.Dir(gemini.File), 0o755), os.Symlink(inside, gemini.File))
	if r, err := gemini.Put(false); err != nil || r.File != inside {
		t.Errorf("%+v, %v", r, err)
	}
	zed := b.target("zed", Project)
	b.must(os.Mkdir(filepath.Dir(zed.File), 0o755), os.Symlink("nowhere", zed.File))
	b.refused(zed, "dangling_link", "take it away")
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	b := newBox(t)
	b.must(os.Mkdir(filepath.Join(b.host.Root, ".mcp.json"), 0o755))
	b.refused(b.target("claude-code", Project), "not_a_file", "move it away")

	pipe := b.target("gemini", Project).File
	b.must(os.Mkdir(filepath.Dir(pipe), 0o755), syscall.Mkfifo(pipe, 0o600))
	b.refused(b.target("gemini", Project), "not_a_file", "no regular file")

	b.write(filepath.Join(b.host.Root, ".cursor"), "", 0o600)
	b.refused(b.target("cursor", Project), "unreadable", "not a directory")

	codex := b.write(b.target("codex", Project).File, "", 0o600)
	b.must(os.Truncate(codex, maxTOML+1))
	b.refused(b.target("codex", Project), "too_large", "--print")

	b.write(b.target("vscode", Project).File, "{\"a\": \"\xff\"}", 0o600)
	b.refused(b.target("vscode", Project), "not_utf8", "UTF-8")

	b.write(b.target("zed", Project).File, "{\"a\" 1}", 0o600)
	b.refused(b.target("zed", Project), "broken_file", "line 1, column 6")

	windsurf := b.target("windsurf", User)
	b.write(windsurf.File, "{}", 0o600)
	b.must(os.Mkdir(windsurf.File+backupSuffix, 0o755))
	b.refused(windsurf, "not_a_file", "move it away")
}

func TestWhatIsReadOnlyIsRefused(t *testing.T) {
	b := newBox(t)
	b.write(b.target("claude-code", Project).File, "{}", 0o444)
	b.refused(b.target("claude-code", Project), "read_only", "chmod u+w")
	cursor := b.target("cursor", Project)
	b.write(cursor.File, "{}", 0o644)
	b.must(os.Chmod(filepath.Dir(cursor.File), 0o555))
	defer os.Chmod(filepath.Dir(cursor.File), 0o755)
	b.refused(cursor, "read_only", filepath.Dir(cursor.File))
	b.must(os.Remove(cursor.File))
	b.refused(cursor, "read_only", filepath.Dir(cursor.File))
}

func TestPathsThatAClientWouldExpandAreRefused(t *testing.T) {
	b := newBox(t)
	for _, c := range []struct {
		client, root string
		refused      bool
	}{
		{"gemini", "/a/$b", true},
		{"cursor", "/a/$b", false},
		{"cursor", "/a/${b}", true},
		{"zed", "/a/${b}", false},
	} {
		b.host.Root = filepath.Join(filepath.Dir(b.host.Home), c.root)
		b.must(os.MkdirAll(b.host.Root, 0o755))
		if c.refused {
			b.refused(b.target(c.client, Project), "would_be_expanded", "variable")
		} else if _, err := b.target(c.client, Project).Put(false); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// What happens to a file between reading and writing is not lost.
func TestChangesMeanwhile(t *testing.T) {
	for name, meanwhile := range map[string]func(b *box, path string) error{
		"written":  func(_ *box, path string) error { return os.WriteFile(path, []byte(`{"a": 2}`), 0o600) },
		"replaced": func(b *box, path string) error { return os.Rename(b.write(path+"2", `{"a": 1}`, 0o600), path) },
		"removed":  func(_ *box, path string) error { return os.Remove(path) },
		"linked": func(b *box, path string) error {
			return errors.Join(os.Rename(path, path+"3"), os.Symlink(path+"3", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			path := b.write(filepath.Join(b.host.Root, ".mcp.json"), `{"a": 1}`, 0o600)
			f, err := openFile(path, b.host.Root, maxJSON)
			b.must(err, meanwhile(b, path))
			before := b.tree()
			_, err = f.save([]byte("new"), modes{0o600, 0o700}, true)
			if fault.From(err).Reason() != "changed_meanwhile" || !strings.Contains(err.Error(), "again") {
				t.Error(err)
			}
			if after := b.tree(); after != before {
				t.Errorf("%s\nwas\n%s", after, before)
			}
		})
	}
	t.Run("made", func(t *testing.T) {
		b := newBox(t)
		path := filepath.Join(b.host.Root, ".mcp.json")
		f, err := openFile(path, b.host.Root, maxJSON)
		b.must(err)
		b.write(path, "{}", 0o600)
		if _, err = f.save([]byte("new"), modes{0o600, 0o700}, true); fault.From(err).Reason() != "changed_meanwhile" || b.read(path) != "{}" {
			t.Error(err)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	b := newBox(t)
	target := b.target("codex", User)
	b.write(target.File, "model = \"x\"\n", 0o600)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := target.Put(false); err != nil && fault.From(err).Reason() != "changed_meanwhile" {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := b.read(target.File); got != "model = \"x\"\n\n"+"[mcp_servers.ctxd]\ncommand = \"/opt/bin/ctxd\"\nargs = [\"mcp\"]\n" {
		t.Errorf("%s", got)
	}
	if tree := b.tree(); strings.Contains(tree, "/.ctxd-") {
		t.Error(tree)
	}
}
