package tlsfront

import (
	"net"
	"sync"
	"sync/atomic"
)

// conn is an accepted connection whose first byte has been taken and is given back by the first Read. Like
// crypto/tls and the plain answer, it has one reader at a time.
type conn struct {
	net.Conn
	first   [1]byte
	unread  bool
	setUp   bool        // guarded by settling
	settled atomic.Bool // see settling
	closed  atomic.Bool
	release func() // gives the connection's slot back
}

// peek waits for the first byte, which Read will return again.
func (c *conn) peek() (byte, error) {
	if _, err := c.Conn.Read(c.first[:]); err != nil {
		return 0, err
	}
	c.unread = true
	return c.first[0], nil
}

func (c *conn) Read(p []byte) (int, error) {
	if c.unread && len(p) > 0 {
		c.unread = false
		return copy(p, c.first[:]), nil
	}
	return c.Conn.Read(p)
}

// Close closes the connection and gives its slot back, once.
func (c *conn) Close() error {
	err := c.Conn.Close()
	if c.closed.CompareAndSwap(false, true) {
		c.release()
	}
	return err
}

// closeWrite tells the client that nothing more will come, while what it sends can still be read.
func (c *conn) closeWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// handoff is the net.Listener that net/http accepts TLS connections from.
type handoff struct {
	addr net.Addr
	ch   chan net.Conn
	done chan struct{}
	once sync.Once
}

func newHandoff(addr net.Addr) *handoff {
	return &handoff{addr: addr, ch: make(chan net.Conn), done: make(chan struct{})}
}

// pass gives c to the accepting server, or closes it when that no longer accepts.
func (h *handoff) pass(c net.Conn) {
	select {
	case h.ch <- c:
	case <-h.done:
		_ = c.Close() // nobody is left to tell
	}
}

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.ch:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

func (h *handoff) Addr() net.Addr { return h.addr }
