package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// maxResident bounds what a process may take, in MiB, for a repository of any size.
const maxResident = 300

// orchard is a repository of very many files and its twin: folders of a thousand files each, of which the first has a needle,
// and a bundle of a gigabyte. Another repository has thousands of levels of folders.
type orchard struct {
	twins
	deep            string // root
	folders, levels int
}

const each = 1000 // files in a folder

func newOrchard(t testing.TB) *orchard {
	t.Helper()
	o := &orchard{folders: 100, levels: 5000}
	if testing.Short() {
		o.folders, o.levels = 5, 500
	}
	base := t.TempDir()
	o.odd, o.plain, o.toOdd = filepath.Join(base, rootNFC), filepath.Join(base, "plain"), map[string]string{"tw80000q.bin": "я & 'x'.bin"}
	for i := range o.folders {
		o.toOdd[fmt.Sprintf("tw1%04dq", i)] = fmt.Sprintf("фолдер %%20\n%04d & 'x'", i)
	}
	for i := range each {
		o.toOdd[fmt.Sprintf("tw2%04dq.txt", i)] = fmt.Sprintf("日本\t%04d é.txt", i)
	}
	o.whole, o.shown = o.patterns()
	var both sync.WaitGroup
	for root, named := range map[string]func(string) string{o.odd: o.names, o.plain: func(s string) string { return s }} {
		both.Go(func() {
			if err := o.plant(root, named); err != nil {
				t.Error(err)
			}
		})
	}
	o.deep = filepath.Join(base, "deep")
	both.Go(func() {
		if err := dig(o.deep, o.levels); err != nil {
			t.Error(err)
		}
	})
	if both.Wait(); t.Failed() {
		t.FailNow()
	}
	return o
}

// plant makes one of the two. Links to one file are made faster than files.
func (o *orchard) plant(root string, named func(string) string) error {
	for f := range o.folders {
		folder := filepath.Join(root, named(fmt.Sprintf("tw1%04dq", f)))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		source := filepath.Join(folder, named("tw20001q.txt"))
		if err := os.WriteFile(source, []byte("x\n"), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, named("tw20000q.txt")), fmt.Appendf(nil, "needle %d\n", f), 0o644); err != nil {
			return err
		}
		for i := 2; i < each; i++ {
			if err := os.Link(source, filepath.Join(folder, named(fmt.Sprintf("tw2%04dq.txt", i)))); err != nil {
				return err
			}
		}
	}
	bundle := filepath.Join(root, named("tw80000q.bin"))
	if err := os.WriteFile(bundle, []byte("needle\n"), 0o644); err != nil {
		return err
	}
	return os.Truncate(bundle, 1<<30)
}

// dig makes levels of folders, with a needle in the last.
func dig(root string, levels int) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	at, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }() // it was made, or the test has failed
	for range levels {
		if err := at.Mkdir("d", 0o755); err != nil {
			return err
		}
		next, err := at.OpenRoot("d")
		if err != nil {
			return err
		}
		_ = at.Close()
		at = next
	}
	return at.WriteFile("x", []byte("needle deep\n"), 0o644)
}

// manyForms are calls whose answers do not depend on where a page ends; the last ones are about one folder or file.
var manyForms = []form{
	{"ctx_search", `{"pattern":"needle","max_results":1000,"max_tokens":1000000}`}, {"ctx_tree", `{"depth":1,"max_tokens":1000000}`},
	{"ctx_search", `{"pattern":"^x$","max_results":3,"context":1,"include":["*.txt"],"path":%s}`}, {"ctx_tree", `{"path":%s,"max_tokens":1000000}`},
	{"ctx_read", `{"path":%s}`}, {"ctx_read", `{"path":%[2]s,"mode":"reference"}`},
}

// Case 15: a hundred thousand files, a bundle of a gigabyte and thousands of levels take a bounded memory of the real program, what
// was left out is named, and the odd repository answers as its twin does, over REST, MCP and the command line.
func TestCase15Many(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	set := o.settings()
	set["workspaces"] = append(set["workspaces"].([]map[string]any), map[string]any{"id": "deep", "root": o.deep})
	doors, s := programDoors(t, set)
	for i, f := range manyForms {
		p := fmt.Sprintf("tw1%04dq", i%o.folders)
		if f.tool == "ctx_read" {
			p += "/tw20000q.txt"
		}
		want := o.asTwin(t, doors[0].Call(t, f.call("plain", o.plain, p)))
		for _, d := range doors {
			got := d.Call(t, f.call("odd", o.odd, o.names(p)))
			if a, b := apart(comparable(got), want); a != b {
				t.Errorf("%s: %s %s:\n%q\nits twin:\n%q", d.Name(), f.tool, f.args, a, b)
			}
			if i == 0 {
				o.judge(t, got)
			}
		}
	}
	for _, d := range []door{doors[0], doors[2]} {
		got := d.Call(t, request{tool: "ctx_search", args: `{"pattern":"needle"}`, workspace: "deep"})
		if !strings.HasPrefix(got.text, "1 match in 1 file (1 searched)\nd/d/d/") || !strings.Contains(got.data, strings.Repeat("d/", o.levels)+"x") {
			t.Errorf("%s: %.300s", d.Name(), got)
		}
	}
	o.judgeTree(t, doors[0].Call(t, request{tool: "ctx_tree", args: `{"depth":64}`, workspace: "odd"}))
	resident(t, s.cmd.Process.Pid)
	s.signal(syscall.SIGTERM)
	if code := exits(t, s.cmd, time.Minute); code != 0 {
		t.Errorf("exit %d: %s", code, s.stderr)
	}
}

// judgeTree holds a listing to what is there.
func (o *orchard) judgeTree(t *testing.T, got outcome) {
	t.Helper()
	var tree struct {
		Total int `json:"total_entries"`
		Next  string
	}
	must(t, json.Unmarshal([]byte(got.data), &tree))
	if want := o.folders*(each+1) + 1; tree.Total != want || tree.Next == "" || counted(t, got.text) > 20_000 {
		t.Errorf("%d entries of %d, %.200s", tree.Total, want, got)
	}
}

// judge holds a search to what is there.
func (o *orchard) judge(t *testing.T, got outcome) {
	t.Helper()
	var found struct {
		Total    int            `json:"total_matches"`
		Searched int            `json:"files_searched"`
		Skipped  map[string]int `json:"files_skipped"`
	}
	must(t, json.Unmarshal([]byte(got.data), &found))
	if found.Total != o.folders || found.Searched != o.folders*each || fmt.Sprint(found.Skipped) != "map[too_large:1]" {
		t.Errorf("%+v", found)
	}
}

// resident fails where a running process took more memory at its peak than any repository is worth.
func resident(t *testing.T, pid int) {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	var kib int
	_, peak, _ := strings.Cut(string(raw), "VmHWM:")
	if _, err := fmt.Sscan(peak, &kib); err != nil || kib < 1000 {
		t.Fatalf("%d KiB, %v in %s", kib, err, raw)
	}
	t.Logf("the server took %d MiB", kib>>10)
	if kib>>10 > maxResident {
		t.Errorf("the server took %d MiB, more than %d", kib>>10, maxResident)
	}
}
