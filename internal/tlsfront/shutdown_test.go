package tlsfront

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slow returns a handler that reports each request and answers when released, or when its client is gone.
func slow() (h http.Handler, started chan struct{}, release chan struct{}) {
	started, release = make(chan struct{}, 100), make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started <- struct{}{}
		select {
		case <-release:
			_, _ = io.WriteString(w, "done")
		case <-r.Context().Done():
		}
	}), started, release
}

// start sends n requests at once and returns their outcomes (nil for a full 200) as they come.
func (b *bundle) start(t *testing.T, n int, h2 bool) <-chan error {
	t.Helper()
	out := make(chan error, n)
	client := b.client(t, h2)
	for range n {
		go func() {
			res, err := client.Get(b.url())
			if err != nil {
				out <- err
				return
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err == nil && (res.StatusCode != 200 || string(body) != "done") {
				err = fmt.Errorf("answer %d %q", res.StatusCode, body)
			}
			out <- err
		}()
	}
	return out
}

func TestShutdownLosesNoRequest(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"Shutdown", "context"} {
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/h2=%t", how, h2), func(t *testing.T) {
				t.Parallel()
				const n = 50
				h, started, release := slow()
				b := setup(t, h)
				silent := b.dial(t)
				results := b.start(t, n, h2)
				for range n {
					receive(t, started, "start of a request")
				}

				shut := make(chan error, 1)
				if how == "Shutdown" {
					go func() { shut <- b.front.Shutdown(context.Background()) }()
				} else {
					b.cancel()
					shut <- nil
				}
				_, err := silent.Read(make([]byte, 1)) // said nothing, so it need not be waited for
				require.ErrorIs(t, err, io.EOF)
				_, err = net.Dial("tcp", b.addr)
				require.Error(t, err)
				require.Empty(t, results)

				close(release)
				for range n {
					require.NoError(t, receive(t, results, "a request's end"))
				}
				require.NoError(t, receive(t, shut, "Shutdown"))
				require.NoError(t, receive(t, b.served, "Serve"))
			})
		}
	}
}

// A connection that is in the handshake when Shutdown begins still gets its first request answered; one that never
// comes forward does not hold things up.
func TestShutdownLetsConnectionsSettle(t *testing.T) {
	t.Parallel()
	for _, proto := range []string{"http/1.1", "h2"} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			b := setup(t, hello, tweak(func(f *Front) { f.settle = patience }))
			raw := b.dial(t)
			var once sync.Once
			begun := make(chan struct{})
			shut := make(chan error, 1)
			halting := &halfway{Conn: raw, reached: func() {
				once.Do(func() {
					go func() { shut <- b.front.Shutdown(context.Background()) }()
					<-b.front.stopping
					close(begun)
				})
			}}
			c := tls.Client(halting, &tls.Config{RootCAs: b.pool, ServerName: "localhost", NextProtos: []string{proto}, MinVersion: tls.VersionTLS12})
			require.NoError(t, c.Handshake())
			receive(t, begun, "Shutdown's begin")

			tr := &http.Transport{Protocols: new(http.Protocols), DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}
			tr.Protocols.SetHTTP1(proto == "http/1.1")
			tr.Protocols.SetHTTP2(proto == "h2")
			defer tr.CloseIdleConnections()
			_, body := get(t, &http.Client{Transport: tr, Timeout: patience}, b.url())
			require.Contains(t, body, "hello")
			require.NoError(t, receive(t, shut, "Shutdown"))
		})
	}
}

func TestShutdownDoesNotWaitForHalfHandshakes(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	c := b.dial(t)
	_, err := io.WriteString(c, "\x16")
	require.NoError(t, err)
	get(t, b.client(t, true), b.url())
	require.NoError(t, b.front.Shutdown(context.Background()))
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

// halfway calls reached when the client's first flight has been answered.
type halfway struct {
	net.Conn
	reached func()
}

func (h *halfway) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	h.reached()
	return n, err
}

func TestShutdownCutsOffWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	h, started, _ := slow()
	b := setup(t, h)
	results := b.start(t, 3, false)
	for range 3 {
		receive(t, started, "start of a request")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.front.Shutdown(ctx), context.DeadlineExceeded)
	for range 3 {
		require.Error(t, receive(t, results, "a request's end"))
	}
	require.NoError(t, receive(t, b.served, "Serve"))
	require.NoError(t, b.front.Shutdown(context.Background()))
}

func TestDrainTimeIsUp(t *testing.T) {
	t.Parallel()
	h, started, _ := slow()
	b := setup(t, h, WithDrain(10*time.Millisecond))
	results := b.start(t, 1, true)
	receive(t, started, "start of a request")
	b.cancel()
	require.ErrorIs(t, receive(t, b.served, "Serve"), context.DeadlineExceeded)
	require.Error(t, receive(t, results, "a request's end"))
}

// A plain client that is being answered does not hold up a Shutdown whose time is up.
func TestShutdownCutsOffPlainAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, hello, tweak(func(f *Front) { f.linger = time.Hour }))
	c := b.dial(t)
	_, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
	require.NoError(t, err)
	answer(t, c, http.MethodGet) // and c stays open on this side
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, b.front.Shutdown(ctx), context.Canceled)
}

func TestShutdownBeforeServe(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	front, err := Listen("127.0.0.1:0", b.front.cfg)
	require.NoError(t, err)
	require.NoError(t, front.Shutdown(context.Background()))
	require.NoError(t, front.Serve(context.Background(), &http.Server{ReadHeaderTimeout: time.Second}))
	_, err = net.Dial("tcp", front.Addr().String())
	require.Error(t, err)
}

// A listener that breaks ends Serve with an error, after the running requests.
func TestListenerBreaks(t *testing.T) {
	t.Parallel()
	h, started, release := slow()
	b := setup(t, h)
	results := b.start(t, 1, false)
	receive(t, started, "start of a request")
	require.NoError(t, b.front.ln.Close())
	close(release)
	require.NoError(t, receive(t, results, "a request's end"))
	require.ErrorIs(t, receive(t, b.served, "Serve"), net.ErrClosed)
}
