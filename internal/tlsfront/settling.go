package tlsfront

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// settling holds the TLS connections whose first request is still to come or, over HTTP/1.1, to be answered.
// net/http's Shutdown drops a request that it has just read, and when an h2 connection comes up after it told the
// others to go away, waits for that one until its time is up. So a Front lets them settle first.
type settling struct {
	mu     sync.Mutex
	conns  map[*conn]bool // true: its first request is being answered
	closed bool
	empty  chan struct{} // made by the first wait; closed when the last one has settled
}

// enter adds c; false when the time for that is over.
func (s *settling) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.conns == nil {
		s.conns = make(map[*conn]bool)
	}
	s.conns[c] = false
	return true
}

// settled is told of every state that net/http sees a connection in; once the connection has settled, this costs
// a branch. Over h2 that is when its first stream opens, the second time it is active: the first is its setup.
// Over HTTP/1.1 active is too early, because net/http looks once more whether it shuts down before it calls the
// handler; idle again, or over, is safe.
func (s *settling) settled(nc net.Conn, state http.ConnState) {
	outer, ok := nc.(*tls.Conn)
	if !ok || state == http.StateNew {
		return
	}
	c, ok := outer.NetConn().(*conn)
	if !ok || c.settled.Load() {
		return
	}
	// During a handshake that fails, only its end is reported; ConnectionState never waits here.
	h2 := (state == http.StateActive || state == http.StateIdle) && outer.ConnectionState().NegotiatedProtocol == "h2"
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case h2 && state == http.StateIdle:
		return
	case h2 && !c.setUp:
		c.setUp = true
		return
	case !h2 && state == http.StateActive:
		if _, waiting := s.conns[c]; waiting {
			s.conns[c] = true
		}
		return
	}
	c.settled.Store(true)
	delete(s.conns, c)
	s.signalLocked()
}

// wait returns when all have settled, after d, or when done is closed; a connection without a request by then is
// closed.
func (s *settling) wait(d time.Duration, done <-chan struct{}) {
	s.mu.Lock()
	if s.empty == nil {
		s.empty = make(chan struct{})
	}
	empty := s.empty
	s.signalLocked()
	s.mu.Unlock()

	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-empty:
	case <-timer.C:
	case <-done:
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c, serving := range s.conns {
		if !serving {
			_ = c.Close() // its handshake or first read fails
		}
		delete(s.conns, c)
	}
	s.signalLocked()
}

func (s *settling) signalLocked() {
	if s.empty == nil || len(s.conns) > 0 {
		return
	}
	select {
	case <-s.empty:
	default:
		close(s.empty)
	}
}
