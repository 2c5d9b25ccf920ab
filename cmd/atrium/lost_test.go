package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A node that loses its database answers 503 with `unavailable` on both APIs and is not ready. It works again once the database
// is back, without a restart.
func TestDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	n, way := servedThrough(t)
	first, c := n.firstRun(), n.client()
	laptop := first.laptop("x")
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)

	way.cut()
	require.Eventually(t, n.says(503), patience, step)
	for _, call := range [][2]string{{"GET", "/v1/requests"}, {"POST", "/v1/requests"}} {
		body := map[string]string{"POST": laptop}[call[0]]
		a := n.call(c, 503, call[0], call[1], first.LiveKey, body)
		require.Contains(t, a.body, `"error":"unavailable"`)
		require.Equal(t, "1", a.header.Get("Retry-After"))
	}
	require.Contains(t, n.call(c, 503, "POST", "/graphql", first.LiveKey, `{"query":"{ services { edges { node { id } } } }"}`).body, `"code":"unavailable"`)

	way.mend()
	require.Eventually(t, n.says(200), patience, step)
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)
}

// A database that accepts calls and answers nothing, as behind a network that loses packets, counts as lost: every API says so
// within ten seconds, at once from then on, and works again when the database answers.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	n, way := servedThrough(t)
	first, c := n.firstRun(), n.client()
	laptop := first.laptop("x")
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)
	asks := []struct{ method, path, secret, body, media string }{
		{"GET", "/v1/requests", first.LiveKey, "", ""},
		{"POST", "/v1/requests", first.LiveKey, laptop, "application/json"},
		{"POST", "/graphql", first.LiveKey, `{"query":"{ services { edges { node { id } } } }"}`, "application/json"},
		{"POST", "/v1/webhooks/inbound/whk_1", "", "{}", "application/json"},
		{"POST", "/oauth2/token", "", "grant_type=refresh_token&client_id=x&refresh_token=x", "application/x-www-form-urlencoded"},
		{"POST", "/oauth2/revoke", "", "client_id=x&token=x", "application/x-www-form-urlencoded"},
		{"GET", "/oauth2/keys", "", "", ""},
		{"GET", "/oauth2/authorize?client_id=x", "", "", ""},
	}
	round := func(most time.Duration) {
		var asked sync.WaitGroup
		for _, a := range asks {
			asked.Go(func() {
				began := time.Now()
				got, err := send(c, a.method, n.base+a.path, a.secret, a.body, "Content-Type", a.media)
				if assert.NoError(t, err, a.path) {
					assert.Equal(t, 503, got.status, "%s %s: %s", a.method, a.path, got.body)
					assert.NotEmpty(t, got.header.Get("Retry-After"), a.path)
					assert.Less(t, time.Since(began), most, a.path)
				}
			})
		}
		asked.Wait()
	}
	way.hold()
	round(10 * time.Second)
	round(3 * time.Second)
	require.Eventually(t, n.says(503), patience, step)

	way.release()
	require.Eventually(t, n.says(200), patience, step)
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)
}

// While another process writes to SQLite's file for long, as an import does, calls that write get 503 within ten seconds, however many
// wait, and reads go on. Afterwards everything works, without a restart.
func TestDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n := p.serve()
	first, c := n.firstRun(), n.client()
	laptop := first.laptop("x")
	db := openSQLite(t, p)
	defer db.Close() //nolint:errcheck // the test is over
	other, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer other.Close() //nolint:errcheck // the test is over
	_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	var asked sync.WaitGroup
	for range 10 {
		asked.Go(func() {
			began := time.Now()
			got, err := send(c, "POST", n.base+"/v1/requests", first.LiveKey, laptop)
			if assert.NoError(t, err) {
				assert.Equal(t, 503, got.status, got.body)
				assert.Less(t, time.Since(began), 10*time.Second)
			}
		})
	}
	n.call(c, 200, "GET", "/v1/requests", first.LiveKey, "")
	asked.Wait()
	_, err = other.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.Eventually(t, n.says(200), patience, step)
	n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)
}

// A node whose clock differs from its database's by more than five seconds reports this to operators and keeps working: if the
// database's clock is wrong, all nodes would fail at once.
func TestClockThatDisagrees(t *testing.T) {
	t.Parallel()
	p := onPostgres(t).prepared()
	n := p.serve()
	first := n.firstRun()
	ready := func() string {
		a, err := send(http.DefaultClient, "GET", n.admin+"/readyz", "", "")
		require.NoError(t, err)
		require.Equal(t, 200, a.status)
		return a.body
	}
	require.JSONEq(t, `{"status":"ready"}`, ready())
	// Overrides the time that new database sessions see.
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
	const differ = "the clock does not agree with the database's"
	require.Eventually(t, func() bool { return strings.Contains(n.err.String(), differ) }, patience, step, "the log says so unasked")
	require.Contains(t, ready(), "they differ by")
	require.Equal(t, 1, strings.Count(n.err.String(), differ), "once, not at every look at /readyz")
	n.call(n.client(), 201, "POST", "/v1/requests", first.LiveKey, first.laptop("x"))
}

// servedThrough starts a node that reaches its database through a relay.
func servedThrough(t *testing.T) (*node, *relay) {
	t.Helper()
	p := onPostgres(t).prepared()
	to, err := url.Parse(p.url)
	require.NoError(t, err)
	way := relayTo(t, to.Host)
	to.Host = way.address
	p.url = to.String()
	return p.serve(), way
}

// says returns a function that reports whether /readyz answers with the status.
func (n *node) says(status int) func() bool {
	return func() bool {
		a, err := send(http.DefaultClient, "GET", n.admin+"/readyz", "", "")
		return err == nil && a.status == status
	}
}

// relay forwards connections until it is cut.
type relay struct {
	address string

	mu    sync.Mutex
	held  sync.RWMutex // locked while nothing is forwarded
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
					_, _ = io.Copy(gated{pair[0], r}, pair[1])
					_ = from.Close()
					_ = to.Close()
				})
			}
		}
	})
	return r
}

// keep records connections. It returns false if the relay is cut.
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

// cut closes all connections and accepts no more.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole = false
	for c := range r.open {
		_ = c.Close()
	}
	clear(r.open)
}

// mend accepts connections again.
func (r *relay) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole = true
}

// hold accepts connections but forwards nothing.
func (r *relay) hold() { r.held.Lock() }

// release forwards what has arrived meanwhile.
func (r *relay) release() { r.held.Unlock() }

// gated is a connection whose writes block while its relay is held.
type gated struct {
	net.Conn
	relay *relay
}

func (g gated) Write(b []byte) (int, error) {
	g.relay.held.RLock()
	defer g.relay.held.RUnlock()
	return g.Conn.Write(b)
}
