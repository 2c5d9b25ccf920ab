package feed

import "sync"

// Subscription gathers the changes that one watcher has not taken yet. Safe for concurrent use.
type Subscription struct {
	poller *poller
	of     Filter
	begun  chan struct{} // closed when everything from now on is told, or when it ended before
	ready  chan struct{}

	mu    sync.Mutex
	order []Change       // waiting, the oldest first
	at    map[string]int // by the row's id, where in order it is
	err   error          // why it ended
}

func newSubscription(p *poller, of Filter) *Subscription {
	return &Subscription{poller: p, of: of, begun: make(chan struct{}), ready: make(chan struct{}, 1)}
}

// Ready can be read from when Take has something to return.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns what is waiting, the oldest first and most at most, each row once. Returns ErrBehind, ErrLost or ErrClosed
// when the subscription has ended, whatever was waiting then.
func (s *Subscription) Take(most int) ([]Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	n := min(most, len(s.order))
	out := s.order[:n:n]
	s.order, s.at = s.order[n:], nil
	if len(s.order) == 0 {
		s.order = nil // what was taken is the caller's
		return out, nil
	}
	s.index()
	s.signal()
	return out, nil
}

// PutBack makes changes that were taken wait again, before all others.
func (s *Subscription) PutBack(changes []Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	later := s.order
	s.order, s.at = nil, nil
	for _, c := range changes {
		s.add(c)
	}
	for _, c := range later {
		s.add(c)
	}
	s.signal()
}

// Close ends the watching. It may be called more than once.
func (s *Subscription) Close() { s.poller.leave(s) }

// push makes a change wait.
func (s *Subscription) push(c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(c)
	s.signal()
}

// add puts a change behind those that are waiting, or makes it one with that of the same row; the caller holds mu.
func (s *Subscription) add(c Change) {
	if i, waits := s.at[c.ID]; waits {
		s.order[i].Created = s.order[i].Created || c.Created // it is as new to the watcher as it was
		s.order[i].Internal = s.order[i].Internal && c.Internal
		return
	}
	if s.err == nil && len(s.order) >= s.poller.feed.pace.buffer {
		s.err, s.order, s.at = ErrBehind, nil, nil
		s.poller.feed.metrics.ended.WithLabelValues(s.poller.source.name, "behind").Inc()
	}
	if s.err != nil {
		return
	}
	if s.at == nil {
		s.at = map[string]int{}
	}
	s.at[c.ID] = len(s.order)
	s.order = append(s.order, c)
}

// index notes again where every row is; the caller holds mu.
func (s *Subscription) index() {
	s.at = make(map[string]int, len(s.order))
	for i, c := range s.order {
		s.at[c.ID] = i
	}
}

// end makes Take fail from now on, and returns false when it did so before.
func (s *Subscription) end(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false
	}
	s.err, s.order, s.at = err, nil, nil
	s.signal()
	return true
}

// ended returns why Take fails; nil while it does not.
func (s *Subscription) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}
