package watch

import (
	"context"
	"errors"
	"time"

	"github.com/ctxd/ctxd/internal/workspace"
)

// loop is one watching. All of it but the collecting of events happens in one goroutine.
type loop struct {
	w    *workspace.Workspace
	o    Options
	out  chan Batch
	news *news

	ear     *ear          // nil when checking
	checker *checker      // nil when hearing
	why     error         // of checking
	last    time.Duration // that the last walk of everything took
	again   time.Time     // when the next beginning is due at the earliest
	anew    bool          // it is wanted

	next changes // what the next batch tells

	soon, late *time.Timer // a batch is due when nothing more came for a while, or when it takes too long
	due        bool        // they run
	tick       *time.Timer // the next look or check
	sweep      <-chan time.Time
}

func (l *loop) run(ctx context.Context) {
	defer close(l.out)
	l.soon, l.late, l.tick = stopped(), stopped(), stopped()
	defer l.soon.Stop()
	defer l.late.Stop()
	defer l.tick.Stop()
	if l.o.Sweep > 0 {
		t := time.NewTicker(l.o.Sweep)
		defer t.Stop()
		l.sweep = t.C
	}
	defer l.deafen()
	for err := l.begin(ctx); err == nil && ctx.Err() == nil; {
		err = l.turn(ctx)
	}
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// turn does the next thing there is to do. An error is that of ctx.
func (l *loop) turn(ctx context.Context) error {
	var out chan Batch
	var batch Batch
	if !l.next.none() {
		out, batch = l.out, l.batch()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case out <- batch:
		l.next = changes{}
		return nil
	case <-l.news.ready:
		l.wait()
		return nil
	case <-l.soon.C:
		return l.hear(ctx)
	case <-l.late.C:
		return l.hear(ctx)
	case <-l.tick.C:
		return l.look(ctx)
	case <-l.sweep:
		return l.begin(ctx)
	}
}

func (l *loop) batch() Batch {
	b := Batch{Paths: l.next.sorted(), Overflow: l.next.overflow, Revision: l.next.revision, Within: within}
	if l.checker != nil {
		b.Checking, b.Within = reason(l.why), l.interval()+l.last
	}
	return b
}

// reason is why it is checking, without what the system said beside.
func reason(err error) string {
	for _, known := range []error{errForced, errSystem, errFull, errTwice, errNoEar, errNoWatch, errGone, errLinks, errMoved} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// wait gives what comes in one go the time to come.
func (l *loop) wait() {
	if l.anew {
		return // everything is looked at then
	}
	l.soon.Reset(quiet)
	if !l.due {
		l.due = true
		l.late.Reset(most)
	}
}

// hear makes of events what the next batch tells.
func (l *loop) hear(ctx context.Context) error {
	l.due = false
	l.soon.Stop()
	l.late.Stop()
	if l.anew {
		return l.begin(ctx)
	}
	events, lost := l.news.take()
	switch {
	case l.ear == nil:
		return nil
	case lost:
		return l.restart(ctx)
	default:
		return l.after(ctx, l.ear.follow(ctx, events, &l.next))
	}
}

// look looks at what lies beside, or checks.
func (l *loop) look(ctx context.Context) error {
	if l.checker != nil {
		return l.check(ctx)
	}
	l.tick.Reset(pulse)
	if l.anew {
		return nil
	}
	return l.after(ctx, l.ear.beside.look(&l.next))
}

// after goes on as an error of the ear demands.
func (l *loop) after(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errMoved), errors.Is(err, errTwice), errors.Is(err, errRules):
		return l.restart(ctx)
	default:
		return l.fallBack(ctx, err)
	}
}

// restart begins anew, at most half of the time: folders may be renamed all the while.
func (l *loop) restart(ctx context.Context) error {
	rest := l.again.Sub(clock())
	if rest <= 0 {
		return l.begin(ctx)
	}
	l.anew, l.due = true, true
	l.soon.Reset(rest)
	return nil
}

// begin begins to listen, anew where it did before. Whatever happened in between is covered by an Overflow.
func (l *loop) begin(ctx context.Context) error {
	l.anew = false
	if l.o.Checking {
		return l.fallBack(ctx, errForced)
	}
	const tries = 3 // folders may be moved while they are walked
	var err error
	for range tries {
		l.deafen()
		l.news.take()
		start := clock()
		l.ear, err = listen(ctx, l.w, l.o.MaxWatches, l.news)
		end := clock()
		l.last = end.Sub(start)
		l.again = end.Add(l.last)
		if err == nil {
			l.checker, l.why = nil, nil
			l.next.all()
			l.tick.Reset(pulse)
			return nil
		}
		if !errors.Is(err, errTwice) {
			break
		}
	}
	return l.fallBack(ctx, err)
}

// fallBack changes to checking.
func (l *loop) fallBack(ctx context.Context, why error) error {
	l.deafen()
	l.anew = false
	if err := ctx.Err(); err != nil {
		return err
	}
	l.why = why
	l.next.all()
	if l.checker == nil {
		l.checker = newChecker(l.w)
	}
	return l.check(ctx)
}

func (l *loop) check(ctx context.Context) error {
	start := clock()
	err := l.checker.check(ctx, &l.next)
	l.last = clock().Sub(start)
	l.tick.Reset(l.interval())
	return err
}

// interval is the time between two checks.
func (l *loop) interval() time.Duration { return max(l.o.Interval, 9*l.last) }

func (l *loop) deafen() {
	if l.ear != nil {
		l.ear.close()
		l.ear = nil
	}
}
