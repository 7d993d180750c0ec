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

	price *price
	light bool // content and pieces are left out, since the text is too large to be kept

	answers map[string]*readAnswer // by mode and budget; guarded by the cache
}

// price is how many tokens a content has, counted once for all documents of the same bytes.
type price struct {
	mu      sync.Mutex
	counted bool
	tokens  int
}

// known is the price if it was counted already.
func (p *price) known() (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens, p.counted
}

// tokens counts the content once.
func (d *document) tokens(ctx context.Context) (int, error) {
	p := d.price
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counted {
		return p.tokens, nil
	}
	n, err := token.Count(ctx, d.content)
	p.tokens, p.counted = n, err == nil
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
	if old != nil && !old.light && !fresh {
		same, err := old.unchanged(ws)
		if err != nil {
			return nil, false, err
		}
		if same {
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

// unchanged says whether the file is known to be as it was read.
func (d *document) unchanged(ws *workspace.Workspace) (bool, error) {
	info, err := ws.Stat(d.path)
	return err == nil && info.Identity == d.identity && d.identity.Settled(d.readAt, 0), err
}

// known gives what is told of a file without its text, if that is known to be unchanged and counted.
func (c *readCache) known(ws *workspace.Workspace, rel string) *document {
	d := c.get(readKey{ws.ID(), rel})
	if d == nil {
		return nil
	}
	if _, counted := d.price.known(); !counted {
		return nil
	}
	if same, err := d.unchanged(ws); !same || err != nil {
		return nil // whoever reads it finds out why
	}
	return d
}

func newDocument(rel string, f *workspace.File) (*document, error) {
	text, ok := workspace.Decode(f.Bytes)
	if !ok {
		return nil, fault.Tool(workspace.BinaryFile, "%s is a binary file of %d bytes; only text is read", oneLine(rel), len(f.Bytes))
	}
	d := &document{path: rel, content: text.Content, encoding: text.Encoding, lossless: text.Lossless, price: &price{}, answers: map[string]*readAnswer{}}
	d.pieces, d.lines = split(d.content)
	return d, nil
}

// inherit takes over what was derived from the same bytes.
func (c *readCache) inherit(doc, old *document) {
	doc.price = old.price
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
		size = 1024
		doc = &document{
			path: doc.path, encoding: doc.encoding, lossless: doc.lossless, sha256: doc.sha256, lines: doc.lines, identity: doc.identity, readAt: doc.readAt,
			price: doc.price, light: true, answers: map[string]*readAnswer{},
		}
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
