package tool

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/code"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/token"
	"github.com/ctxd/ctxd/internal/workspace"
)

// Bounds of the read cache, in bytes of what it holds.
const (
	readCacheBytes = 16 << 20
	readCacheEntry = 1 << 20
)

// readAnswer is the answer of the reading tools.
type readAnswer = answer.Answer[tool.CtxReadOutput]

// document is a file as it was read.
type document struct {
	path     string
	content  string // valid UTF-8
	encoding string
	lossless bool   // content encodes back to the bytes of the file
	sha256   string // of the bytes of the file
	pieces   []piece
	lines    int

	identity workspace.Identity
	readAt   time.Time

	counting sync.Mutex
	counted  bool
	count    int

	answers map[string]*readAnswer // by mode and budget; guarded by the cache
}

// tokens counts the content once.
func (d *document) tokens(ctx context.Context) (int, error) {
	d.counting.Lock()
	defer d.counting.Unlock()
	if d.counted {
		return d.count, nil
	}
	n, err := token.Count(ctx, d.content)
	d.count, d.counted = n, err == nil
	return n, err
}

func (d *document) language() string { return code.Language(d.path) }

// readCache keeps what was read last. An entry is given out again only if the file is known to be unchanged (tools.md T8).
type readCache struct {
	limit int

	mu      sync.Mutex
	size    int
	order   *list.List // newest first
	entries map[readKey]*list.Element
}

type readKey struct{ workspace, path string }

type readEntry struct {
	key  readKey
	doc  *document
	size int
}

func newReadCache(limit int) *readCache {
	return &readCache{limit: limit, order: list.New(), entries: map[readKey]*list.Element{}}
}

// load gives a file, from the cache if it is there unchanged. fresh reads it in any case. Fault reasons: those of
// workspace.Read, binary_file.
func (c *readCache) load(ctx context.Context, ws *workspace.Workspace, rel string, fresh bool) (doc *document, cached bool, err error) {
	key := readKey{ws.ID(), rel}
	old := c.get(key)
	if old != nil && !fresh {
		info, err := ws.Stat(rel)
		if err != nil {
			return nil, false, err
		}
		if info.Identity == old.identity && old.identity.Settled(old.readAt, 0) {
			return old, true, nil
		}
	}
	f, err := ws.Read(ctx, rel, 0)
	if err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256(f.Bytes)
	hash := hex.EncodeToString(sum[:])
	if doc, err = newDocument(rel, f); err != nil {
		return nil, false, err
	}
	doc.sha256, doc.identity, doc.readAt = hash, f.Identity, f.ReadAt
	if old != nil && old.sha256 == hash {
		c.inherit(doc, old)
	}
	c.put(key, doc)
	return doc, false, nil
}

func newDocument(rel string, f *workspace.File) (*document, error) {
	text, ok := workspace.Decode(f.Bytes)
	if !ok {
		return nil, fault.Tool(workspace.BinaryFile, "%s is a binary file of %d bytes; only text is read", oneLine(rel), len(f.Bytes))
	}
	d := &document{path: rel, content: text.Content, encoding: text.Encoding, lossless: text.Lossless, answers: map[string]*readAnswer{}}
	d.pieces, d.lines = split(d.content)
	return d, nil
}

// inherit takes over what was derived from the same bytes.
func (c *readCache) inherit(doc, old *document) {
	old.counting.Lock()
	doc.counted, doc.count = old.counted, old.count
	old.counting.Unlock()
	c.mu.Lock()
	doc.answers = old.answers
	c.mu.Unlock()
}

func (c *readCache) get(key readKey) *document {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*readEntry).doc
}

func (c *readCache) put(key readKey, doc *document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
	size := 4*len(doc.content) + 24*len(doc.pieces) + 1024 // the content, and answers that hold it again
	if size > readCacheEntry {
		return
	}
	c.entries[key] = c.order.PushFront(&readEntry{key, doc, size})
	for c.size += size; c.size > c.limit; {
		c.drop(c.order.Back().Value.(*readEntry).key)
	}
}

func (c *readCache) drop(key readKey) {
	if e, ok := c.entries[key]; ok {
		c.size -= e.Value.(*readEntry).size
		c.order.Remove(e)
		delete(c.entries, key)
	}
}

// answer gives the answer that was made of a document for a mode before, or nil.
func (c *readCache) answer(doc *document, mode string) *readAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return doc.answers[mode]
}

// maxAnswers bounds how many answers are kept of one document.
const maxAnswers = 8

func (c *readCache) keep(doc *document, mode string, a *readAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(doc.answers) >= maxAnswers {
		clear(doc.answers)
	}
	doc.answers[mode] = a
}
