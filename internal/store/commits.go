package store

import "sync"

// listeners are called after each commit. The zero value has none.
type listeners struct {
	mu   sync.RWMutex
	next int
	fns  map[int]func()
}

// OnCommit calls fn, which must return at once, whenever this process has committed a transaction, until cancel is called.
// What other processes commit is not heard.
func (s *Store) OnCommit(fn func()) (cancel func()) {
	l := &s.commits
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fns == nil {
		l.fns = map[int]func(){}
	}
	id := l.next
	l.next++
	l.fns[id] = fn
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.fns, id)
	}
}

// committed calls those who listen for commits.
func (s *Store) committed() {
	s.commits.mu.RLock()
	defer s.commits.mu.RUnlock()
	for _, fn := range s.commits.fns {
		fn()
	}
}
