package tool

import (
	"container/list"
	"sync"

	"github.com/ctxd/ctxd/internal/action"
)

// Bounds of what is remembered of all conversations, in bytes. A text above maxBaseline is remembered by its hash alone.
const (
	deliveredBytes = 32 << 20
	maxBaseline    = 1 << 20
)

// deliveryKey is who got which file. A name that another caller, channel or agent gave its conversation is another one
// (http.md A3): where it is not certain that a model has seen a text, the text is sent.
type deliveryKey struct{ principal, workspace, channel, conversation, actor, path string }

func keyOf(c *action.Call, path string) deliveryKey {
	return deliveryKey{c.Principal.ID, c.Workspace.ID(), c.Channel, c.Conversation, c.Actor, path}
}

// baseline is the text of a file that a conversation got whole and losslessly last.
type baseline struct {
	sha256, encoding string
	content          string
	kept             bool // content is there
}

// delivery is what a conversation got of a file.
type delivery struct {
	whole baseline // its sha256 is "" while there was none
	part  string   // hash of the text that is being handed out part by part
	got   int      // and how many of its pieces, from the first on
}

// deliveries remembers what conversations got, the last ones within a bound. It forgets with the process: then everything is
// sent again.
type deliveries struct {
	limit int

	mu      sync.Mutex
	size    int
	order   *list.List // newest first
	entries map[deliveryKey]*list.Element
}

type deliveryEntry struct {
	key deliveryKey
	delivery
}

func (e *deliveryEntry) size() int {
	k := &e.key
	return 512 + len(k.conversation) + len(k.actor) + len(k.path) + len(e.whole.content)
}

func newDeliveries(limit int) *deliveries {
	return &deliveries{limit: limit, order: list.New(), entries: map[deliveryKey]*list.Element{}}
}

// last gives what a conversation got whole of a file last, if it is remembered.
func (d *deliveries) last(k deliveryKey) (baseline, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.entries[k]
	if !ok {
		return baseline{}, false
	}
	d.order.MoveToFront(e)
	b := e.Value.(*deliveryEntry).whole
	return b, b.sha256 != ""
}

// add remembers that a conversation got some pieces of a text. It has the text whole once it got every piece of the same
// content, the first ones first.
func (d *deliveries) add(k deliveryKey, doc *document, from, to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.entries[k]
	if !ok {
		e = d.order.PushFront(&deliveryEntry{key: k})
		d.entries[k] = e
	} else {
		d.size -= e.Value.(*deliveryEntry).size()
		d.order.MoveToFront(e)
	}
	entry := e.Value.(*deliveryEntry)
	entry.add(doc, from, to)
	d.size += entry.size()
	for d.size > d.limit {
		oldest := d.order.Back()
		gone := oldest.Value.(*deliveryEntry)
		d.size -= gone.size()
		d.order.Remove(oldest)
		delete(d.entries, gone.key)
	}
}

func (e *delivery) add(doc *document, from, to int) {
	if e.part != doc.sha256 {
		e.part, e.got = doc.sha256, 0
	}
	if from <= e.got {
		e.got = max(e.got, to)
	}
	if e.got < len(doc.pieces) {
		return
	}
	e.whole = baseline{sha256: doc.sha256, encoding: doc.encoding}
	if len(doc.content) <= maxBaseline {
		e.whole.content, e.whole.kept = doc.content, true
	}
}
