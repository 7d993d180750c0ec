package store

import "sync"

// signal tells any number of waiters that something happened.
type signal struct {
	mu sync.Mutex
	ch chan struct{} // nil while nobody waits
}

// next gives a channel that is closed when the signal fires next.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
