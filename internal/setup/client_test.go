package setup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/setup"
)

func TestClientsAreSortedAndDistinct(t *testing.T) {
	t.Parallel()
	names := setup.Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error(names)
	}
	if setup.Find("nope") != nil || setup.Find("zed").Title != "Zed" {
		t.Error("Find finds the wrong ones")
	}
	for _, c := range setup.Clients {
		if last := c.User[len(c.User)-1]; last.OS != "" || c.Next == "" || c.Title == "" {
			t.Errorf("%s has no file on some system, or says nothing of what comes next", c.Name)
		}
	}
}

func TestFilesPerSystem(t *testing.T) {
	t.Parallel()
	home := setup.Host{OS: "linux", Home: "/home/me", Root: "/work/web"}
	moved := map[string]string{"XDG_CONFIG_HOME": "/cfg", "CODEX_HOME": "/codex", "CLAUDE_CONFIG_DIR": "/claude", "GEMINI_CLI_HOME": "/gem", "APPDATA": "/roaming"}
	on := func(system string) setup.Host { h := home; h.OS = system; return h }
	with := func(h setup.Host, v map[string]string) setup.Host { h.Variables = v; return h }
	for _, c := range []struct {
		client string
		scope  setup.Scope
		host   setup.Host
		want   string
	}{
		{"claude-code", setup.Project, home, "/work/web/.mcp.json"},
		{"claude-code", setup.User, home, "/home/me/.claude.json"},
		{"claude-code", setup.User, with(home, moved), "/claude/.claude.json"},
		{"codex", setup.User, on("darwin"), "/home/me/.codex/config.toml"},
		{"codex", setup.User, with(home, moved), "/codex/config.toml"},
		{"cursor", setup.User, with(home, moved), "/home/me/.cursor/mcp.json"},
		{"gemini", setup.User, home, "/home/me/.gemini/settings.json"},
		{"gemini", setup.User, with(home, moved), "/gem/.gemini/settings.json"},
		{"vscode", setup.User, home, "/home/me/.config/Code/User/mcp.json"},
		{"vscode", setup.User, with(home, map[string]string{"XDG_CONFIG_HOME": "relative"}), "/home/me/.config/Code/User/mcp.json"},
		{"vscode", setup.User, with(on("freebsd"), moved), "/cfg/Code/User/mcp.json"},
		{"vscode", setup.User, with(on("darwin"), moved), "/home/me/Library/Application Support/Code/User/mcp.json"},
		{"vscode", setup.User, with(on("windows"), moved), "/roaming/Code/User/mcp.json"},
		{"windsurf", setup.User, home, "/home/me/.codeium/windsurf/mcp_config.json"},
		{"zed", setup.User, with(on("darwin"), moved), "/home/me/.config/zed/settings.json"},
		{"zed", setup.User, on("windows"), "/home/me/AppData/Roaming/Zed/settings.json"},
		{"zed", setup.Project, home, "/work/web/.zed/settings.json"},
	} {
		got, err := setup.Find(c.client).File(c.host, c.scope)
		if err != nil || got != filepath.FromSlash(c.want) {
			t.Errorf("%s %s on %s: %s, %v; want %s", c.client, c.scope, c.host.OS, got, err, c.want)
		}
	}
	for _, err := range []error{
		second(setup.Find("windsurf").File(home, setup.Project)),
		second(setup.Find("zed").File(setup.Host{Root: "/work/web"}, setup.User)),
	} {
		if err == nil || !strings.Contains(err.Error(), "--scope") {
			t.Error(err)
		}
	}
}

func second(_ string, err error) error { return err }

