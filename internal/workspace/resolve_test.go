package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/fault"
)

// Case 11: any legal file name works, and is never decoded.
var oddNames = []string{
	"plain.txt", "a b.txt", " lead", "trail ", "a&b", `a"b'c`, "%20", "%2e%2e%2fx", "a%00b", "new\nline", "tab\there", `back\slash`, `\`, "..a", "a..", "...",
	"*", "?", "[a]", "#x", "!x", "~", "$HOME", "-rf", "файл.txt", "日本語", "e\u0301.txt", "\u00e9.txt", "\xff\xfe", "a:b", "C:x", "con", "🙂",
	strings.Repeat("n", 255),
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, n := range oddNames {
		write(t, filepath.Join(dir, n), n)
		write(t, filepath.Join(dir, "in/"+n+"/x"), n)
	}
	w := openAt(t, dir)
	for _, n := range oddNames {
		for _, p := range []string{n, "./" + n, "in/../" + n, filepath.Join(dir, n)} {
			f, err := w.Read(t.Context(), p, 0)
			if err != nil || string(f.Bytes) != n || f.Path != n {
				t.Errorf("read %q: %v", p, err)
			}
		}
		if i, err := w.Stat("in/" + n); err != nil || i.Type != TypeFolder {
			t.Errorf("stat of folder %q: %v", n, err)
		}
		if got, _ := walkAll(t, w, "in/"+n, WalkOptions{Hidden: true}); !slices.Equal(got, []string{"in/" + n + "/x"}) {
			t.Errorf("walk of %q: %q", n, got)
		}
	}
	got, _ := walkAll(t, w, ".", WalkOptions{Hidden: true})
	if len(got) != 2*len(oddNames) {
		t.Errorf("the walk finds %d of %d", len(got), 2*len(oddNames))
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root := filepath.Join(base, "root")
	mkdir(t, root)
	mkdir(t, filepath.Join(base, "root_secret"))
	alias := filepath.Join(base, "alias")
	symlink(t, root, alias)
	w := open(t, Options{Root: alias, Refused: []string{".env*", "!.env.example", "secret/", "*.PEM"}})

	for p, want := range map[string]string{
		".": ".", "./": ".", "a": "a", "a/": "a", "./a//b/.": "a/b", "a/../b": "b", "a/b/../..": ".", root: ".", root + "/": ".", root + "/a": "a",
		root + "/../root/a": "a", alias: ".", alias + "/x/y": "x/y", "..a": "..a", "a/..b": "a/..b", "%2e%2e/x": "%2e%2e/x", `..\x`: `..\x`,
		".gitignore": ".gitignore", ".github/x": ".github/x", "git": "git", ".env.example": ".env.example", "secret": "secret", "x.git": "x.git",
		".gıt": ".gıt", "a.git/x": "a.git/x", ".git2": ".git2", "not/yet/there": "not/yet/there",
	} {
		if got, err := w.Resolve(p); err != nil || got != want {
			t.Errorf("%q: %q, %v", p, got, err)
		}
	}
	for p, want := range map[string]string{
		"": InvalidPath, "a\x00b": InvalidPath, "\x00": InvalidPath, strings.Repeat("a/", maxPath): InvalidPath,
		"..": OutsideWorkspace, "../": OutsideWorkspace, "../x": OutsideWorkspace, "a/../../x": OutsideWorkspace, "../root/a": OutsideWorkspace,
		"/": OutsideWorkspace, "/etc/passwd": OutsideWorkspace, root + "_secret": OutsideWorkspace, root + "_secret/x": OutsideWorkspace,
		alias + "_x": OutsideWorkspace, root + "/..": OutsideWorkspace, root + "/../root_secret/x": OutsideWorkspace, base: OutsideWorkspace,
		".git": Refused, ".git/config": Refused, ".GIT/config": Refused, "a/.Git": Refused, "a/.git/x": Refused, "./.git": Refused, "a/../.git/x": Refused,
		root + "/.git/HEAD": Refused, ".env": Refused, "x/.ENV.local": Refused, ".env/x": Refused, "secret/x": Refused, "a/SECRET/x": Refused, "k.pem": Refused,
	} {
		if got, err := w.Resolve(p); reasonOf(err) != want {
			t.Errorf("%.80q: %q, %v", p, got, err)
		}
	}
}

// No `!pattern` opens git's folder.
func TestGitIsAlwaysRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git/config"), "secret")
	write(t, filepath.Join(dir, "sub/.GIT/config"), "secret")
	write(t, filepath.Join(dir, "tree/.git"), "gitdir: secret")
	w := open(t, Options{Root: dir, Refused: []string{"!.git", "!.git/**", "!**"}})
	for _, p := range []string{".git", ".git/config", "sub/.GIT/config", "tree/.git"} {
		if _, err := w.Read(t.Context(), p, 0); reasonOf(err) != Refused {
			t.Errorf("%s: %v", p, err)
		}
	}
	if got, _ := walkAll(t, w, ".", WalkOptions{Hidden: true, Ignored: true}); len(got) > 0 {
		t.Errorf("the walk shows %q", got)
	}
}

// A folder pattern refuses a folder and what is in it, not a file of that name.
func TestRefusedFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a/keys/x"), "")
	write(t, filepath.Join(dir, "b/keys"), "file")
	symlink(t, "a/keys", filepath.Join(dir, "to-keys"))
	w := open(t, Options{Root: dir, Refused: []string{"keys/", "!a/keys/x"}})
	if _, err := w.Stat("a/keys"); reasonOf(err) != Refused {
		t.Errorf("the folder: %v", err)
	}
	if _, err := w.Stat("to-keys"); reasonOf(err) != Refused {
		t.Errorf("by a symlink: %v", err)
	}
	if _, err := w.Walk(t.Context(), "a/keys", WalkOptions{}, nil); reasonOf(err) != Refused {
		t.Errorf("a walk of it: %v", err)
	}
	if _, err := w.Read(t.Context(), "a/keys/x", 0); reasonOf(err) != Refused {
		t.Errorf("in it, though allowed again by itself: %v", err)
	}
	if f, err := w.Read(t.Context(), "b/keys", 0); err != nil || string(f.Bytes) != "file" {
		t.Errorf("a file of that name: %v", err)
	}
	if got, skips := walkAll(t, w, ".", WalkOptions{}); !slices.Equal(got, []string{"b/keys"}) || skips[SkipRefused] != 2 {
		t.Errorf("%q, %v", got, skips)
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	symlink(t, ".", filepath.Join(dir, "self"))
	for name, o := range map[string]Options{
		"no root":           {},
		"missing":           {Root: filepath.Join(dir, "nowhere")},
		"a file":            {Root: filepath.Join(dir, "file")},
		"pattern":           {Root: dir, Refused: []string{"[a"}},
		"data inside":       {Root: dir, DataDir: filepath.Join(dir, "data/not/yet")},
		"data is root":      {Root: dir, DataDir: dir},
		"data by a symlink": {Root: dir, DataDir: filepath.Join(dir, "self/self/x")},
		"root by a symlink": {Root: filepath.Join(dir, "self"), DataDir: filepath.Join(dir, "x")},
		"data is relative":  {Root: dir, DataDir: "data"},
		"data with dots":    {Root: dir, DataDir: dir + "/../" + filepath.Base(dir) + "/x"},
	} {
		if w, err := Open(o); err == nil {
			t.Errorf("%s: opened %s", name, w.Root())
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root := filepath.Join(base, "root")
	mkdir(t, root)
	w, err := Open(Options{ID: "id", Label: "Label", Root: root, DataDir: filepath.Join(base, "root_data")})
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil || w.ID() != "id" || w.Label() != "Label" || w.Root() != resolved {
		t.Errorf("%q %q %q, %v", w.ID(), w.Label(), w.Root(), err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("the second close: %v", err)
	}
	if _, err := w.Stat("."); reasonOf(err) != Unreadable {
		t.Errorf("after Close: %v", err)
	}
}

// The root may be named relative to where the process runs.
func TestRelativeRoot(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	w := openAt(t, ".")
	if rel, err := w.Resolve(filepath.Join(here, "resolve_test.go")); err != nil || rel != "resolve_test.go" {
		t.Errorf("%q, %v", rel, err)
	}
}

func FuzzResolve(f *testing.F) {
	for _, p := range []string{"", ".", "../x", "a/../../b", "/etc", "a\x00", ".git/x", "%2e%2e/", "a//b/", `..\..`} {
		f.Add(p)
	}
	w := openAt(f, f.TempDir())
	f.Fuzz(func(t *testing.T, p string) {
		for _, p := range []string{p, w.Root() + "/" + p, w.Root() + p} {
			rel, err := w.Resolve(p)
			if err != nil {
				if fault.From(err).Reason() == "" {
					t.Errorf("%q: no reason in %v", p, err)
				}
				continue
			}
			again, err := w.Resolve(rel)
			if err != nil || again != rel {
				t.Errorf("%q gives %q, and that %q, %v", p, rel, again, err)
			}
			if !filepath.IsLocal(rel) || strings.Contains("/"+strings.ToLower(rel)+"/", "/.git/") {
				t.Errorf("%q gives %q", p, rel)
			}
		}
	})
}
