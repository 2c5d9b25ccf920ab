package store

import (
	"context"
	"sync"
	"time"
)

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

// Looks is for what looks for rows that any process may have written. The function that it returns waits for the time between two looks:
// at least least, then until this process has committed something since the last look, but at most most, because others write too. It
// returns false when ctx has ended.
func (s *Store) Looks(least, most time.Duration) (wait func(ctx context.Context) bool, stop func()) {
	changed := make(chan struct{}, 1)
	stop = s.OnCommit(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	return func(ctx context.Context) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(least):
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		case <-time.After(most - least):
		}
		return true
	}, stop
}

// committed calls the listeners.
func (s *Store) committed() {
	s.commits.mu.RLock()
	defer s.commits.mu.RUnlock()
	for _, fn := range s.commits.fns {
		fn()
	}
}