// The folder stands in the entry, but for a user's file whose client starts servers in the project.
func TestFoldersOfEntries(t *testing.T) {
	t.Parallel()
	h := setup.Host{OS: "linux", Home: "/home/me", Root: "/work/web"}
	for _, c := range setup.Clients {
		for _, scope := range c.Scopes() {
			for _, fixed := range []bool{false, true} {
				target, err := setup.NewTarget(&c, scope, h, "ctxd", fixed)
				if err != nil {
					t.Fatal(err)
				}
				want := []string{"mcp", "--project-root", "/work/web"}
				if scope == setup.User && c.Follows && !fixed {
					want = want[:1]
				}
				if !slices.Equal(target.Entry.Args, want) {
					t.Errorf("%s %s: %q", c.Name, scope, target.Entry.Args)
				}
			}
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	self, other := file("a/ctxd"), file("b/ctxd")
	if err := os.Mkdir(filepath.Join(dir, "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "c", "ctxd")); err != nil {
		t.Fatal(err)
	}
	path := func(dirs ...string) string {
		for i, d := range dirs {
			if d != "." {
				dirs[i] = filepath.Join(dir, d)
			}
		}
		return strings.Join(dirs, string(filepath.ListSeparator))
	}
	windows := file("w/ctxd.exe")
	for i, c := range []struct{ executable, path, system, want string }{
		{self, path("none", "a"), "linux", "ctxd"},
		{self, path("c", "b"), "linux", "ctxd"},
		{self, path("b", "a"), "linux", self}, // another one comes first
		{self, path("."), "linux", self},
		{self, "", "linux", self},
		{other, path("a"), "linux", other},
		{windows, path("w"), "windows", "ctxd"},
		{filepath.Join(dir, "gone"), path("a"), "linux", filepath.Join(dir, "gone")},
	} {
		if got := setup.Command(c.executable, c.path, c.system); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
}

// Files in which ctxd is give it back; what then stands in them is in testdata/golden.
func TestEntriesAreTakenOut(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/ours-*")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		c := clientOf(filepath.Base(filepath.Dir(file)))
		out, change, err := c.Take(read(t, file), entry, false)
		if err != nil || change != setup.Removed {
			t.Errorf("%s: %s, %v", file, change, err)
		}
		same(t, strings.Replace(filepath.ToSlash(file), "testdata/", "testdata/golden/removed/", 1), out)
	}
	for _, file := range []string{"testdata/edge-json/broken-foreign.json", "testdata/edge-toml/broken-foreign.toml"} {
		c := clientOf(filepath.Base(filepath.Dir(file)))
		if _, _, err := c.Take(read(t, file), entry, false); err == nil || !strings.Contains(err.Error(), "--force") {
			t.Errorf("%s: %v", file, err)
		}
		if out, change, err := c.Take(read(t, file), entry, true); err != nil || change != setup.Removed || strings.Contains(string(out), "docker") {
			t.Errorf("%s: %s, %v\n%s", file, change, err, out)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]setup.State{
		"zed/settings.json":                            setup.Absent,
		"edge-json/ours-as-written.json":               setup.Current,
		"edge-json/ours-other-folder.json":             setup.Different,
		"edge-json/broken-foreign-url.json":            setup.Foreign,
		"edge-json/broken-array.json":                  setup.Refused,
		"edge-toml/ours-in-the-middle.toml":            setup.Current,
		"edge-toml/broken-entry-inline.toml":           setup.Different,
		"edge-toml/ours-with-env-no-line-end.toml":     setup.Different,
		"edge-toml/looks-like-ours.toml":               setup.Absent,
		"edge-toml/ours-without-command-line-end.toml": setup.Different,
	} {
		got, err := clientOf(filepath.Dir(file)).Look(read(t, filepath.Join("testdata", filepath.FromSlash(file))), entry)
		if got != want || (err != nil) != (want == setup.Refused) {
			t.Errorf("%s: %s, %v; want %s", file, got, err, want)
		}
	}
}

// The guide has the table of clients as the code has it, and the entry of each.
func TestSetupDocs(t *testing.T) {
	t.Parallel()
	guide := string(read(t, "../../docs/setup.md"))
	var table strings.Builder
	table.WriteString("| client | file of the project | your own file | format | entry below |\n|---|---|---|---|---|\n")
	for _, c := range setup.Clients {
		project := "–"
		if c.Project != "" {
			project = "`" + c.Project + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | `%s` |\n", c.Name, project, strings.Join(folders(c), "; "), c.Format, c.Within)
	}
	if !strings.Contains(guide, "\n\n"+table.String()+"\n") {
		t.Errorf("docs/setup.md has no such table:\n%s", table.String())
	}
	for _, c := range setup.Clients {
		_, section, _ := strings.Cut(guide, "\n## "+c.Title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		snippet, err := c.Snippet(setup.NewEntry("ctxd", "/work/web"))
		if err != nil || !strings.Contains(section, snippet) || !strings.Contains(section, "ctxd setup "+c.Name) {
			t.Errorf("docs/setup.md has no section on %s with\n%s", c.Title, snippet)
		}
	}
}

// folders are the files of a user, as the guide shows them.
func folders(c setup.Client) []string {
	var out []string
	for _, f := range c.User {
		system := map[string]string{"darwin": " on macOS", "windows": " on Windows"}[f.OS]
		moved := ""
		if f.Variable != "" {
			moved = ", or below `$" + f.Variable + "`"
		}
		out = append(out, "`"+f.Default+"/"+f.File+"`"+moved+system)
	}
	slices.Reverse(out)
	return out
}
