package repotest

import (
	"strings"
	"testing"
)

// problem is one thing that a gate has found, and what mends it.
type problem struct {
	at    string // a file, package or name: where to look
	wrong string
	mend  string
}

func (p problem) String() string { return p.at + ": " + p.wrong + "; " + p.mend }

// passes fails for each problem that a gate finds in the repository.
func passes(t *testing.T, found []problem) {
	t.Helper()
	for _, p := range found {
		t.Error(p)
	}
}

// catches holds a gate to its planted faults: each is found once, with a way to mend it, and nothing else is. A fault is named
// by where it is and the begin of what is wrong, "place: words".
func catches(t *testing.T, found []problem, planted ...string) {
	t.Helper()
	for _, p := range found {
		if p.mend == "" {
			t.Errorf("%s: the gate does not say what to do", p)
		}
		if !containsPrefix(planted, p.String()) {
			t.Errorf("not planted: %s", p)
		}
	}
	for _, want := range planted {
		if n := countPrefix(found, want); n != 1 {
			t.Errorf("%q was found %d times", want, n)
		}
	}
}

func containsPrefix(prefixes []string, s string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func countPrefix(found []problem, prefix string) int {
	n := 0
	for _, p := range found {
		if strings.HasPrefix(p.String(), prefix) {
			n++
		}
	}
	return n
}
