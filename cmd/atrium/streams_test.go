package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const watchRequests = `subscription { requestChanged { change request { id title status } } }`

// subscriber reads the events of a stream.
type subscriber struct {
	t      testing.TB
	events chan map[string]any // the data of "next"; closed with the stream
	whole  chan bool           // true if the stream ended with "complete"
}

// subscribe opens a stream with a credential. It is closed at the end of the test.
func (n *node) subscribe(c *http.Client, credential, query string) *subscriber {
	n.t.Helper()
	body, err := json.Marshal(map[string]any{"query": query})
	require.NoError(n.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.base+"/graphql", bytes.NewReader(body))
	require.NoError(n.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if strings.HasPrefix(credential, "key_") {
		req.Header.Set("X-Api-Key", credential)
	} else {
		req.Header.Set("Authorization", "Bearer "+credential)
	}
	streaming := &http.Client{Transport: c.Transport} // without a timeout
	res, err := streaming.Do(req)
	require.NoError(n.t, err)
	require.Equal(n.t, http.StatusOK, res.StatusCode)
	require.Equal(n.t, "text/event-stream", res.Header.Get("Content-Type"))
	s := &subscriber{t: n.t, events: make(chan map[string]any, 10_000), whole: make(chan bool, 1)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(s.events)
		lines := bufio.NewScanner(res.Body)
		complete := false
		for lines.Scan() {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				var v map[string]any
				if json.Unmarshal([]byte(data), &v) != nil {
					n.t.Errorf("an event is no JSON: %s", data)
				}
				s.events <- v
			}
			complete = complete || lines.Text() == "event: complete"
		}
		s.whole <- complete
	})
	n.t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
		reading.Wait()
	})
	return s
}

// next waits for an event, and returns the value at a path of its JSON.
func (s *subscriber) next(path ...string) any {
	s.t.Helper()
	select {
	case e, more := <-s.events:
		require.True(s.t, more, "the stream has ended")
		var at any = e
		for _, name := range path {
			m, ok := at.(map[string]any)
			require.True(s.t, ok, "%v", e)
			at = m[name]
		}
		return at
	case <-time.After(patience):
		require.FailNow(s.t, "no event came")
		return nil
	}
}

// beside starts another node with the same public addresses as the first, as behind a load balancer. The returned node has an
// address of its own for calls.
func (n *node) beside(args ...string) *node {
	n.t.Helper()
	address := freeAddress(n.t)
	other := n.serve(append([]string{"--listen", address, "--base-url", n.base}, args...)...)
	require.Equal(n.t, n.base, other.base)
	other.base = "https://" + address
	return other
}

// After a node answers with success and dies, subscribers at the other node still get the event if they had not got it before.
func TestKilledNodesChangesAreTold(t *testing.T) {
	t.Parallel()
	p := onPostgres(t).prepared()
	watched := p.serve()
	first := p.firstRun()
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000")
	s := watched.subscribe(p.client(), first.LiveKey, watchRequests)
	told := map[string]bool{}
	for round := range 5 {
		writer := p.serve()
		calls := []int{1, 20, 60, 100, 100}[round]
		ids, _, others := burst(writer, first, load{calls, 16, max(1, calls/2), writer.kill})
		require.Empty(t, others)
		writer.kill()
		require.NotEmpty(t, ids)
		for _, id := range ids {
			for !told[id] {
				seen, ok := s.next("data", "requestChanged", "request", "id").(string)
				require.True(t, ok)
				require.False(t, told[seen], "a change of one request was told twice")
				told[seen] = true
			}
		}
		t.Logf("round %d: %d answered before the kill, all told", round, len(ids))
	}
}

// A server that stops ends its streams with the error `unavailable` and a complete event, and exits with 0.
func TestStreamsEndWhenTheServerStops(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		first := p.firstRun()
		c := p.client()
		var open []*subscriber
		for _, credential := range []string{first.LiveKey, p.token(first.Company.ID, first.Owner.Email)} {
			for range 4 {
				open = append(open, n.subscribe(c, credential, watchRequests))
			}
		}
		require.Zero(t, n.stop(), "%s", n.err)
		for _, s := range open {
			errs, ok := s.next("errors").([]any)
			require.True(t, ok)
			require.Contains(t, fmt.Sprint(errs[0]), "unavailable")
			require.True(t, <-s.whole, "without complete")
		}
		require.NotContains(t, n.err.String(), `"level":"ERROR"`)
	})
}

// When a person's token is revoked, their streams end on every node within a minute, and nothing is sent after that.
func TestDeactivationEndsStreamsElsewhere(t *testing.T) {
	t.Parallel()
	p := onPostgres(t).prepared()
	a := p.serve()
	b := a.beside()
	first := p.firstRun()
	p.ok("user", "invite", "--company", first.Company.ID, "--email", "leaver@example.org", "--role", "admin")
	leaver := p.token(first.Company.ID, "leaver@example.org")
	owner := p.token(first.Company.ID, first.Owner.Email)
	who, ok := b.graphQL(leaver, `{ viewer { id } }`, nil)["viewer"].(map[string]any)
	require.True(t, ok)
	s := b.subscribe(p.client(), leaver, watchRequests)
	a.graphQL(owner, `mutation($id: ID!) { deactivateUser(input: {id: $id}) { user { id } } }`, map[string]any{"id": who["id"]})
	errs, ok := s.next("errors").([]any)
	require.True(t, ok)
	require.Contains(t, fmt.Sprint(errs[0]), "unauthorized")
	require.True(t, <-s.whole)
}

// A standard client of the protocol reconnects when the server dies, misses nothing from then on, and is told when a server
// stops.
func TestStockStreamClient(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		first := p.firstRun()
		create := func() string {
			t.Helper()
			a := n.call(p.client(), 201, "POST", "/v1/requests", first.LiveKey,
				first.laptop("watched"))
			made, ok := decode(t, a.body)["data"].(map[string]any)
			require.True(t, ok)
			return fmt.Sprint(made["id"])
		}
		script := p.talk("sse.mjs", map[string]any{"api": n.base, "token": p.token(first.Company.ID, first.Owner.Email)})
		script.await("connected 1")
		script.await("event CREATED " + create())
		n.kill()
		n = p.serve("--listen", strings.TrimPrefix(n.base, "https://"))
		script.await("connected 2")
		script.await("event CREATED " + create())
		require.Zero(t, n.stop())
		require.Contains(t, script.end(), "ending unavailable\ncomplete\ngraphql-sse: ok")
	})
}
