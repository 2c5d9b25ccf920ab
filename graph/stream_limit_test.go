package graph_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"atrium/graph"
	"atrium/internal/gate"
	"atrium/internal/identity/authn"
	"atrium/internal/notify/feed"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// hasty is for tests of what otherwise takes seconds.
var hasty = graph.Timing{KeepAlive: 50 * time.Millisecond, Recheck: 20 * time.Millisecond}

// The open streams of a person, a company and a node are limited; one that closes makes room.
func TestStreamLimits(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		registry := prometheus.NewRegistry()
		metrics, err := graph.NewStreamMetrics(registry)
		require.NoError(t, err)
		s := serveStreams(t, w, func(o *graph.Options) {
			o.Streams, o.StreamMetrics = graph.StreamLimits{PerPrincipal: 2, PerCompany: 3, PerNode: 4}, metrics
		})
		refusedFor := func(as apitest.Caller, whose string) {
			t.Helper()
			o := s.subscribe(t, as, watchRequests, nil)
			require.Equal(t, http.StatusTooManyRequests, o.status)
			require.Contains(t, o.body, `"rate_limit_exceeded"`)
			require.Contains(t, o.body, whose)
			require.NotEmpty(t, o.header.Get("Retry-After"))
		}
		first := s.watch(t, s.A.Owner, watchRequests, nil)
		s.watch(t, s.A.OwnerKey, watchRequests, nil)
		refusedFor(s.A.Owner, "You may have 2 streams")
		s.watch(t, s.A.Member, watchRequests, nil)
		refusedFor(s.A.Agent, "Your company may have 3 streams")
		s.watch(t, s.B.Owner, watchRequests, nil)
		refusedFor(s.B.Member, "The server may have 4 streams")
		first.close()
		require.Eventually(t, func() bool {
			o := s.subscribe(t, s.A.Owner, watchRequests, nil)
			return o.status == http.StatusOK
		}, patience, 10*time.Millisecond)
		families, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, families, 2, "open and ended; none was sent")
		for _, f := range families {
			if f.GetName() == "atrium_graphql_streams_open" {
				require.InDelta(t, 4, f.GetMetric()[0].GetGauge().GetValue(), 0)
			}
		}
	})
}

// Where nodes share a Redis, a person's streams on all of them count together.
func TestStreamLimitsOverNodes(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	client, err := ratelimit.OpenRedis(testkit.Redis(t), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	node := func() *watchers {
		return serveStreams(t, w, func(o *graph.Options) {
			o.Streams, o.Seats = graph.StreamLimits{PerPrincipal: 2, PerCompany: 3}, ratelimit.NewSeats(client, discard)
		})
	}
	one, two := node(), node()
	one.watch(t, one.A.Owner, watchRequests, nil)
	second := two.watch(t, two.A.Owner, watchRequests, nil)
	for _, n := range []*watchers{one, two} {
		o := n.subscribe(t, n.A.Owner, watchRequests, nil)
		require.Equal(t, http.StatusTooManyRequests, o.status)
		require.Contains(t, o.body, "You may have 2 streams")
	}
	two.watch(t, two.A.Member, watchRequests, nil)
	o := one.subscribe(t, one.A.Agent, watchRequests, nil)
	require.Contains(t, o.body, "Your company may have 3 streams")
	one.watch(t, one.B.Owner, watchRequests, nil)
	second.close()
	require.Eventually(t, func() bool { return one.subscribe(t, one.A.Owner, watchRequests, nil).status == http.StatusOK }, patience, 10*time.Millisecond)
}

// An operation that opens no stream does not count.
func TestRefusedStreamsDoNotCount(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		for range 20 {
			require.Equal(t, http.StatusNotFound, s.subscribe(t, s.A.Owner, watchRequests, vars{"id": "req_x"}).status)
		}
		s.watch(t, s.A.Owner, watchRequests, nil)
	})
}

// served serves the same door by another server.
func (s *watchers) served(t *testing.T, set func(*http.Server)) *watchers {
	t.Helper()
	w := s.World
	g := gate.New(gate.Options{Authn: authn.New(w.Store, w.Tokens), Limiter: ratelimit.NewMemory(), Clock: w.Clock, Log: discard})
	ts := httptest.NewUnstartedServer(g.Front(s.door))
	set(ts.Config)
	ts.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelError)
	ts.EnableHTTP2 = true
	ts.StartTLS()
	t.Cleanup(ts.Close)
	inner := *s.Server
	inner.URL, inner.HTTP = ts.URL, ts.Client()
	return &watchers{Server: &inner, door: s.door}
}

// Idle streams are kept alive, and outlive the server's timeouts for other calls, over HTTP/1.1 and HTTP/2.
func TestStreamsOutliveTheServersTimeouts(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	s := serveStreams(t, w)
	s.door.Hasten(graph.Timing{KeepAlive: 50 * time.Millisecond, Write: time.Second})
	h := opened(t, s.Server)
	timed := s.served(t, func(c *http.Server) { c.ReadTimeout, c.WriteTimeout = 2*time.Second, 2*time.Second })
	for name, client := range map[string]*http.Client{"HTTP/2": timed.HTTP, "HTTP/1.1": timed.HTTP1(t)} {
		o := timed.subscribeBy(t, client, s.A.Owner, watchRequests, nil)
		require.Equal(t, http.StatusOK, o.status, name)
		for range 60 { // at least three seconds
			select {
			case <-o.pings:
			case <-time.After(patience):
				require.FailNow(t, "no sign of life", name)
			}
		}
		h.filed(t, s.Server, principal.Owner, name)
		require.Equal(t, name, o.result(t).get("data.requestChanged.request.title"))
		o.close()
	}
}

