package setup_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/setup"
)

var update = flag.Bool("update", false, "write what comes out into testdata/golden")

var entry = setup.NewEntry("/opt/bin/ctxd", "/work/web")

// clientOf is the client that reads the files of a folder of testdata.
func clientOf(dir string) *setup.Client {
	switch dir {
	case "edge-json":
		return setup.Find("zed")
	case "edge-toml":
		return setup.Find("codex")
	}
	return setup.Find(dir)
}

// Each file of testdata is one that a client may have. What becomes of it stands in testdata/golden; what is called broken is
// refused, with the message that stands there.
func TestFilesOfClients(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.*")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), func(t *testing.T) {
			t.Parallel()
			doc := read(t, file)
			c := clientOf(filepath.Base(filepath.Dir(file)))
			golden := strings.Replace(filepath.ToSlash(file), "testdata/", "testdata/golden/", 1)
			out, change, err := c.Put(doc, entry, false)
			if strings.HasPrefix(filepath.Base(file), "broken-") {
				if err == nil || out != nil {
					t.Fatalf("%s: taken, and made\n%s", file, out)
				}
				same(t, golden+".txt", []byte(fault.From(err).Reason()+": "+fault.From(err).Message+"\n"))
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			same(t, golden, out)
			judge(t, c, doc, out, change)
		})
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func same(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, golden); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant, by %s,\n%s", got, golden, want)
	}
}

// judge holds a document with the entry against the one without.
func judge(t rapid.TB, c *setup.Client, doc, out []byte, change setup.Change) {
	t.Helper()
	if state, err := c.Look(out, entry); state != setup.Current || err != nil {
		t.Errorf("looks %s, %v", state, err)
	}
	if again, change, err := c.Put(out, entry, false); err != nil || change != setup.Unchanged || !bytes.Equal(again, out) {
		t.Errorf("a second run: %s, %v\n%s", change, err, again)
	}
	if change != setup.Added {
		return
	}
	if got, want := parse(t, c, out), withEntry(t, c, parse(t, c, doc), entry); !reflect.DeepEqual(got, want) {
		t.Errorf("decodes to %v\nwant %v", got, want)
	}
	if !inserted(doc, out) {
		t.Errorf("more than an entry has changed:\n%s\n-- before --\n%s", out, doc)
	}
	rest, change, err := c.Take(out, entry, false)
	if err != nil || change != setup.Removed {
		t.Fatalf("%s, %v", change, err)
	}
	had := parse(t, c, doc)[c.Within] != nil
	if (had || c.Format == setup.TOML) && !bytes.Equal(rest, doc) {
		t.Errorf("comes back as\n%q\nwas\n%q", rest, doc)
	}
	left := parse(t, c, rest)
	if servers, ok := left[c.Within].(map[string]any); !had && ok && len(servers) == 0 {
		delete(left, c.Within) // what held the entry alone may stay
	}
	if want := parse(t, c, doc); !reflect.DeepEqual(left, want) {
		t.Errorf("decodes to %v\nwant %v", left, want)
	}
}
