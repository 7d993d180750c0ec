// Package watch tells which paths of a workspace may have changed since somebody began to ask.
//
// It hears of changes from the system (fsnotify), folder by folder, with the ignore rules of a walk: what a walk does not show
// is not watched. Where that is not to be had (too few watches, a network file system, a platform that would open every file)
// it compares walks by the identities of files, and says so. What lies beside the files and bears on them (HEAD, the index,
// ignore rules elsewhere, where symlinks lead) is looked at a few times a second: it is little, and moves about.
//
// It tells names, never content, and reads no file itself but git's. Nothing runs before somebody asks, nor after he stops. It
// imports workspace; every index of a workspace may import it.
package watch

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/internal/workspace"
)

// Batch is what may have changed since the batch before it.
type Batch struct {
	// Paths are relative to the root, sorted, each once. A path stands for itself and all that is or was below it. Some may
	// not have changed, or may be ignored or gone: workspace.WalkAt tells what is there now. Refused ones are left out.
	Paths []string

	// Overflow means that anything may have changed, whatever Paths holds. The first batch has it: what happened before is
	// nobody's to tell.
	Overflow bool

	// Revision means that another commit, branch or index may be there, in the repository of the root or one within.
	Revision bool

	// Checking says why changes are found by walking, for people; "" where the system tells of them.
	Checking string

	// Within is how long after a change its batch is there, from now on, if it is received at once. When a folder appears or
	// moves, the time to walk it comes on top.
	Within time.Duration
}

// Options say how to watch. The zero value is for nearly everybody.
type Options struct {
	Checking   bool          // never ask the system
	Interval   time.Duration // between two walks when checking; 0: 2 s. It grows so that walking takes a tenth of the time
	MaxWatches int           // folders watched before it changes to checking; 0: 65 536
	Sweep      time.Duration // between two batches with Overflow in any case, see below; 0: 10 min, below 0: never
}

const (
	defaultInterval   = 2 * time.Second
	defaultMaxWatches = 1 << 16
	defaultSweep      = 10 * time.Minute

	quiet  = 40 * time.Millisecond  // without news before a batch is made
	most   = 200 * time.Millisecond // from the first news to the batch
	pulse  = 200 * time.Millisecond // between two looks at what lies beside
	within = 500 * time.Millisecond

	maxPaths = 10_000 // in a batch; more are Overflow
)

// Changes watches until ctx ends, and then closes the channel, having freed everything. The first batch comes when watching has
// begun: who reads the workspace after it, and then what the batches name, has it as it is, at the latest Within a change.
// Batches that nobody receives become one, of bounded size. Several may watch one workspace.
//
// Some changes the system tells nobody: through a memory map, under another name of a file (a hard link) that is not watched,
// by mounting, in a network file system that looks like a local one. For those each Sweep says that anything may have changed;
// it also tries again what failed before.
//
// A root that is moved, replaced or deleted stays the workspace's: its folder is walked from then on, wherever it is.
func Changes(ctx context.Context, w *workspace.Workspace, o Options) <-chan Batch {
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	if o.MaxWatches <= 0 {
		o.MaxWatches = defaultMaxWatches
	}
	if o.Sweep == 0 {
		o.Sweep = defaultSweep
	}
	l := &loop{w: w, o: o, out: make(chan Batch), news: newNews()}
	go l.run(ctx)
	return l.out
}

// clock is the time that stamps of files are compared with, and costs measured by.
func clock() time.Time { return time.Now() }
