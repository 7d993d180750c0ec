package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/internal/fault"
)

// DefaultMax is how many bytes Read reads when the caller sets no limit.
const DefaultMax = 64 << 20

// Type is what stands behind a path.
type Type string

// Types.
const (
	TypeFile   Type = "file"
	TypeFolder Type = "folder"
	TypeLink   Type = "link"  // a symlink that was not followed; only Walk tells it
	TypeOther  Type = "other" // FIFO, socket or device
)

// Info is what is known of a path without reading it.
type Info struct {
	Path     string // relative to the root, with slashes, as it was asked for
	Type     Type
	Size     int64 // bytes
	Mode     fs.FileMode
	Identity Identity
}

// File is the content of a regular file.
type File struct {
	Path     string // relative to the root, with slashes, as it was asked for
	Bytes    []byte
	Identity Identity  // before the first byte was read: a later write shows as another one
	ReadAt   time.Time // just before, for Identity.Settled
	Binary   bool      // Decode would say no
}

// Text decodes the content. Fault reason: binary_file.
func (f *File) Text() (Text, error) {
	t, ok := Decode(f.Bytes)
	if !ok {
		return Text{}, fault.Tool(BinaryFile, "%s is binary (%d bytes); it has no text to show", quote(f.Path), len(f.Bytes))
	}
	return t, nil
}

// Stat looks at a path. Symlinks are followed inside the root only.
//
// Fault reasons: those of Resolve, no_such_file, unreadable.
func (w *Workspace) Stat(rel string) (Info, error) {
	rel, err := w.Resolve(rel)
	if err != nil {
		return Info{}, err
	}
	p, err := w.locate(rel)
	if err != nil {
		return Info{}, err
	}
	p.close()
	return p.info(rel), nil
}

func typeOf(m fs.FileMode) Type {
	switch {
	case m.IsRegular():
		return TypeFile
	case m.IsDir():
		return TypeFolder
	case m&fs.ModeSymlink != 0:
		return TypeLink
	default:
		return TypeOther
	}
}

// Read reads a regular file of at most limit bytes, 0 meaning DefaultMax. It never waits for a FIFO or a device, and judges both
// the path asked for and the one that its symlinks lead to. A file that is written meanwhile is read again; if it never rests,
// the last reading is given with the identity from before it.
//
// Fault reasons: those of Stat, is_a_folder, not_a_file, too_large.
func (w *Workspace) Read(ctx context.Context, rel string, limit int64) (*File, error) {
	rel, err := w.Resolve(rel)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = DefaultMax
	}
	f, err := w.readStable(ctx, rel, limit)
	if err != nil {
		return nil, mend(rel, err)
	}
	_, text := sniff(f.Bytes)
	f.Binary = !text
	return f, nil
}

func (w *Workspace) readStable(ctx context.Context, rel string, limit int64) (*File, error) {
	const rounds = 3
	for round := 1; ; round++ {
		f, stable, err := w.readOnce(ctx, rel, limit)
		switch {
		case errors.Is(err, errSwapped) && round < maxTries: // renamed over between the look and the open
		case err != nil || stable || round >= rounds:
			return f, err
		}
	}
}

// readOnce opens, reads and closes. stable says that nobody wrote meanwhile.
func (w *Workspace) readOnce(ctx context.Context, rel string, limit int64) (*File, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	at := time.Now()
	h, before, err := w.openFile(rel)
	if err != nil {
		return nil, false, err
	}
	defer h.Close()
	if before.Size > limit {
		return nil, false, tooLarge(rel, limit)
	}
	b, err := readUpTo(ctx, h, make([]byte, 0, before.Size+1), limit) // one more: the read that finds the end
	if errors.Is(err, errTooLarge) {
		return nil, false, tooLarge(rel, limit)
	}
	if err != nil {
		return nil, false, err
	}
	after, err := h.Stat()
	if err != nil {
		return nil, false, err
	}
	f := &File{Path: rel, Bytes: b, Identity: before, ReadAt: at}
	return f, IdentityOf(after) == before && int64(len(b)) == before.Size, nil
}

// openFile opens a regular file. What a name is gets checked before, so that nothing else is ever opened, and after, since
// names may be swapped in between.
func (w *Workspace) openFile(rel string) (*os.File, Identity, error) {
	p, err := w.locate(rel)
	if err != nil {
		return nil, Identity{}, err
	}
	defer p.close()
	if err := onlyFile(rel, p.mode); err != nil {
		return nil, Identity{}, err
	}
	h, err := p.open(p.name)
	if errors.Is(err, syscall.ELOOP) {
		err = errSwapped
	}
	if err != nil {
		return nil, Identity{}, err
	}
	fi, err := h.Stat()
	if err == nil {
		err = onlyFile(rel, fi.Mode())
	}
	if err != nil {
		_ = h.Close()
		return nil, Identity{}, err
	}
	return h, IdentityOf(fi), nil
}

func onlyFile(rel string, mode fs.FileMode) error {
	switch typeOf(mode) {
	case TypeFile:
		return nil
	case TypeFolder:
		return fault.Tool(IsAFolder, "%s is a folder; name a file in it", quote(rel))
	default:
		return fault.Tool(NotAFile, "%s is no regular file (%s); only those are read", quote(rel), mode.Type())
	}
}

var errTooLarge = errors.New("more than the limit")

func tooLarge(rel string, limit int64) error {
	return fault.Tool(TooLarge, "%s holds more than %d bytes, the most that is read here at once", quote(rel), limit)
}

// readUpTo reads to the end into an empty buffer, which grows where it must, in pieces between which ctx may end it.
func readUpTo(ctx context.Context, r io.Reader, b []byte, limit int64) ([]byte, error) {
	const piece = 1 << 20
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):min(cap(b), len(b)+piece)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}
