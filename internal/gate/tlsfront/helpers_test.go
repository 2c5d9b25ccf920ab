package tlsfront

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits for things that must happen. No test passes by waiting that long.
const patience = 20 * time.Second

type bundle struct {
	front  *Front
	addr   string
	pool   *x509.CertPool
	served chan error // what Serve returned
	cancel context.CancelFunc
}

// options are the settings of a front and its server that a test changes.
type options struct {
	conns         int
	handshake     time.Duration // ReadHeaderTimeout
	drain, linger time.Duration
}

// setup serves handler on a free port with a fresh local CA, until the test ends.
func setup(t *testing.T, handler http.Handler, opts ...options) *bundle {
	t.Helper()
	dir := t.TempDir()
	caFile, certFile, keyFile, err := LocalCA(dir, nil, time.Now())
	require.NoError(t, err)
	files, err := CertFiles(certFile, keyFile)
	require.NoError(t, err)
	return serve(t, handler, files.TLSConfig(), poolOf(t, caFile), opts...)
}

func serve(t *testing.T, handler http.Handler, cfg *tls.Config, pool *x509.CertPool, opts ...options) *bundle {
	t.Helper()
	var o options
	if len(opts) > 0 {
		o = opts[0]
	}
	front, err := listen("127.0.0.1:0", cfg, cmp.Or(o.conns, maxConns))
	require.NoError(t, err)
	front.drain, front.linger = cmp.Or(o.drain, drainTime), cmp.Or(o.linger, lingerTime)
	b := &bundle{front: front, addr: front.Addr().String(), pool: pool, served: make(chan error, 1)}
	srv := &http.Server{
		Handler: handler, ReadHeaderTimeout: cmp.Or(o.handshake, patience),
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(context.Background())
	go func() {
		b.served <- front.Serve(ctx, srv)
		close(b.served)
	}()
	t.Cleanup(func() {
		b.cancel()
		for range b.served { // Serve has returned
		}
	})
	return b
}

func poolOf(t *testing.T, caFile string) *x509.CertPool {
	t.Helper()
	data, err := os.ReadFile(caFile)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(data))
	return pool
}

// client returns an HTTP client that trusts the bundle's CA, with its own connections.
func (b *bundle) client(t *testing.T, h2 bool) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: b.pool, MinVersion: tls.VersionTLS12}, Protocols: new(http.Protocols)}
	tr.Protocols.SetHTTP1(!h2)
	tr.Protocols.SetHTTP2(h2)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience}
}

func (b *bundle) url() string { return "https://" + b.addr + "/" }

// dial opens a bare TCP connection to the front.
func (b *bundle) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", b.addr)
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// talk sends a text unchanged and returns everything that comes back until the connection ends.
func (b *bundle) talk(t *testing.T, text string) string {
	t.Helper()
	c := b.dial(t)
	_, err := io.WriteString(c, text)
	require.NoError(t, err)
	got, _ := io.ReadAll(c) // a reset ends it too
	return string(got)
}

// answer reads one HTTP response and its body from c, and requires that the connection ends after it.
func answer(t *testing.T, c net.Conn, method string) (*http.Response, string) {
	t.Helper()
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, &http.Request{Method: method})
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	_, err = r.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	return res, string(body)
}

func get(t *testing.T, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	res, err := c.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

// receive returns the next value, or fails the test when none comes.
func receive[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "timed out waiting", what)
		panic("unreachable")
	}
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Proto) })
