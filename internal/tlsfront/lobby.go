package tlsfront

import (
	"container/list"
	"sync"
)

// lobby holds the connections that have not said yet what they speak, the longest waiting first. Whoever gets a
// connection out of it, its own goroutine by leave or another one by pushing it out, decides its fate.
type lobby struct {
	mu      sync.Mutex
	waiting list.List // of *conn
	limit   int
	closed  bool
}

// enter adds c, pushing out the longest waiting connection when the lobby is full. It returns nil when the lobby
// has closed.
func (l *lobby) enter(c *conn) *list.Element {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	if l.waiting.Len() >= l.limit {
		l.pushOutLocked()
	}
	return l.waiting.PushBack(c)
}

// leave takes a connection out; false says that it was pushed out, and closed, before.
func (l *lobby) leave(e *list.Element) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Value == nil {
		return false
	}
	l.waiting.Remove(e)
	e.Value = nil
	return true
}

// pushOut closes the longest waiting connection, if there is one.
func (l *lobby) pushOut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pushOutLocked()
}

// close closes all that wait, and admits nobody any more.
func (l *lobby) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for l.waiting.Len() > 0 {
		l.pushOutLocked()
	}
}

func (l *lobby) pushOutLocked() {
	e := l.waiting.Front()
	if e == nil {
		return
	}
	c, _ := l.waiting.Remove(e).(*conn)
	e.Value = nil
	_ = c.Close() // its goroutine's read ends; there is nobody to tell
}
