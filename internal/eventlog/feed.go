package eventlog

import (
	"math"
	"sync"
)

// Bounds of what a feed keeps in memory.
const (
	feedEvents = 256
	feedBytes  = 256 << 10
)

// feeds are the streams that somebody follows.
type feeds struct {
	mu sync.Mutex
	m  map[key]*feed
	n  int64 // followers
}

// feed holds the newest events of a stream that this process has committed, so that a commit costs its followers no query. It
// holds all events after floor that a follower may miss: if another process has written in between, it starts anew.
type feed struct {
	mu      sync.Mutex
	refs    int // guarded by feeds.mu
	wake    chan struct{}
	floor   int64
	trimmed int64 // newest id that was dropped for want of room
	events  []Event
	bytes   int
}

func (f *feeds) join(k key) *feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m == nil {
		f.m = map[key]*feed{}
	}
	d := f.m[k]
	if d == nil {
		d = &feed{wake: make(chan struct{}), floor: math.MaxInt64}
		f.m[k] = d
	}
	d.refs++
	f.n++
	return d
}

func (f *feeds) leave(k key, d *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n--
	if d.refs--; d.refs == 0 {
		delete(f.m, k)
	}
}

func (f *feeds) following() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// deliver hands the events of a commit to the streams that are followed.
func (f *feeds) deliver(rows []added) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.m) == 0 {
		return
	}
	touched := map[*feed]bool{}
	for i := range rows {
		d := f.m[rows[i].s.key]
		if d != nil {
			d.push(rows[i].Event, rows[i].lastID)
			touched[d] = true
		}
	}
	for d := range touched {
		d.ring()
	}
}

// push adds an event whose predecessor in the stream is before.
func (d *feed) push(e Event, before int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.floor
	if n := len(d.events); n > 0 {
		last = d.events[n-1].ID
	}
	if last != before { // also the first one: floor is no id then
		d.events, d.bytes, d.floor = d.events[:0], 0, before
	}
	d.events = append(d.events, e)
	d.bytes += len(e.Payload)
	for len(d.events) > feedEvents || d.bytes > feedBytes {
		d.floor = d.events[0].ID
		d.trimmed = d.floor
		d.bytes -= len(d.events[0].Payload)
		d.events = d.events[1:]
	}
}

func (d *feed) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.wake)
	d.wake = make(chan struct{})
}

// bell gives a channel that is closed when this process next commits events of the stream.
func (d *feed) bell() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wake
}

// after gives up to n events with ids over id. When ok is false it does not have them all: the log does.
func (d *feed) after(id int64, n int) (events []Event, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id < d.floor {
		return nil, false
	}
	i := len(d.events)
	for i > 0 && d.events[i-1].ID > id {
		i--
	}
	return append([]Event(nil), d.events[i:min(i+n, len(d.events))]...), true
}

// overran says whether events after id were dropped for want of room.
func (d *feed) overran(id int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.trimmed > id
}
