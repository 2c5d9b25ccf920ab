package tlsfront

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTLSRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil || n != 1<<20 || r.TLS == nil {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, r.Proto)
	}))
	for _, tc := range []struct {
		proto string
		h2    bool
	}{{"HTTP/1.1", false}, {"HTTP/2.0", true}} {
		t.Run(tc.proto, func(t *testing.T) {
			t.Parallel()
			client := b.client(t, tc.h2)
			for range 3 {
				res, err := client.Post(b.url(), "text/plain", strings.NewReader(strings.Repeat("x", 1<<20)))
				require.NoError(t, err)
				body, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
				require.Equal(t, 200, res.StatusCode)
				require.Equal(t, tc.proto, string(body))
				require.GreaterOrEqual(t, res.TLS.Version, uint16(tls.VersionTLS12))
			}
		})
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	_, err := tls.Dial("tcp", b.addr, &tls.Config{RootCAs: b.pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	require.ErrorContains(t, err, "protocol version")
}

func TestListenRefuses(t *testing.T) {
	t.Parallel()
	_, err := Listen("127.0.0.1:0", nil)
	require.ErrorContains(t, err, "no certificate")
	_, err = Listen("127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12})
	require.ErrorContains(t, err, "no certificate")
	b := setup(t, hello)
	_, err = Listen(b.addr, b.front.cfg)
	require.ErrorContains(t, err, "address already in use")
}

// A client that is silent, or sends its first byte late, does not block others and is served.
func TestSlowFirstByte(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	var silent []net.Conn
	for range 20 {
		silent = append(silent, b.dial(t))
	}
	client := b.client(t, false)
	for range 3 {
		_, body := get(t, client, b.url())
		require.Equal(t, "hello HTTP/1.1", body)
	}

	late := tls.Client(silent[0], &tls.Config{RootCAs: b.pool, ServerName: "localhost", MinVersion: tls.VersionTLS12})
	_, err := io.WriteString(late, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	res, body := answer(t, late, http.MethodGet)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "hello HTTP/1.1", body)

	_, err = io.WriteString(silent[1], "G")
	require.NoError(t, err)
	get(t, client, b.url())
	_, err = io.WriteString(silent[1], "ET / HTTP/1.1\r\n\r\n")
	require.NoError(t, err)
	res, _ = answer(t, silent[1], http.MethodGet)
	require.Equal(t, 403, res.StatusCode)
}

func TestSilentClientIsClosed(t *testing.T) {
	t.Parallel()
	b := setup(t, hello, options{handshake: 20 * time.Millisecond})
	for _, text := range []string{"", "G", "GET / HT", "\x16"} {
		require.Empty(t, b.talk(t, text))
	}
}

func TestMaxConns(t *testing.T) {
	t.Parallel()
	b := setup(t, hello, options{conns: 2})
	one, two, three := b.client(t, false), b.client(t, false), b.client(t, false)
	get(t, one, b.url())
	get(t, two, b.url())

	// Two kept connections use both slots; the third waits until one of them ends.
	answered := make(chan error, 1)
	go func() {
		res, err := three.Get(b.url())
		if err == nil {
			err = res.Body.Close()
		}
		answered <- err
	}()
	get(t, one, b.url())
	get(t, two, b.url())
	select {
	case <-answered:
		require.Fail(t, "a third connection was served")
	default:
	}
	two.CloseIdleConnections()
	require.NoError(t, receive(t, answered, "third client"))
}
