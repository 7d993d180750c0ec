package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Mark stands for the state of what lies beside the files that a walk shows and yet bears on them, for one repository. Its
// members are compared with those of another mark of the same folder; what they hold is no business of anybody's.
type Mark struct {
	Rules    string // where the repository is, and the ignore rules outside of its files: a walk would show others
	Index    string // what is tracked
	Revision string // the commit that is checked out, and its branch

	// Settled says that an equal mark proves an equal state; else something was written so shortly before that the next
	// writing could have left the same time stamps.
	Settled bool
}

// Mark takes the mark of a folder with a repository of its own, or for "." of the one that the root lies in. Where there is
// none, the mark says so, and another one will differ when there is. It costs about 30 looks at files, whatever they hold.
func (w *Workspace) Mark(rel string) Mark {
	m := &marker{at: time.Now(), settled: true}
	var found Repository
	var ok bool
	if rel == "." {
		if w.excludes != "" {
			m.file(w.excludes)
		}
		found, ok = w.Repository()
		for dir := w.resolved; ok && dir != found.Top; {
			dir = filepath.Dir(dir)
			m.file(filepath.Join(dir, ".gitignore"))
		}
	} else {
		found, ok = findRepo(filepath.Join(w.resolved, filepath.FromSlash(rel), ".git"))
	}
	if !ok {
		return Mark{Rules: m.take(), Settled: m.settled}
	}
	fmt.Fprintf(&m.text, "%q", found)
	m.file(filepath.Join(found.Common, "info", "exclude"))
	out := Mark{Rules: m.take()}
	m.file(filepath.Join(found.Dir, "index"))
	out.Index = m.take()
	m.revision(found)
	out.Revision, out.Settled = m.take(), m.settled
	return out
}

// marker gathers what makes a part of a mark.
type marker struct {
	at      time.Time
	settled bool
	text    strings.Builder
}

func (m *marker) take() string {
	defer m.text.Reset()
	return m.text.String()
}

// file adds the identity of a file.
func (m *marker) file(p string) {
	fi, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) {
		m.text.WriteString("-;")
		return
	}
	if err != nil {
		m.text.WriteString("?;")
		return
	}
	id := IdentityOf(fi)
	m.settled = m.settled && id.Settled(m.at, 0)
	fmt.Fprintf(&m.text, "%v;", id)
}

// revision adds HEAD, the ref that it names, and the places where git keeps refs in bulk.
func (m *marker) revision(r Repository) {
	head, err := readSmall(filepath.Join(r.Dir, "HEAD"), maxPath)
	fmt.Fprintf(&m.text, "%q %v;", head, err == nil)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref:")
	if ref = strings.TrimSpace(ref); ok && filepath.IsLocal(ref) {
		hash, err := readSmall(filepath.Join(r.Common, ref), maxPath)
		fmt.Fprintf(&m.text, "%q %v;", hash, err == nil)
	}
	m.file(filepath.Join(r.Common, "packed-refs"))
	m.file(filepath.Join(r.Common, "reftable", "tables.list"))
	m.file(filepath.Join(r.Dir, "reftable", "tables.list"))
}