// A client that does not read is disconnected, and does not delay others.
func TestSlowReaders(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		s.door.Hasten(graph.Timing{Write: 300 * time.Millisecond})
		h := opened(t, s.Server)
		narrow := s.served(t, func(c *http.Server) { // the system would keep megabytes for a client that does not read
			c.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
				_ = conn.(*tls.Conn).NetConn().(*net.TCPConn).SetWriteBuffer(16 << 10)
				return ctx
			}
		})
		client := narrow.HTTP1(t)
		tr, ok := client.Transport.(*http.Transport)
		require.True(t, ok)
		stuck := make(chan *slowConn, 1)
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			_ = c.(*net.TCPConn).SetReadBuffer(4096)
			slow := &slowConn{Conn: c, resume: make(chan struct{})}
			stuck <- slow
			return slow, nil
		}
		slow := narrow.subscribeBy(t, client, s.A.Owner, `subscription { requestChanged { request { title description fields } } }`, nil)
		require.Equal(t, http.StatusOK, slow.status)
		quick := s.watch(t, s.A.Owner, watchRequests, nil)
		conn := <-stuck
		conn.stop()
		long := strings.Repeat("x", 9000)
		began := time.Now()
		for round := 0; round < 100 && s.door.OpenStreams() > 1; round++ {
			const together = 40
			s.Write(t, func(_ context.Context, tx *store.Tx) error {
				for i := range together {
					if err := filedBehind(s, h, tx, fmt.Sprint(round, i), long); err != nil {
						return err
					}
				}
				return nil
			})
			for range together {
				quick.result(t)
			}
		}
		require.Equal(t, 1, s.door.OpenStreams(), "the slow one is gone")
		t.Logf("dropped after %s", time.Since(began))
		conn.free()
	})
}

// filedBehind files a request directly in the database, with the audit entry by which the feed finds it.
func filedBehind(s *watchers, h *shop, tx *store.Tx, title, description string) error {
	ctx := s.World.As(s.World.A, principal.Owner)
	r, err := tx.Request.Create().SetTitle(title).SetDescription(description).SetServiceID(h.service.ID).SetOfferingID(h.offering.ID).
		SetCreatedBy(s.A.Owner.UserID).Save(ctx)
	if err != nil {
		return err
	}
	return audited(ctx, tx, r.ID)
}

// audited writes the audit entry of a new request.
func audited(ctx context.Context, tx *store.Tx, request string) error {
	return tx.AuditEntry.Create().SetActorType("user").SetActorID("u").SetActorName("U").SetAction("request.created").SetResourceType("Request").
		SetResourceID(request).SetOutcome("allowed").SetIP("").SetUserAgent("").SetRequestID("").Exec(ctx)
}

// slowConn is a connection whose client does not read while it is stopped.
type slowConn struct {
	net.Conn
	mu      sync.Mutex
	stopped bool
	resume  chan struct{}
}

func (c *slowConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	if stopped {
		<-c.resume
	}
	return c.Conn.Read(b)
}

func (c *slowConn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}

func (c *slowConn) free() { close(c.resume) }

// When more changes wait than a stream can hold, it ends with an error; no change is lost silently.
func TestStreamsThatFallBehind(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s, counted := counted(t, w)
		o := s.watch(t, s.A.Owner, watchRequests, nil)
		release := s.door.HoldStreams()
		s.Write(t, func(_ context.Context, tx *store.Tx) error {
			ctx := s.World.As(s.World.A, principal.Owner)
			for i := range 1001 {
				if err := audited(ctx, tx, fmt.Sprintf("req_%026d", i)); err != nil {
					return err
				}
			}
			return nil
		})
		counted("atrium_feed_subscriptions_lost_total", 1)
		release()
		require.Equal(t, "unavailable", o.ending(t))
	})
}

// counted serves a world's streams with a feed whose metrics a test can wait for.
func counted(t *testing.T, w *testkit.World) (s *watchers, await func(counter string, n int)) {
	t.Helper()
	registry := prometheus.NewRegistry()
	f, err := feed.New(feed.Options{Store: w.Store, Log: discard, Metrics: registry})
	require.NoError(t, err)
	return serveStreams(t, w, func(o *graph.Options) { o.Feed = f }), func(counter string, n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			families, err := registry.Gather()
			require.NoError(t, err)
			for _, f := range families {
				if f.GetName() == counter {
					return f.GetMetric()[0].GetCounter().GetValue() >= float64(n)
				}
			}
			return false
		}, 2*patience, time.Millisecond)
	}
}

// A server that stops ends its streams, each with an error, and opens no others.
func TestStoppingEndsStreams(t *testing.T) {
	eachStreams(t, func(t *testing.T, s *watchers) {
		var open []*opening
		for range 5 {
			open = append(open, s.watch(t, s.A.Owner, watchRequests, nil))
		}
		s.door.EndStreams()
		for _, o := range open {
			require.Equal(t, "unavailable", o.ending(t))
		}
		require.Equal(t, http.StatusServiceUnavailable, s.subscribe(t, s.A.Owner, watchRequests, nil).status)
		ask(t, s.Server, s.A.Owner, `{ viewer { id } }`, nil)
	})
}

// The restriction of callers with a cookie to trusted documents also holds for streams.
func TestTrustedStreams(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		sum := sha256.Sum256([]byte(watchRequests))
		trusted := graph.Documents{hex.EncodeToString(sum[:]): watchRequests}
		s := serveStreams(t, w, func(o *graph.Options) { o.Trusted = trusted })
		page := s.Session(t, w.A.Owner)
		s.watch(t, page, watchRequests, nil)
		require.Equal(t, http.StatusBadRequest, s.subscribe(t, page, watchDeliveries, nil).status)
		s.watch(t, s.A.Owner, watchDeliveries, nil)
	})
}
