package workspace

import (
	"path/filepath"
	"strings"
)

// Tracked is what the index of a repository tracked when it was asked for. The zero value tracks nothing.
type Tracked struct {
	index *index
	cut   string // before names of the repository that lie in the root
	add   string // before names of a repository inside of the root
}

// Tracked reads the index of a folder with a repository of its own, or for "." of the one that the root lies in. One that
// cannot be read tracks nothing, as for a walk.
func (w *Workspace) Tracked(rel string) Tracked {
	var t Tracked
	var found Repository
	var ok bool
	if rel == "." {
		found, ok = w.Repository()
		if inRepo, _ := below(found.Top, w.resolved); ok && inRepo != "." {
			t.cut = filepath.ToSlash(inRepo) + "/"
		}
	} else {
		found, ok = findRepo(filepath.Join(w.resolved, filepath.FromSlash(rel), ".git"))
		t.add = rel + "/"
	}
	if ok {
		t.index, _ = w.readIndex(filepath.Join(found.Dir, "index"))
	}
	return t
}

// Differ gives the paths, relative to the root, that only one of the two tracks.
func (t Tracked) Differ(other Tracked) []string {
	if t.index == other.index {
		return nil
	}
	var out []string
	add := func(name string) {
		if rel, ok := strings.CutPrefix(name, t.cut); ok {
			out = append(out, t.add+strings.TrimSuffix(rel, "/"))
		}
	}
	a, b := t.index.all(), other.index.all()
	for i := range a {
		onlyIn(a[i], b[i], add)
		onlyIn(b[i], a[i], add)
	}
	return out
}

func (x *index) all() [2][]string {
	if x == nil {
		return [2][]string{}
	}
	return [2][]string{x.names, x.sparse}
}

// onlyIn tells what of one sorted list another lacks.
func onlyIn(list, other []string, tell func(string)) {
	for _, name := range list {
		for len(other) > 0 && other[0] < name {
			other = other[1:]
		}
		if len(other) == 0 || other[0] != name {
			tell(name)
		}
	}
}
