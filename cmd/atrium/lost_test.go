package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A node that loses its database says so at both doors, by 503 and `unavailable`, is not ready, and works again once the database is
// back, without a restart.
func TestDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	to, err := url.Parse(p.url)
	require.NoError(t, err)
	way := relayTo(t, to.Host)
	to.Host = way.address
	p.url = to.String()
	n := p.serve()
	first, c := n.firstRun(), n.client()
	laptop := first.laptop("x")
	ready := func(status int) func() bool {
		return func() bool {
			a, err := send(http.DefaultClient, "GET", n.admin+"/readyz", "", "")
			return err == nil && a.status == status
		}
	}
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)

	way.cut()
	require.Eventually(t, ready(503), patience, step)
	for _, call := range [][2]string{{"GET", "/v1/requests"}, {"POST", "/v1/requests"}} {
		body := map[string]string{"POST": laptop}[call[0]]
		a := n.call(c, 503, call[0], call[1], first.LiveKey, body)
		require.Contains(t, a.body, `"error":"unavailable"`)
		require.Equal(t, "1", a.header.Get("Retry-After"))
	}
	require.Contains(t, n.call(c, 503, "POST", "/graphql", first.LiveKey, `{"query":"{ services { edges { node { id } } } }"}`).body, `"code":"unavailable"`)

	way.mend()
	require.Eventually(t, ready(200), patience, step)
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)
}

// A node whose clock differs from its database's by more than five seconds says so where operators look, and works on: where it is
// the database's clock that is wrong, all nodes would be gone at once.
func TestClockThatDisagrees(t *testing.T) {
	t.Parallel()
	p := onPostgres(t)
	n := p.serve()
	first := n.firstRun()
	ready := func() string {
		a, err := send(http.DefaultClient, "GET", n.admin+"/readyz", "", "")
		require.NoError(t, err)
		require.Equal(t, 200, a.status)
		return a.body
	}
	require.JSONEq(t, `{"status":"ready"}`, ready())
	// What a session of the database takes for the time.
	conn, err := pgx.Connect(t.Context(), p.url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	for _, statement := range []string{
		"CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '7 seconds' $$",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$",
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	n.stop()
	n = p.serve()
	require.Contains(t, ready(), "they differ by")
	n.call(n.client(), 201, "POST", "/v1/requests", first.LiveKey, first.laptop("x"))
}

// relay hands connections through, until it is cut.
type relay struct {
	address string

	mu    sync.Mutex
	whole bool
	open  map[net.Conn]bool
}

func relayTo(t *testing.T, target string) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{address: ln.Addr().String(), whole: true, open: map[net.Conn]bool{}}
	var served sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		r.cut()
		served.Wait()
	})
	served.Go(func() {
		for {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", target)
			if err != nil || !r.keep(from, to) {
				_ = from.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
				served.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = from.Close()
					_ = to.Close()
				})
			}
		}
	})
	return r
}

// keep notes connections, unless the relay is cut.
func (r *relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		if !r.whole {
			_ = c.Close()
		}
		r.open[c] = true
	}
	return r.whole
}

// cut ends all connections and takes no more.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole = false
	for c := range r.open {
		_ = c.Close()
	}
	clear(r.open)
}

// mend takes connections again.
func (r *relay) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole = true
}
