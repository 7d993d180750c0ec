package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/setup"
)

func seeds(f *testing.F, pattern string) [][]byte {
	f.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("no %s, %v", pattern, err)
	}
	var out [][]byte
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, doc)
	}
	return out
}

// anyDocument is refused, or the edit is right.
func anyDocument(t *testing.T, c *setup.Client, doc []byte) {
	t.Helper()
	if !utf8.Valid(doc) {
		return // such a file is refused before it is parsed
	}
	for _, force := range []bool{false, true} {
		out, change, err := c.Put(doc, entry, force)
		if err != nil {
			var f *fault.Fault
			if !errors.As(err, &f) || f.Reason() == "" {
				t.Errorf("%v", err)
			}
			continue
		}
		before, err := decode(c, doc)
		if err != nil {
			continue // the parsers differ in what they take; ours was content before and after
		}
		if state, err := c.Look(out, entry); err != nil || state != setup.Current {
			t.Errorf("%s, %v after %s", state, err, change)
		}
		after := parse(t, c, out)
		if change == setup.Added && !reflect.DeepEqual(after, withEntry(t, c, before, entry)) {
			t.Errorf("%v\nwas %v", after, before)
		}
		if change == setup.Added && !inserted(doc, out) {
			t.Errorf("more than an entry has changed:\n%q\n%q", doc, out)
		}
		rest, _, err := c.Take(out, entry, force)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if state, err := c.Look(rest, entry); err != nil || state != setup.Absent {
			t.Errorf("%s, %v after it was taken out", state, err)
		}
		if change == setup.Added && parse(t, c, rest) == nil {
			t.Errorf("%q", rest)
		}
	}
}
