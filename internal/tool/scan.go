package tool

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/internal/search"
	"github.com/ctxd/ctxd/internal/workspace"
)

// scan searches files side by side and puts what it finds back in order.
type scan struct {
	ws               *workspace.Workspace
	pattern          *search.Pattern
	queries          int // how many patterns it is made of; 0: it is one
	root             string
	include, exclude *workspace.Globs
	context, most    int
	after            cursor // the page begins behind this place

	page          []found
	sum           sum
	filesSearched int
	skips         map[string]int

	full    atomic.Bool // the page is full: only totals are wanted
	mu      sync.Mutex  // holds all of the above but full, and the rest
	waiting map[int]outcome
	next    int // the outcome that is to be added next
}

// sum counts matching lines.
type sum struct {
	total   int
	passed  int   // of these, before the page
	files   int   // that hold one
	byQuery []int // where there are several patterns: the lines of each
	inFiles []int // and the files
}

func (s *sum) add(o sum) {
	s.total += o.total
	s.passed += o.passed
	s.files += o.files
	for i := range o.byQuery {
		s.byQuery[i] += o.byQuery[i]
		s.inFiles[i] += min(1, o.byQuery[i])
	}
}

// outcome is what became of a file.
type outcome struct {
	sum
	shown []found // the first of those that belong to the page, while it is not full
	skip  string  // why the file was not searched
}

func (s *scan) run(ctx context.Context) error {
	s.skips, s.waiting = map[string]int{}, map[int]outcome{}
	s.sum.byQuery, s.sum.inFiles = make([]int, s.queries), make([]int, s.queries)
	skips, err := s.ws.Scan(ctx, s.root, workspace.ScanOptions{Hidden: true, Max: maxSearched, Want: s.wants}, func(c workspace.Content) error {
		o, err := s.file(ctx, c)
		if err == nil {
			s.collect(c.Seq, o)
		}
		return err
	})
	if err != nil {
		return err
	}
	delete(skips, workspace.SkipHidden)
	for reason, n := range skips {
		s.skips[reason] += n
	}
	return nil
}

func (s *scan) wants(path string) bool {
	return (s.include == nil || s.include.Match(path, false)) && (s.exclude == nil || !s.exclude.Match(path, false))
}

// file searches one file. A file that cannot be searched says why; only the end of the context is an error.
func (s *scan) file(ctx context.Context, c workspace.Content) (o outcome, err error) {
	if c.Skip != "" {
		o.skip = c.Skip
		return o, nil
	}
	text := c.Bytes
	if !workspace.IsPlain(text) {
		t, ok := workspace.Decode(text)
		if !ok {
			o.skip = "binary"
			return o, nil
		}
		text = []byte(t.Content)
	}
	return s.lines(ctx, c.Path, workspace.TrimBOM(text))
}

// lines searches the text of a file.
func (s *scan) lines(ctx context.Context, path string, text []byte) (o outcome, err error) {
	if s.pattern.Misses(text) {
		return o, nil
	}
	order := compareWalk(path, s.after.Path)
	for m := range s.pattern.Lines(text) {
		o.total, o.files = o.total+1, 1
		which := s.which(&o, text[m.Start:m.End])
		switch {
		case s.after.Path != "" && (order < 0 || order == 0 && m.Line <= s.after.At):
			o.passed++
		case len(o.shown) < s.most && !s.full.Load():
			f := s.show(path, text, m)
			f.queries = which
			o.shown = append(o.shown, f)
		}
		if o.total%1024 == 0 && ctx.Err() != nil {
			return o, ctx.Err()
		}
	}
	return o, nil
}

// which counts a line for every pattern that matches it, and tells these by their places from 1.
func (s *scan) which(o *outcome, line []byte) []int {
	if s.queries == 0 {
		return nil
	}
	if o.byQuery == nil {
		o.byQuery = make([]int, s.queries)
	}
	list := s.pattern.Which(line)
	for i, at := range list {
		o.byQuery[at]++
		list[i]++
	}
	return list
}

// collect puts the outcomes back in the order of the walk.
func (s *scan) collect(seq int, o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[seq] = o
	for {
		o, ok := s.waiting[s.next]
		if !ok {
			return
		}
		delete(s.waiting, s.next)
		s.next++
		s.add(o)
	}
}

func (s *scan) add(o outcome) {
	if o.skip != "" {
		s.skips[o.skip]++
		return
	}
	s.filesSearched++
	s.sum.add(o.sum)
	if room := s.most - len(s.page); room > 0 {
		s.page = append(s.page, o.shown[:min(room, len(o.shown))]...)
	}
	if len(s.page) >= s.most {
		s.full.Store(true)
	}
}

// compareWalk orders two paths as a walk visits them: by the bytes of their names, folder by folder.
func compareWalk(a, b string) int {
	for {
		x, restA, moreA := strings.Cut(a, "/")
		y, restB, moreB := strings.Cut(b, "/")
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
		switch {
		case moreA && moreB:
			a, b = restA, restB
		case moreB:
			return -1
		case moreA:
			return 1
		default:
			return 0
		}
	}
}
