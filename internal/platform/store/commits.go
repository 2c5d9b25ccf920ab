package store

import "sync"

// listeners holds the functions to call after each commit. The zero value has none.
type listeners struct {
	mu   sync.RWMutex
	next int
	fns  map[int]func()
}

// OnCommit calls fn whenever this process has committed a transaction, until cancel is called. fn must return at once. Commits of
// other processes are not reported.
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

// committed calls the listeners.
func (s *Store) committed() {
	s.commits.mu.RLock()
	defer s.commits.mu.RUnlock()
	for _, fn := range s.commits.fns {
		fn()
	}
}
