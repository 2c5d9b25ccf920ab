package graph_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/graph"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

const (
	watchRequests   = `subscription($id: ID, $filter: RequestFilter) { requestChanged(id: $id, filter: $filter) { change request { id title status } } }`
	watchDeliveries = `subscription($s: ID) { webhookDeliveryChanged(subscriptionId: $s) { change webhookDelivery { id outcome retryCount attempts { statusCode } } } }`
)

// watchers is a server whose streams tests observe.
type watchers struct {
	*apitest.Server
	door *graph.Server
}

// serveStreams serves the GraphQL API of a world.
func serveStreams(t testing.TB, w *testkit.World, change ...func(*graph.Options)) *watchers {
	t.Helper()
	out := &watchers{}
	out.Server = apitest.Serve(t, w, func(p apitest.Parts) (http.Handler, error) {
		o := graph.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL}
		for _, c := range change {
			c(&o)
		}
		out.door = graph.New(o)
		return out.door, nil
	})
	t.Cleanup(out.door.Close)
	return out
}

// eachStreams runs fn on both databases.
func eachStreams(t *testing.T, fn func(t *testing.T, s *watchers)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, serveStreams(t, w)) })
}

// event is one event of a stream.
type event struct {
	name string
	data string
	at   time.Time
}

// get returns the value at a path of the event's JSON.
func (e event) get(path string) any {
	var v any
	_ = json.Unmarshal([]byte(e.data), &v)
	out, _ := apitest.At(v, path)
	return out
}

// code returns the code of the event's error.
func (e event) code() string {
	s, _ := e.get("errors.0.extensions.code").(string)
	return s
}

// opening is a stream as its client sees it.
type opening struct {
	status int
	header http.Header
	body   string       // of the answer, if the stream was refused
	events <-chan event // closed with the stream
	pings  <-chan struct{}
	close  func()
}

// subscribe sends a subscription as a caller, over HTTP/2, and returns the answer. The stream is closed when the test ends.
func (s *watchers) subscribe(t testing.TB, as apitest.Caller, query string, v vars) *opening {
	t.Helper()
	return s.subscribeBy(t, s.HTTP, as, query, v)
}

func (s *watchers) subscribeBy(t testing.TB, client *http.Client, as apitest.Caller, query string, v vars) *opening {
	t.Helper()
	body, err := json.Marshal(vars{"query": query, "variables": v})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/graphql", bytes.NewReader(body))
	require.NoError(t, err)
	for name, values := range as.Header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	res, err := client.Do(r)
	require.NoError(t, err)
	o := &opening{status: res.StatusCode, header: res.Header}
	if res.Header.Get("Content-Type") != "text/event-stream" {
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		cancel()
		o.body, o.close = string(b), func() {}
		return o
	}
	events, pings := make(chan event, 1000), make(chan struct{}, 1000)
	o.events, o.pings = events, pings
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(events)
		scanner := bufio.NewScanner(res.Body)
		scanner.Buffer(nil, 1<<20)
		var e event
		for scanner.Scan() {
			switch line := scanner.Text(); {
			case line == ":":
				pings <- struct{}{}
			case strings.HasPrefix(line, "event: "):
				e.name = line[len("event: "):]
			case strings.HasPrefix(line, "data:"):
				e.data = strings.TrimPrefix(line[len("data:"):], " ")
			case line == "" && e.name != "":
				e.at = time.Now()
				events <- e
				e = event{}
			}
		}
	})
	o.close = sync.OnceFunc(func() {
		cancel()
		_ = res.Body.Close()
		reading.Wait()
	})
	t.Cleanup(o.close)
	return o
}

// watch is subscribe for a stream that must open.
func (s *watchers) watch(t testing.TB, as apitest.Caller, query string, v vars) *opening {
	t.Helper()
	o := s.subscribe(t, as, query, v)
	require.Equal(t, http.StatusOK, o.status, "%s", o.body)
	require.NotNil(t, o.events, "%s", o.body)
	return o
}

// next waits for an event.
func (o *opening) next(t testing.TB) event {
	t.Helper()
	select {
	case e, ok := <-o.events:
		require.True(t, ok, "the stream has ended")
		return e
	case <-time.After(2 * patience):
		require.FailNow(t, "no event came")
		return event{}
	}
}

// result waits for an event without an error.
func (o *opening) result(t testing.TB) event {
	t.Helper()
	e := o.next(t)
	require.Equal(t, "next", e.name)
	require.Nil(t, e.get("errors"), e.data)
	return e
}

// ending waits for the error that ends the stream, and returns its code; no event may come before it.
func (o *opening) ending(t testing.TB) string {
	t.Helper()
	e := o.next(t)
	require.Equal(t, "next", e.name)
	require.Nil(t, e.get("data"), "nothing was to come any more: %s", e.data)
	require.NotEmpty(t, e.get("errors.0.extensions.requestId"), e.data)
	last := o.next(t)
	require.Equal(t, event{name: "complete", at: last.at}, last)
	select {
	case _, more := <-o.events:
		require.False(t, more)
	case <-time.After(patience):
		require.FailNow(t, "the answer has not ended")
	}
	return e.code()
}
