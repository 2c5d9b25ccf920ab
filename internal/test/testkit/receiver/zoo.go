package receiver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Status answers with a status and a body.
func Status(code int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	})
}

// Redirect answers 301 to another address.
func Redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusMovedPermanently) })
}

// RetryAfter answers with a status and a Retry-After header.
func RetryAfter(code int, value string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", value)
		w.WriteHeader(code)
	})
}

// Big answers 200 with a body of so many bytes.
func Big(bytes int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat("x", 32<<10))
		for ; bytes > 0; bytes -= len(chunk) {
			if _, err := w.Write(chunk[:min(len(chunk), bytes)]); err != nil {
				return // the caller closed the connection
			}
		}
	})
}

// Hang never answers, also not once the caller has disconnected, when a handler that returns would answer 200.
func Hang() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only after that does the server notice that the caller has disconnected
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	})
}

// Drip answers 200 at once and then sends the body one byte at a time, until the caller disconnects.
func Drip(every time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			if _, err := w.Write([]byte(".")); err != nil {
				return
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Reset closes the connection with an RST instead of answering.
func Reset() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		if tc, ok := conn.(*tls.Conn); ok {
			if tcp, ok := tc.NetConn().(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
				_ = tcp.Close()
			}
		}
	})
}

// Raw writes the bytes that next returns instead of an HTTP answer, until next returns false.
func Raw(next func(i int) (string, bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close() //nolint:errcheck // whatever the caller thinks of it
		for i := 0; ; i++ {
			text, more := next(i)
			if _, err := conn.Write([]byte(text)); err != nil || !more {
				return
			}
		}
	})
}

// HeaderBomb answers 200 with a header that never ends.
func HeaderBomb() http.Handler {
	return Raw(func(i int) (string, bool) {
		if i == 0 {
			return "HTTP/1.1 200 OK\r\n", true
		}
		return fmt.Sprintf("X-Bomb-%d: %s\r\n", i, strings.Repeat("b", 1000)), true
	})
}

// WrongCertificate starts a receiver whose certificate is signed by an unknown CA.
func WrongCertificate(tb testing.TB) *Receiver {
	tb.Helper()
	ca, err := newAuthority("nobody's")
	require.NoError(tb, err)
	cert, err := ca.issue("localhost")
	require.NoError(tb, err)
	return start(tb, cert, nil)
}

// WrongName starts a receiver whose certificate is for another host name.
func WrongName(tb testing.TB) *Receiver {
	tb.Helper()
	ca, err := trusted()
	require.NoError(tb, err)
	cert, err := ca.sign(&x509.Certificate{DNSNames: []string{"elsewhere.test"}})
	require.NoError(tb, err)
	return start(tb, cert, nil)
}

// HalfOpen starts a listener that accepts connections and never sends anything, and returns its https URL.
func HalfOpen(tb testing.TB) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	var mu sync.Mutex
	var conns []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
		}
	}()
	tb.Cleanup(func() {
		_ = ln.Close()
		<-done
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return "https://" + ln.Addr().String()
}

// Closed returns the https URL of a port on which nothing listens.
func Closed(tb testing.TB) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	require.NoError(tb, ln.Close())
	return "https://" + ln.Addr().String()
}

// Plain starts a server without TLS and returns its address as an https URL.
func Plain(tb testing.TB) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	srv := &http.Server{Handler: Status(http.StatusOK, ""), ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln)
	}()
	tb.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return "https://" + ln.Addr().String()
}
