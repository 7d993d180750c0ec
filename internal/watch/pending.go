package watch

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// news gathers what the system tells until somebody takes it.
type news struct {
	mu    sync.Mutex
	paths map[string]fsnotify.Op // by absolute path
	lost  bool                   // some was not heard
	ready chan struct{}          // holds one when there is some
}

func newNews() *news { return &news{paths: map[string]fsnotify.Op{}, ready: make(chan struct{}, 1)} }

// hear adds an event. Too many are lost: then everything has to be looked at anyway.
func (n *news) hear(name string, op fsnotify.Op) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost {
		return
	}
	n.paths[name] |= op
	if len(n.paths) > maxPaths {
		n.lose()
	}
	n.wake()
}

// fail says that events were lost.
func (n *news) fail() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lose()
	n.wake()
}

func (n *news) lose() { n.lost, n.paths = true, map[string]fsnotify.Op{} }

func (n *news) wake() {
	select {
	case n.ready <- struct{}{}:
	default:
	}
}

// take gives what came, and begins anew.
func (n *news) take() (paths map[string]fsnotify.Op, lost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	paths, lost = n.paths, n.lost
	n.paths, n.lost = map[string]fsnotify.Op{}, false
	return paths, lost
}

// changes gathers what the next batch tells.
type changes struct {
	paths              map[string]bool
	overflow, revision bool
}

// add adds a path. Whoever is told of a path that is too long to ask for is told of a folder above it instead.
func (c *changes) add(rel string) {
	const longest = 60 << 10
	if len(rel) > longest {
		rel = rel[:strings.LastIndexByte(rel[:longest], '/')]
	}
	if rel == "." {
		c.overflow = true
	}
	if c.overflow {
		c.paths = nil
		return
	}
	if c.paths == nil {
		c.paths = map[string]bool{}
	}
	if c.paths[rel] = true; len(c.paths) > maxPaths {
		c.all()
	}
}

func (c *changes) all() { c.overflow, c.paths = true, nil }

func (c *changes) none() bool { return !c.overflow && !c.revision && len(c.paths) == 0 }

func (c *changes) sorted() []string { return slices.Sorted(maps.Keys(c.paths)) }
