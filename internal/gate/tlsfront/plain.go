package tlsfront

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"time"

	"atrium/internal/platform/apperr"
)

const (
	// recordHandshake is the first byte of every TLS connection (RFC 8446, 5.1). No HTTP method begins with it.
	recordHandshake = 0x16

	plainBody     = `{"error":"` + string(apperr.HTTPSRequired) + `","message":"Use HTTPS."}`
	plainLineSize = 4 << 10     // bytes of a request line that are read
	plainEmpty    = 4           // empty lines allowed before the request line (RFC 9112, 2.2)
	lingerTime    = time.Second // how long a plain client may take to read its answer
)

var errPlain = errors.New("the client does not speak TLS")

// peeking is a listener whose connections check their first byte when net/http begins the TLS handshake. So the check runs in
// the connection's own goroutine and within the handshake's timeout.
type peeking struct {
	net.Listener
	front *Front
}

func (l *peeking) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, linger: l.front.linger}, nil
}

// conn is a connection that accepts only TLS. Like crypto/tls, it has one reader at a time.
type conn struct {
	net.Conn
	linger time.Duration
	begun  bool
}

// Read fails when the first byte does not begin TLS. The client has been answered by then.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.begun || n == 0 {
		return n, err
	}
	c.begun = true
	if p[0] == recordHandshake {
		return n, err
	}
	c.refuse(io.MultiReader(bytes.NewReader(p[:n]), c.Conn))
	return 0, errPlain
}

// refuse answers an HTTP request with 403 https_required, and anything else with nothing. It does not use net/http, which would
// parse the headers and answer some requests (OPTIONS *, a missing Host, an odd Expect) by itself.
func (c *conn) refuse(sent io.Reader) {
	defer c.Conn.Close() //nolint:errcheck // the answer has been written or never will be
	method, proto, ok := requestLine(bufio.NewReaderSize(sent, plainLineSize))
	if !ok || c.SetDeadline(time.Now().Add(c.linger)) != nil {
		return
	}
	if _, err := c.Write(plainAnswer(method, proto, time.Now())); err != nil {
		return
	}
	if tcp, ok := c.Conn.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
		return
	}
	// Closing while the client still sends would reset the connection, and the answer might be lost.
	_, _ = io.Copy(io.Discard, c.Conn)
}

// line matches a request line, or the beginning of one that is longer than the buffer.
var line = regexp.MustCompile("^([!#$%&'*+.^_`|~0-9A-Za-z-]+) [^\r\n]+?(?: (HTTP/[0-9]\\.[0-9])\r?\n)?$")

// requestLine reads the first line that is not empty and returns its method and protocol ("HTTP/1.1"). Of a line longer than
// the buffer of r only the beginning is checked, and the protocol counts as HTTP/1.1.
func requestLine(r *bufio.Reader) (method, proto string, ok bool) {
	for range plainEmpty + 1 {
		// A text that does not begin like a request line may never contain a line end.
		if first, err := r.Peek(1); err != nil || first[0] != '\r' && first[0] != '\n' && (first[0] < '!' || first[0] > '~') {
			return "", "", false
		}
		text, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", "", false
		}
		if len(bytes.TrimRight(text, "\r\n")) == 0 {
			continue
		}
		m := line.FindSubmatch(text)
		if m == nil {
			return "", "", false
		}
		return string(m[1]), cmp.Or(string(m[2]), "HTTP/1.1"), true
	}
	return "", "", false
}

// plainAnswer returns the whole response. HEAD gets the same headers without the body.
func plainAnswer(method, proto string, now time.Time) []byte {
	if proto != "HTTP/1.0" {
		proto = "HTTP/1.1"
	}
	body := plainBody
	if method == http.MethodHead {
		body = ""
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Appendf(nil, "%s 403 Forbidden\r\n"+
		"Content-Type: application/json\r\n"+
		"Content-Length: %d\r\n"+
		"Cache-Control: no-store\r\n"+
		"Connection: close\r\n"+
		"Date: %s\r\n"+
		"X-Request-Id: %s\r\n\r\n%s",
		proto, len(plainBody), now.UTC().Format(http.TimeFormat), hex.EncodeToString(id[:]), body)
}
