//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

// ruled is a repository with ignore rules of every kind, one file of which is tracked although a rule matches it.
func ruled(t testing.TB) string {
	t.Helper()
	files := map[string]string{
		".gitignore":      "/coverage\n*.log\n!keep.log\n**/gen/\ndocs/**/*.tmp\n\\#hash\n\\!bang\ntrail\\ \ntrails   \nspace d\n[ab].x\n*.y\\?\nfoo/*\n!foo/bar\nbuild/\n!build/kept.txt\n/a/**/z\nСтойки\n%20\n\"quoted\"\n",
		"crlf/.gitignore": "*.crlf\r\n!keep.crlf\r\n/anchored\r\n", "nested/.gitignore": "!*.log\n/only here\n", "cr/.gitignore": "one\rtwo\n", "bom/.gitignore": "\xef\xbb\xbf*.bom\n", "latin/.gitignore": "caf\xe9\n",
		".git/info/exclude": "excluded\n!excluded/kept\n",
	}
	for _, p := range []string{
		"coverage", "x/coverage", "a.log", "keep.log", "x/keep.log", "gen/a", "x/y/gen/b", "gen2/a", "docs/a.tmp", "docs/b/c.tmp", "other/d.tmp", "#hash", "!bang", "trail ", "trails", "trail", "space d", "a.x", "b.x", "c.x",
		"q.y?", "q.yz", "foo/a", "foo/bar", "foo/sub/bar", "build/kept.txt", "x/build/y", "a/z", "a/b/c/z", "b/a/z", "Стойки", "x/Стойки/y", "%20", " ", "\"quoted\"", "quoted", "crlf/a.crlf", "crlf/keep.crlf", "crlf/anchored", "crlf/x/anchored",
		"crlf/c\r", "nested/a.log", "nested/only here", "nested/x/only here", "cr/one", "cr/two", "cr/one\rtwo", "bom/a.bom", "excluded/kept", "excluded/a", "new\nline.log", "new\nline", "tracked.log", "café/latin", "latin/café", "e\u0301/x", "sub repo/a.log", "sub repo/b",
	} {
		if _, there := files[p]; !there {
			files[p] = "text of it\n"
		}
	}
	root := testkit.Write(t, files)
	git(t, root, "init", "-q")
	must(t, os.WriteFile(filepath.Join(root, ".git/info/exclude"), []byte(files[".git/info/exclude"]), 0o644)) // init may have written its own
	git(t, root, "add", "-f", "tracked.log")
	git(t, filepath.Join(root, "sub repo"), "init", "-q")
	must(t, os.WriteFile(filepath.Join(root, "sub repo/.gitignore"), []byte("b\n"), 0o644))
	return root
}

// Case 10: what ctx_tree lists and ctx_search searches is what git does not ignore, at every door.
func TestCase10Ignored(t *testing.T) {
	t.Parallel()
	needGit(t)
	root := ruled(t)
	list := func(dir, below string) (out []string) {
		for name := range strings.SplitSeq(git(t, dir, "ls-files", "-co", "--exclude-standard", "-z"), "\x00") {
			if name != "" && !strings.HasSuffix(name, "/") {
				out = append(out, below+name)
			}
		}
		return out
	}
	want := append(list(root, ""), list(filepath.Join(root, "sub repo"), "sub repo/")...) // by its own rules: git lists it as one name
	slices.Sort(want)
	eachDoor(t, testkit.Settings{"project_root": root}, func(t *testing.T, d door) {
		var tree struct{ Entries []struct{ Path, Type string } }
		got := d.Call(t, request{tool: "ctx_tree", args: `{"depth":64,"show_hidden":true}`})
		must(t, json.Unmarshal([]byte(got.data), &tree))
		var listed []string
		for _, e := range tree.Entries {
			if e.Type != "folder" {
				listed = append(listed, e.Path)
			}
		}
		slices.Sort(listed)
		if !slices.Equal(listed, want) {
			t.Errorf("ctx_tree lists\n%q\ngit\n%q", listed, want)
		}
		var found struct{ Matches []struct{ Path string } }
		got = d.Call(t, request{tool: "ctx_search", args: `{"pattern":"^.?","max_results":1000}`})
		must(t, json.Unmarshal([]byte(got.data), &found))
		var searched []string
		for _, m := range found.Matches {
			searched = append(searched, m.Path)
		}
		slices.Sort(searched)
		if searched = slices.Compact(searched); !slices.Equal(searched, want) {
			t.Errorf("ctx_search searches\n%q\ngit\n%q", searched, want)
		}
		all := d.Call(t, request{tool: "ctx_tree", args: `{"depth":64,"show_hidden":true,"respect_gitignore":false}`})
		for _, p := range []string{`"coverage"`, `"build/kept.txt"`, `"crlf/a.crlf"`, `"excluded/a"`} {
			if !strings.Contains(all.data, p) {
				t.Errorf("%s is not shown though its rules were not asked for", p)
			}
		}
	})
}

// needGit skips where there is no git to compare with; CI has one.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is missing; CI must have it")
		}
		t.Skip("git is not installed: nothing to compare with")
	}
}

// git runs git with nothing of the user's configuration.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}
