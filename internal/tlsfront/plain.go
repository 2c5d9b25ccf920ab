package tlsfront

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"atrium/internal/apperr"
)

const (
	plainBody     = `{"error":"` + string(apperr.HTTPSRequired) + `","message":"Use HTTPS."}`
	plainLineSize = 4 << 10  // bytes of a request line that are looked at
	plainDrain    = 64 << 10 // bytes read after the answer, so that the client gets to read it
	plainEmpty    = 4        // empty lines allowed before the request line (RFC 9112, 2.2)
)

// refuse answers a connection that does not begin like TLS: an HTTP request gets 403 https_required, anything
// else gets nothing. net/http is not used, because it would parse the headers and answer some requests (OPTIONS *,
// a missing Host, an odd Expect) by itself. c is closed on return.
func (f *Front) refuse(c *conn, place *list.Element) {
	defer c.Close() //nolint:errcheck // the answer has been written or never will be
	method, proto, ok := requestLine(bufio.NewReaderSize(c, plainLineSize))
	if !f.lobby.leave(place) || !ok {
		return
	}
	defer context.AfterFunc(f.aborted, func() { _ = c.Close() })()

	end := time.Now().Add(f.linger)
	if err := c.SetDeadline(end); err != nil {
		return
	}
	if _, err := c.Write(plainAnswer(method, proto, time.Now())); err != nil {
		return
	}
	if err := c.closeWrite(); err != nil {
		return
	}
	// Closing while the client still sends resets the connection, and the answer may be lost with it: so read
	// until the client closes too, or a little; of a large body, leave the rest in the kernel for a moment.
	if _, err := io.CopyN(io.Discard, c, plainDrain); err != nil {
		return
	}
	wait := time.NewTimer(time.Until(end))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-f.aborted.Done():
	}
}

// requestLine reads the first line that is not empty and returns its method and protocol ("HTTP/1.1"). A line
// longer than the buffer of r is judged by its beginning and counts as HTTP/1.1.
func requestLine(r *bufio.Reader) (method, proto string, ok bool) {
	for range plainEmpty + 1 {
		if first, err := r.Peek(1); err != nil || !isToken(first[0]) && first[0] != '\r' && first[0] != '\n' {
			return "", "", false
		}
		line, err := r.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !long {
			return "", "", false
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		verb, rest, found := bytes.Cut(line, []byte{' '})
		if !found || bytes.ContainsFunc(verb, func(c rune) bool { return c > 0x7e || !isToken(byte(c)) }) {
			return "", "", false
		}
		if long {
			return string(verb), "HTTP/1.1", true
		}
		cut := bytes.LastIndexByte(rest, ' ')
		if cut < 1 {
			return "", "", false
		}
		proto := string(rest[cut+1:])
		if _, _, valid := http.ParseHTTPVersion(proto); !valid {
			return "", "", false
		}
		return string(verb), proto, true
	}
	return "", "", false
}

// isToken tells whether c may stand in a method (RFC 9110, 5.6.2).
func isToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0
}

// plainAnswer is the whole response; HEAD gets the same headers without the body.
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
