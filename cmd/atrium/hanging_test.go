package main_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const sigterm = syscall.SIGTERM

// hangingBody is a request body that begins and does not end until it is told to.
type hangingBody struct {
	begun, over chan struct{}
	once        sync.Once
}

func hanging() (*hangingBody, func()) {
	b := &hangingBody{begun: make(chan struct{}), over: make(chan struct{})}
	return b, sync.OnceFunc(func() { close(b.over) })
}

// Read returns one byte, then blocks.
func (b *hangingBody) Read(p []byte) (int, error) {
	first := false
	b.once.Do(func() { first = true })
	if first {
		p[0] = '{'
		return 1, nil
	}
	close(b.begun)
	<-b.over
	return 0, io.ErrUnexpectedEOF
}

// awaitRead waits until the transport reads on, which means that the request has begun.
func (b *hangingBody) awaitRead(t *testing.T) {
	t.Helper()
	select {
	case <-b.begun:
	case <-time.After(patience):
		require.FailNow(t, "the request does not begin")
	}
}

func stream(c *http.Client, url, key string, body io.Reader) (int, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}
