package workspace

import (
	"context"
	"errors"
	"runtime"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/ctxd/ctxd/internal/fault"
)

// ScanOptions say what a scan reads. Refused names are never read.
type ScanOptions struct {
	Hidden  bool                   // names that begin with a dot too
	Ignored bool                   // what git ignores too
	Max     int64                  // bytes of a file; larger ones are skipped as too_large; 0: DefaultMax
	Workers int                    // that read side by side; 0: as many as there are processors, two at least
	Want    func(path string) bool // nil: every file
}

// Content is a file that Scan has read.
type Content struct {
	Seq   int    // place in the order of the walk, from 0
	Path  string // relative to the root
	Bytes []byte // only until the function that got it returns
	Skip  string // why it could not be read, a reason to skip or a fault reason; "" where Bytes are all of it
}

// Scan reads every regular file below a folder, or one file, and gives each to a function, from several goroutines at once
// and in no order: Seq says where it belongs. It walks as Walk does, opens files below the folders that the walk holds open,
// and keeps one buffer per worker, so that it costs little more than the system calls that it must make.
//
// each ends the scan with an error of its own. The skips count what was not read because of the walk, as Walk does; what
// could not be read is given with its reason.
//
// Fault reasons: those of Stat and Walk.
func (w *Workspace) Scan(ctx context.Context, rel string, o ScanOptions, each func(Content) error) (Skips, error) {
	info, err := w.Stat(rel)
	if err != nil {
		return Skips{}, err
	}
	if o.Workers <= 0 {
		o.Workers = max(2, runtime.GOMAXPROCS(0))
	}
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	g, ctx := errgroup.WithContext(ctx)
	s := &scanner{w: w, ctx: ctx, o: o, each: each, files: make(chan opened, 4*o.Workers)}
	for range o.Workers {
		g.Go(s.work)
	}
	var skips Skips
	g.Go(func() error {
		defer close(s.files)
		if info.Type != TypeFolder {
			return s.single(info.Path)
		}
		var err error
		skips, err = s.walk(info.Path)
		return err
	})
	err = g.Wait()
	s.drain()
	return skips, err
}

// scanner is one scan.
type scanner struct {
	w     *Workspace
	ctx   context.Context
	o     ScanOptions
	each  func(Content) error
	files chan opened
	seq   int // of the goroutine that walks
}

// opened is a file on its way to a worker.
type opened struct {
	seq  int
	path string
	file rawFile
	skip string // why it could not be opened
}

func (s *scanner) walk(rel string) (Skips, error) {
	k := &walker{w: s.w, ctx: s.ctx, o: WalkOptions{Hidden: s.o.Hidden, Ignored: s.o.Ignored}, skips: Skips{}}
	k.visit = func(e Entry) error { // files come through take, but for those behind links
		if e.Type != TypeFile {
			return nil
		}
		return s.single(e.Path)
	}
	k.take = func(l *level, m met) error {
		if s.o.Want != nil && !s.o.Want(m.shown) {
			return nil
		}
		h, err := k.handle(l)
		var f rawFile
		if err == nil {
			f, err = h.raw(m.name)
		}
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return mend(m.shown, err) // no fault of the file
		}
		return s.send(m.shown, f, err)
	}
	p, err := s.w.locate(rel)
	if err != nil {
		return Skips{}, err
	}
	defer p.close()
	err = k.begin(p, rel)
	return k.skips, err
}

// single opens a file by its path, which may lead through symlinks.
func (s *scanner) single(rel string) error {
	if s.o.Want != nil && !s.o.Want(rel) {
		return nil
	}
	f, _, err := s.w.openFile(rel)
	if err != nil {
		return s.send(rel, rawFile{}, err)
	}
	return s.send(rel, rawOf(f), nil)
}

func (s *scanner) send(rel string, f rawFile, err error) error {
	o := opened{seq: s.seq, path: rel, file: f}
	if err != nil {
		o.skip = reason(rel, err)
	}
	s.seq++
	select {
	case s.files <- o:
		return nil
	case <-s.ctx.Done():
		f.close()
		return s.ctx.Err()
	}
}

// reason names what stood in the way of a file.
func reason(rel string, err error) string {
	if r := fault.From(mend(rel, err)).Reason(); r != "" {
		return r
	}
	return SkipUnreadable
}

// drain closes what was opened and not read, where the scan ended early.
func (s *scanner) drain() {
	for o := range s.files {
		o.file.close()
	}
}

// keepBuffer is how large a buffer a worker keeps for the next file, in bytes.
const keepBuffer = 4 << 20

func (s *scanner) work() error {
	var buf []byte
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case o, ok := <-s.files:
			if !ok {
				return nil
			}
			c := Content{Seq: o.seq, Path: o.path, Skip: o.skip}
			if c.Skip == "" {
				buf, c.Skip = s.read(o.file, buf[:0])
				c.Bytes = buf
			}
			if err := s.each(c); err != nil {
				return err
			}
			if cap(buf) > keepBuffer {
				buf = nil
			}
		}
	}
}

// read reads a file to its end and closes it.
func (s *scanner) read(f rawFile, buf []byte) (b []byte, skip string) {
	defer f.close()
	n, err := f.stat()
	switch {
	case err != nil:
		return buf, SkipUnreadable
	case !n.mode.IsRegular():
		return buf, SkipSpecial
	case n.id.Size > s.o.Max:
		return buf, TooLarge
	}
	if need := int(n.id.Size) + 1; cap(buf) < need {
		buf = make([]byte, 0, max(need, 64<<10))
	}
	b, err = readUpTo(s.ctx, f, buf, s.o.Max)
	switch {
	case errors.Is(err, errTooLarge):
		return b, TooLarge
	case err != nil:
		return b, SkipUnreadable
	}
	return b, ""
}
