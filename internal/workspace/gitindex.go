package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
)

const (
	maxIndex     = 512 << 20 // bytes of an index that is read; four million files have less
	maxIndexes   = 8         // indexes kept per workspace
	maxIndexName = 64 << 10
)

// index is what a git index tracks.
type index struct {
	names  []string // sorted; submodules end in a slash
	sparse []string // folders of a sparse index, which stand for all below them; they end in a slash
}

// tracks says whether a path relative to the repository's top is tracked, or for a folder whether something in it is.
func (x *index) tracks(rel string, isDir bool) bool {
	if x == nil {
		return false
	}
	if isDir {
		rel += "/"
	}
	for _, s := range x.sparse {
		if strings.HasPrefix(rel, s) || isDir && strings.HasPrefix(s, rel) {
			return true
		}
	}
	i := sort.SearchStrings(x.names, rel)
	return i < len(x.names) && (x.names[i] == rel || isDir && strings.HasPrefix(x.names[i], rel))
}

type cachedIndex struct {
	id      Identity
	settled bool // an equal identity proves an equal index
	index   *index
}

// readIndex reads an index, or takes the parsed one if the file is the same. None at all tracks nothing.
func (w *Workspace) readIndex(path string) (*index, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock() // so that walks which start together parse it once
	id := IdentityOf(fi)
	if c, ok := w.indexes[path]; ok && c.settled && c.id == id {
		return c.index, nil
	}
	settled := id.Settled(time.Now(), 0)
	b, err := readSmall(path, maxIndex)
	if err != nil {
		return nil, err
	}
	x, err := parseIndex(b)
	if err != nil {
		return nil, err
	}
	if len(w.indexes) >= maxIndexes {
		clear(w.indexes)
	}
	w.indexes[path] = cachedIndex{id, settled, x}
	return x, nil
}

var errIndex = errors.New("not an index that can be read")

// parseIndex reads versions 2 to 4, with SHA-1 or SHA-256 names: which of them shows only in where the parts end.
func parseIndex(b []byte) (*index, error) {
	if len(b) < 12 || string(b[:4]) != "DIRC" {
		return nil, errIndex
	}
	version := binary.BigEndian.Uint32(b[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("%w: version %d", errIndex, version)
	}
	var first error
	for _, hash := range []int{20, 32} {
		p := indexParser{b: b, at: 12, version: version, hash: hash}
		x, err := p.parse(binary.BigEndian.Uint32(b[8:]))
		if err == nil {
			return x, nil
		}
		if first == nil || errors.Is(err, errExtension) {
			first = err
		}
	}
	return nil, first
}

type indexParser struct {
	b       []byte
	at      int
	version uint32
	hash    int    // bytes of an object name
	name    []byte // of the entry before, which version 4 builds on
	index   index

	nameless bool // an entry has no name: it replaces one of the shared index, so that this one is split
}

func (p *indexParser) parse(count uint32) (*index, error) {
	for range count {
		if err := p.entry(); err != nil {
			return nil, err
		}
	}
	if err := p.extensions(); err != nil {
		return nil, err
	}
	if p.nameless {
		return nil, errIndex
	}
	slices.Sort(p.index.names) // the slash behind a submodule moves it
	return &p.index, nil
}

// Modes of entries that are no files.
const (
	modeKind    = 0o170000
	modeTree    = 0o040000
	modeGitlink = 0o160000
)

func (p *indexParser) entry() error {
	start := p.at
	head := 40 + p.hash + 2 // stat data, object name, flags
	if len(p.b)-start < head {
		return errIndex
	}
	mode := binary.BigEndian.Uint32(p.b[start+24:])
	flags := binary.BigEndian.Uint16(p.b[start+head-2:])
	if flags&0x4000 != 0 { // extended flags follow
		head += 2
	}
	p.at = start + head
	if err := p.readName(start); err != nil {
		return err
	}
	switch name := string(p.name); mode & modeKind {
	case modeTree:
		p.index.sparse = append(p.index.sparse, name)
	case modeGitlink:
		p.index.names = append(p.index.names, name+"/")
	default:
		p.index.names = append(p.index.names, name)
	}
	return nil
}

// readName reads the name of the entry that began at start, and what pads it.
func (p *indexParser) readName(start int) error {
	keep := 0
	if p.version == 4 {
		cut, ok := p.varint()
		if !ok || cut > len(p.name) {
			return errIndex
		}
		keep = len(p.name) - cut
	}
	if p.at > len(p.b) {
		return errIndex
	}
	n := bytes.IndexByte(p.b[p.at:], 0)
	if n < 0 || keep+n > maxIndexName {
		return errIndex
	}
	p.nameless = p.nameless || keep+n == 0
	p.name = append(p.name[:keep], p.b[p.at:p.at+n]...)
	p.at += n + 1
	if p.version < 4 {
		p.at = start + (p.at-1-start+8)&^7
	}
	return nil
}

// varint reads the number format of version 4: base 128, each further byte counting from one.
func (p *indexParser) varint() (int, bool) {
	v := 0
	for i := 0; p.at < len(p.b) && i < 4; i++ {
		c := p.b[p.at]
		p.at++
		v = v<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return v, true
		}
		v++
	}
	return 0, false
}

var errExtension = errors.New("the index needs an extension that is not known here")

// extensions must end where the hash of the file begins. Those that a reader may skip begin with a capital letter; of the
// others, "sdir" marks a sparse index, and "link" a split one, whose names lie in another file.
func (p *indexParser) extensions() error {
	end := len(p.b) - p.hash
	for p.at+8 <= end {
		name := string(p.b[p.at : p.at+4])
		size := int64(binary.BigEndian.Uint32(p.b[p.at+4:]))
		if size > int64(end-p.at-8) {
			return errIndex
		}
		if !isUpper(name[0]) && name != "sdir" {
			return fmt.Errorf("%w: %q", errExtension, name)
		}
		p.at += 8 + int(size)
	}
	if p.at != end {
		return errIndex
	}
	return nil
}
