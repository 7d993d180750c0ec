package tool

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/search"
	"github.com/ctxd/ctxd/internal/workspace"
)

// scan searches files side by side and puts what it finds back in order.
type scan struct {
	ws               *workspace.Workspace
	pattern          *search.Pattern
	root             string
	include, exclude *workspace.Globs
	context, most    int
	after            cursor // the page begins behind this place

	page          []found
	total         int // matching lines in all
	passed        int // of these, before the page
	filesMatched  int
	filesSearched int
	skips         map[string]int

	full atomic.Bool // the page is full: only totals are wanted
}

// job is a file on its way through a worker.
type job struct {
	seq  int
	path string
}

// outcome is what a worker made of it.
type outcome struct {
	seq    int
	total  int     // matching lines
	passed int     // of these, at or before the cursor
	shown  []found // the first of the others, while the page is not full
	skip   string  // why the file was not searched
}

func (s *scan) run(ctx context.Context) error {
	s.skips = map[string]int{}
	info, err := s.ws.Stat(s.root)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	jobs, outcomes := make(chan job, 64), make(chan outcome, 64)
	var skips workspace.Skips
	g.Go(func() (err error) {
		defer close(jobs)
		if info.Type != workspace.TypeFolder {
			return send(ctx, jobs, job{0, s.root})
		}
		skips, err = s.walk(ctx, jobs)
		return err
	})
	var workers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Add(1)
		g.Go(func() error {
			defer workers.Done()
			return s.work(ctx, jobs, outcomes)
		})
	}
	g.Go(func() error {
		workers.Wait()
		close(outcomes)
		return nil
	})
	s.collect(outcomes)
	if err := g.Wait(); err != nil {
		return err
	}
	delete(skips, workspace.SkipHidden)
	for reason, n := range skips {
		s.skips[reason] += n
	}
	return nil
}

func send[T any](ctx context.Context, ch chan<- T, v T) error {
	select {
	case ch <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// walk hands out the files that are to be searched.
func (s *scan) walk(ctx context.Context, jobs chan<- job) (workspace.Skips, error) {
	seq := 0
	return s.ws.Walk(ctx, s.root, workspace.WalkOptions{Hidden: true}, func(e workspace.Entry) error {
		if e.Type != workspace.TypeFile || s.include != nil && !s.include.Match(e.Path, false) || s.exclude != nil && s.exclude.Match(e.Path, false) {
			return nil
		}
		j := job{seq, e.Path}
		seq++
		return send(ctx, jobs, j)
	})
}

func (s *scan) work(ctx context.Context, jobs <-chan job, outcomes chan<- outcome) error {
	for j := range jobs {
		o, err := s.file(ctx, j)
		if err != nil {
			return err
		}
		if err := send(ctx, outcomes, o); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// file searches one file. A file that cannot be searched says why; only the end of the context is an error.
func (s *scan) file(ctx context.Context, j job) (outcome, error) {
	o := outcome{seq: j.seq}
	f, err := s.ws.Read(ctx, j.path, maxSearched)
	if err != nil {
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if o.skip = fault.From(err).Reason(); o.skip == "" {
			o.skip = "unreadable"
		}
		return o, nil
	}
	if f.Binary {
		o.skip = "binary"
		return o, nil
	}
	text, ok := workspace.Decode(f.Bytes)
	if !ok {
		o.skip = "binary"
		return o, nil
	}
	order := compareWalk(j.path, s.after.Path)
	for m := range s.pattern.Lines(text.Content) {
		o.total++
		switch {
		case s.after.Path != "" && (order < 0 || order == 0 && m.Line <= s.after.At):
			o.passed++
		case len(o.shown) < s.most && !s.full.Load():
			o.shown = append(o.shown, s.show(j.path, text.Content, m))
		}
		if o.total%1024 == 0 && ctx.Err() != nil {
			return o, ctx.Err()
		}
	}
	return o, nil
}

// collect puts the outcomes back in the order of the walk.
func (s *scan) collect(outcomes <-chan outcome) {
	waiting := map[int]outcome{}
	next := 0
	for o := range outcomes {
		waiting[o.seq] = o
		for {
			o, ok := waiting[next]
			if !ok {
				break
			}
			delete(waiting, next)
			next++
			s.add(o)
		}
	}
}

func (s *scan) add(o outcome) {
	if o.skip != "" {
		s.skips[o.skip]++
		return
	}
	s.filesSearched++
	s.total += o.total
	s.passed += o.passed
	if o.total > 0 {
		s.filesMatched++
	}
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
