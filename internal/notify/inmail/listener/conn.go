package listener

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"time"
)

// limited accepts connections within the limits of the server. Others hear 421 and are closed.
type limited struct {
	net.Listener
	server *Server
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.server.admit(accepted); c != nil {
			return c, nil
		}
		_ = accepted.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, _ = accepted.Write([]byte("421 4.3.2 Too many connections, try again later\r\n"))
		_ = accepted.Close()
	}
}

// admit returns the connection as one of the server's, or nil if there are too many.
func (s *Server) admit(accepted net.Conn) *conn {
	c := &conn{Conn: accepted, server: s, until: time.Now().Add(s.limits.life)}
	if a, err := netip.ParseAddrPort(accepted.RemoteAddr().String()); err == nil {
		c.client = a.Addr().Unmap()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	same := 0
	for other := range s.conns {
		if networkOf(other.client) == networkOf(c.client) {
			same++
		}
	}
	if s.ended || len(s.conns) >= s.limits.conns || same >= s.limits.perAddress {
		return nil
	}
	s.conns[c] = false
	return c
}

// conn is a connection that ends by its time, whatever deadlines the protocol sets.
type conn struct {
	net.Conn
	server *Server
	client netip.Addr
	until  time.Time
	once   sync.Once
}

func (c *conn) SetReadDeadline(t time.Time) error {
	if t.IsZero() || t.After(c.until) {
		t = c.until
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if c.server.ended && !c.server.conns[c] {
		t = time.Unix(1, 0)
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) Close() error {
	c.once.Do(func() {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		delete(c.server.conns, c)
	})
	return c.Conn.Close()
}

// under returns the connection below TLS.
func under(c net.Conn) *conn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return c.(*conn)
}
