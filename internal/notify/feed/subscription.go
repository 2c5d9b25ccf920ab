package feed

import "sync"

// Subscription holds the pending changes of one watcher. Safe for concurrent use.
type Subscription struct {
	poller *poller
	filter Filter
	begun  chan struct{} // closed once every later change is reported, or when the subscription has ended before
	ready  chan struct{}

	mu    sync.Mutex
	order []Change       // pending, oldest first
	at    map[string]int // row id → index in order
	err   error          // why the subscription ended
}

func newSubscription(p *poller, of Filter) *Subscription {
	return &Subscription{poller: p, filter: of, begun: make(chan struct{}), ready: make(chan struct{}, 1)}
}

// Ready receives a value when Take has changes or an error to return.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns up to most pending changes, oldest first, at most one per row. Returns ErrBehind, ErrLost or ErrClosed once the
// subscription has ended; changes that were pending then are dropped.
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
		s.order = nil // the caller owns the returned slice
		return out, nil
	}
	s.index()
	s.signal()
	return out, nil
}

// PutBack makes taken changes pending again, before all others.
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

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() { s.poller.leave(s) }

// push adds a change to the pending ones.
func (s *Subscription) push(c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(c)
	s.signal()
}

// add appends a change to the pending ones, or merges it with the pending change of the same row. The caller holds mu.
func (s *Subscription) add(c Change) {
	if i, waits := s.at[c.ID]; waits {
		s.order[i].Created = s.order[i].Created || c.Created // a row that the watcher has not seen yet stays new
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

// index rebuilds at from order. The caller holds mu.
func (s *Subscription) index() {
	s.at = make(map[string]int, len(s.order))
	for i, c := range s.order {
		s.at[c.ID] = i
	}
}

// end makes Take fail with err from now on. It returns false when the subscription had ended before.
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

// ended returns the error of Take; nil while the subscription is active.
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
