package apitest

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/company"
	"atrium/internal/agent"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/worker"
	"atrium/internal/gate"
	"atrium/internal/identity/authn"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Parts are what an API's handler is built from.
type Parts struct {
	Engine  *op.Engine
	Gate    *gate.Gate
	Log     *slog.Logger
	BaseURL string
}

// Door builds an API's handler. Tests pass it to Serve, because this package imports no API.
type Door func(Parts) (http.Handler, error)

// Server is an API over TLS with a world of its own.
type Server struct {
	World *testkit.World
	URL   string
	HTTP  *http.Client
	A, B  *Callers

	validator func() *ResponseValidator // of the served document, compiled at the first check
}

// Serve serves an API for the world until the test ends. Both companies get rate limits that no test reaches.
func Serve(tb testing.TB, w *testkit.World, door Door) *Server {
	tb.Helper()
	log := slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	agents := agent.NewDoor(w.Engine, worker.Models{})
	w.Engine.Agents = agents
	w.Engine.Events = append(w.Engine.Events, runs.Follow(w.Store, w.Queue))
	g := gate.New(gate.Options{Authn: authn.New(w.Store, w.Tokens), Limiter: ratelimit.NewMemory(), Clock: w.Store.Clock(), Log: log, Agents: agents})
	handler, err := door(Parts{Engine: w.Engine, Gate: g, Log: log, BaseURL: testkit.BaseURL})
	require.NoError(tb, err)
	ts := httptest.NewUnstartedServer(g.Front(handler))
	ts.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelError) // errors of callers who hang up
	ts.EnableHTTP2 = true
	ts.StartTLS()
	client := ts.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	tb.Cleanup(func() {
		client.CloseIdleConnections()
		ts.Close()
	})
	s := &Server{World: w, URL: ts.URL, HTTP: client}
	// Scenario looks up the audit entries of each call. Without an index that is a third of the processor's time of a test with many.
	s.Write(tb, func(ctx context.Context, tx *store.Tx) error {
		return tx.ExecRaw(ctx, "CREATE INDEX IF NOT EXISTS audit_entries_of_calls ON audit_entries (request_id)")
	})
	s.Limits(tb, w.A, 1_000_000, 100_000_000)
	s.Limits(tb, w.B, 1_000_000, 100_000_000)
	s.validator = sync.OnceValue(func() *ResponseValidator { return validatorOf(tb, s) })
	s.A, s.B = s.callers(tb, w.A), s.callers(tb, w.B)
	return s
}

// HTTP1 returns a client that speaks HTTP/1.1 over TLS; it is closed with the test.
func (s *Server) HTTP1(tb testing.TB) *http.Client {
	tb.Helper()
	base, ok := s.HTTP.Transport.(*http.Transport)
	require.True(tb, ok)
	tr := base.Clone()
	tr.ForceAttemptHTTP2 = false
	tr.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	tr.TLSClientConfig.NextProtos = []string{"http/1.1"}
	tb.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: s.HTTP.CheckRedirect}
}

// Limits gives a company rate limits of its own; zero restores its plan's.
func (s *Server) Limits(tb testing.TB, t *testkit.Tenant, perMinute, perDay int) {
	tb.Helper()
	s.Write(tb, func(ctx context.Context, tx *store.Tx) error {
		u := tx.Company.Update().Where(company.ID(t.Company.ID))
		if perMinute == 0 {
			u.ClearRatePerMinute().ClearRatePerDay()
		} else {
			u.SetRatePerMinute(perMinute).SetRatePerDay(perDay)
		}
		return u.Exec(ctx)
	})
	s.World.Store.AuthorityChanged()
}

// Write changes rows directly in the database, across companies.
func (s *Server) Write(tb testing.TB, fn func(context.Context, *store.Tx) error) {
	tb.Helper()
	require.NoError(tb, s.World.Store.Write(System(), fn))
}

// System returns a context that sees the rows of all companies.
func System() context.Context {
	return principal.System(context.Background(), "a test looks across companies")
}

// validators caches the compiled validator of the last document: all servers of a process serve the same.
var validators struct {
	sync.Mutex
	document []byte
	compiled *ResponseValidator
}

func validatorOf(tb testing.TB, s *Server) *ResponseValidator {
	tb.Helper()
	res, err := s.HTTP.Get(s.URL + "/openapi.json")
	require.NoError(tb, err)
	defer res.Body.Close()
	document, err := io.ReadAll(res.Body)
	require.NoError(tb, err)
	require.Equal(tb, http.StatusOK, res.StatusCode, "%s", document)
	validators.Lock()
	defer validators.Unlock()
	if validators.compiled == nil || !bytes.Equal(validators.document, document) {
		v, err := NewResponseValidator(document)
		require.NoError(tb, err)
		validators.document, validators.compiled = document, v
	}
	return validators.compiled
}
