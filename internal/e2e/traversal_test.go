//go:build unix

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/internal/testkit"
)

const foreign = "FOREIGN BYTES"

// besieged is a repository with symlinks of every kind, beside a folder whose name begins like its own.
func besieged(t testing.TB) (root, outside string) {
	t.Helper()
	base := testkit.Write(t, map[string]string{
		"root/in/file.txt": "inside\n", "root/a.txt": "inside\n", "root/%2e%2e/odd.txt": "inside\n", "root_secret/file.txt": foreign, "root_secret/in/file.txt": foreign, "root-x": foreign,
	})
	root, outside = filepath.Join(base, "root"), filepath.Join(base, "root_secret")
	for name, target := range map[string]string{
		"to file": "../root_secret/file.txt", "to folder": "../root_secret", "absolute": outside, "absolute inside": filepath.Join(root, "in"), "parent": "..", "top": "/",
		"in/up": "../../root_secret/file.txt", "chain 1": "chain 2", "chain 2": "to folder", "loop 1": "loop 2", "loop 2": "loop 1", "self": "self",
		"not yet": "../root_secret/later.txt", "round": "../root/../root_secret/file.txt", "good": "in/file.txt", "good folder": "in",
	} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	return root, outside
}

// Case 13: what lies outside is read, listed and searched by no tool at any door, however it is spelled and whatever leads there;
// whether it is there cannot be told either.
func TestCase13Traversal(t *testing.T) {
	t.Parallel()
	root, outside := besieged(t)
	refused := []string{
		"../root_secret/file.txt", "in/../../root_secret/file.txt", "./../root-x", outside + "/file.txt", root + "/../root_secret/file.txt", root + "_secret/file.txt", "/" + outside + "/file.txt",
		"..", "../", "in/../..", "/", "/etc/passwd", "/proc/self/environ", "../none.txt", "../root_secret/none.txt", outside + "/none.txt", "../root_secret/file.txt/x",
		"to file", "to folder", "to folder/file.txt", "to folder/in/file.txt", "absolute/file.txt", "parent/root_secret/file.txt", "parent/root/a.txt", "top/etc/passwd", "in/up", "chain 1/file.txt",
		"chain 2/none.txt", "not yet", "round", "to folder/none.txt", "to folder/../root_secret/file.txt/../../x/../../..",
	}
	absent := []string{ // legal names of what is not there: nothing is decoded
		"..%2froot_secret%2ffile.txt", "%2e%2e/root_secret/file.txt", "%2e%2e%2froot_secret%2ffile.txt", "..%252froot_secret/file.txt", `..\root_secret\file.txt`, "..%c0%af..", "....//root_secret/file.txt",
		"\u2025/root_secret/file.txt", "‥/root_secret", "．．/root_secret/file.txt", "..;/root_secret", "~/root_secret", "$PWD/../root_secret", "file:///etc/passwd", "in/.. /../x", ".../x", "loop 1x",
	}
	eachDoor(t, testkit.Settings{"project_root": root}, func(t *testing.T, d door) {
		for i, p := range append(append([]string{}, refused...), absent...) {
			for j, f := range []form{
				{"ctx_read", `{"path":%s}`}, {"ctx_smart_read", `{"path":%s}`}, {"ctx_tree", `{"path":%s}`}, {"ctx_search", `{"pattern":".","path":%s}`},
				{"ctx_multi_read", `{"paths":["a.txt",%s]}`}, {"ctx_read", `{"path":"c:0123abcd:%.0s` + strings.Trim(quoted(p), `"`) + `#1-9"}`},
			} {
				if d.Name() == "cli" && (i+j)%17 > 0 {
					continue
				}
				got := d.Call(t, f.of(p, ""))
				if strings.Contains(got.String(), "FOREIGN") || strings.Contains(got.String(), "root:") || strings.Contains(fmt.Sprint(got.details), "root_secret/later") {
					t.Errorf("%s %q: %v", f.tool, p, got)
				}
				want := "outside_workspace"
				if i >= len(refused) {
					want = "no_such_file"
				}
				if f.tool == "ctx_multi_read" {
					if !strings.Contains(got.data, `"failed":1`) || !strings.Contains(got.data, `"reason":"`+want) {
						t.Errorf("%s %q: %v", f.tool, p, got)
					}
				} else if got.code != "tool_error" || len(got.details) == 0 || got.details[0].Reason != want {
					t.Errorf("%s %q: %v, want %s", f.tool, p, got, want)
				}
			}
		}
		for _, p := range []string{"loop 1", "self", "loop 2/x"} {
			if got := d.Call(t, form{"ctx_read", `{"path":%s}`}.of(p, "")); got.code != "tool_error" || got.details[0].Reason != "unreadable" {
				t.Errorf("%q: %v", p, got)
			}
		}
		for _, p := range []string{"good", "good folder/file.txt", "in/../a.txt", "to folder/../a.txt", root + "/in/file.txt", "%2e%2e/odd.txt"} {
			if got := d.Call(t, form{"ctx_read", `{"path":%s,"mode":"full"}`}.of(p, "")); contentOf(t, got) != "inside\n" {
				t.Errorf("%q: %v", p, got)
			}
		}
		for _, f := range []form{{"ctx_tree", `{"depth":64,"show_hidden":true,"respect_gitignore":false}`}, {"ctx_search", `{"pattern":"FOREIGN|root:|inside"}`}} {
			got := d.Call(t, request{tool: f.tool, args: f.args})
			if got.code != "" || strings.Contains(got.String(), "FOREIGN") || strings.Contains(got.String(), "passwd") || strings.Contains(got.String(), "to folder/") {
				t.Errorf("%s: %v", f.tool, got)
			}
		}
	})
}

