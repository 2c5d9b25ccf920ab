package tlsfront

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slow returns a handler that reports each request and answers when it is released or its client has gone.
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

// start sends n requests at once and returns their outcomes (nil for a complete 200) as they arrive.
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
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("h2=%t", h2), func(t *testing.T) {
			t.Parallel()
			const n = 50
			h, started, release := slow()
			b := setup(t, h)
			silent := b.dial(t)
			results := b.start(t, n, h2)
			for range n {
				receive(t, started, "start of a request")
			}
			b.cancel()
			_, err := silent.Read(make([]byte, 1)) // it sent nothing, so the shutdown does not wait for it
			require.ErrorIs(t, err, io.EOF)
			_, err = net.Dial("tcp", b.addr)
			require.Error(t, err)
			require.Empty(t, results)

			close(release)
			for range n {
				require.NoError(t, receive(t, results, "a request's end"))
			}
			require.NoError(t, receive(t, b.served, "Serve"))
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
	b.cancel()
	require.NoError(t, receive(t, b.served, "Serve"))
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestDrainTimeIsUp(t *testing.T) {
	t.Parallel()
	h, started, _ := slow()
	b := setup(t, h, options{drain: 10 * time.Millisecond})
	results := b.start(t, 3, true)
	for range 3 {
		receive(t, started, "start of a request")
	}
	b.cancel()
	require.ErrorIs(t, receive(t, b.served, "Serve"), context.DeadlineExceeded)
	for range 3 {
		require.Error(t, receive(t, results, "a request's end"))
	}
}

// A plain client that is being answered does not delay a shutdown whose time is up.
func TestDrainTimeCutsOffPlainAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, hello, options{drain: 10 * time.Millisecond, linger: time.Hour})
	c := b.dial(t)
	_, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
	require.NoError(t, err)
	answer(t, c, http.MethodGet) // c stays open on this side
	b.cancel()
	require.ErrorIs(t, receive(t, b.served, "Serve"), context.DeadlineExceeded)
}

// When the listener breaks, Serve returns an error after the running requests have finished.
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
