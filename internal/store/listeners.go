package store

import "sync"

// listeners are functions of those who want to hear of something, until they cancel. The zero value has none.
type listeners[F any] struct {
	mu   sync.RWMutex
	next int
	fns  map[int]F
}

// add lets fn hear until cancel is called.
func (l *listeners[F]) add(fn F) (cancel func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fns == nil {
		l.fns = map[int]F{}
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

// each calls do with everybody who listens.
func (l *listeners[F]) each(do func(F)) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, fn := range l.fns {
		do(fn)
	}
}