// swap turns names of a repository into symlinks that lead out and back until the context ends.
func swap(ctx context.Context, root, outside string) error {
	name := filepath.Join(root, "in")
	for i := 0; ctx.Err() == nil; i++ {
		side := fmt.Sprintf("%s.%d", name, i)
		if err := os.Symlink(outside, side); err != nil {
			return err
		}
		if err := os.Rename(name, name+".kept"); err != nil {
			return err
		}
		if err := os.Rename(side, name); err != nil {
			return err
		}
		if err := os.Remove(name); err != nil {
			return err
		}
		if err := os.Rename(name+".kept", name); err != nil {
			return err
		}
	}
	return nil
}

// Case 13: names that are swapped for symlinks while they are read give what is inside, or a failure, and never what is outside.
func TestCase13SwapRace(t *testing.T) {
	t.Parallel()
	for _, open := range []func(testing.TB, testkit.Settings) door{restAt, statelessAt, stdioAt, cliAt} {
		root, outside := besieged(t) // each has its own to swap
		d := open(t, testkit.Settings{"project_root": root})
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			var swapper sync.WaitGroup
			defer swapper.Wait()
			defer cancel()
			swapper.Go(func() {
				if err := swap(ctx, root, outside); err != nil {
					t.Error(err)
				}
			})
			calls := map[string]int{"cli": 5}[d.Name()]
			if calls == 0 {
				calls = 40
			}
			for range calls {
				for _, f := range []form{{"ctx_read", `{"path":"in/file.txt","fresh":true}`}, {"ctx_search", `{"pattern":"F|i"}`}, {"ctx_tree", `{"path":"in"}`}, {"ctx_multi_read", `{"paths":["in/file.txt","in/in/file.txt"]}`}} {
					if got := d.Call(t, request{tool: f.tool, args: f.args}); strings.Contains(got.String(), "FOREIGN") || got.code != "" && got.code != "tool_error" {
						t.Fatalf("%s: %v", f.tool, got)
					}
				}
			}
		})
	}
}

// worktrees are a repository and a second working tree of it, as git lays them out.
func worktrees(t testing.TB) (one, two string) {
	t.Helper()
	base := testkit.Write(t, map[string]string{
		"one/.git/HEAD": "ref: refs/heads/main\n", "one/.git/objects/x": "", "one/.git/refs/heads/x": "", "one/.git/info/exclude": "/shared.log\n",
		"one/.git/worktrees/two/HEAD": "ref: refs/heads/two\n", "one/.git/worktrees/two/commondir": "../..\n",
		"one/f.txt": "this is one\n", "one/only one.txt": "x one\n", "one/.gitignore": "one.log\n", "one/one.log": "x\n", "one/two.log": "x\n", "one/shared.log": "x\n",
		"two/f.txt": "this is two\n", "two/only two.txt": "x two\n", "two/.gitignore": "two.log\n", "two/one.log": "x\n", "two/two.log": "x\n", "two/shared.log": "x\n",
	})
	one, two = filepath.Join(base, "one"), filepath.Join(base, "two")
	must(t, os.WriteFile(filepath.Join(two, ".git"), []byte("gitdir: "+one+"/.git/worktrees/two\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(one, ".git/worktrees/two/gitdir"), []byte(two+"/.git\n"), 0o644))
	return one, two
}

// Case 14: two working trees of one repository are two workspaces: neither reads, lists, finds, remembers or pages through anything
// of the other, also when both are asked at once.
func TestCase14Worktrees(t *testing.T) {
	t.Parallel()
	one, two := worktrees(t)
	set := testkit.Settings{"workspaces": []map[string]any{{"id": "one", "root": one}, {"id": "two", "root": two}}, "defaultWorkspaceId": "one"}
	eachDoor(t, set, func(t *testing.T, d door) {
		rounds := 20
		if d.Name() == "cli" {
			rounds = 2
		}
		var both sync.WaitGroup
		for me, other := range map[string]string{"one": "two", "two": "one"} {
			both.Go(func() {
				ask := func(tool, args string) outcome {
					return d.Call(t, request{tool: tool, args: args, workspace: me, conversation: "shared"})
				}
				ask("ctx_session", `{"action":"task","value":"work of `+me+`"}`)
				for range rounds {
					for _, got := range []outcome{
						ask("ctx_read", `{"path":"f.txt","mode":"full","fresh":true}`), ask("ctx_search", `{"pattern":"one$|two$"}`), ask("ctx_tree", `{}`), ask("ctx_session", `{}`), ask("ctx_task", `{}`),
					} {
						if got.code != "" || !strings.Contains(got.String(), me) || strings.Contains(got.String(), "is "+other) || strings.Contains(got.String(), "only "+other) || strings.Contains(got.String(), "of "+other) {
							t.Errorf("%s: %v", me, got)
						}
					}
				}
				if got := ask("ctx_tree", `{}`); strings.Contains(got.data, `"`+me+`.log"`) || !strings.Contains(got.data, `"`+other+`.log"`) || strings.Contains(got.data, "shared.log") {
					t.Errorf("%s is ignored by the rules of %s: %v", me, other, got)
				}
				root := map[string]string{"one": one, "two": two}
				if got := ask("ctx_read", `{"path":`+quoted(root[other]+"/f.txt")+`}`); got.code != "tool_error" {
					t.Errorf("%s reads %s: %v", me, other, got)
				}
			})
		}
		both.Wait()
		first := d.Call(t, request{tool: "ctx_search", args: `{"pattern":".","max_results":1}`, workspace: "one"})
		if got := d.Call(t, request{tool: "ctx_search", args: `{"pattern":".","max_results":1,"cursor":` + quoted(pageOf(t, first).Next) + `}`, workspace: "two"}); got.code != "tool_error" {
			t.Errorf("a cursor of the other: %v", got)
		}
	})
}
