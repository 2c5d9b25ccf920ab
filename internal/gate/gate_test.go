package gate_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/gate"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call sends a request through Front to a handler, and returns what it answered.
func call(g *gate.Gate, h http.Handler, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "https://atrium.test/thing/1", nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	g.Front(h).ServeHTTP(w, r)
	return w
}

func newGate(w *testkit.World, observe func(string, string, int, time.Duration)) *gate.Gate {
	return gate.New(gate.Options{
		Authn: authn.New(w.Store, w.Tokens), Limiter: ratelimit.NewMemory(), Clock: w.Store.Clock(),
		Log: slog.New(slog.DiscardHandler), Observe: observe,
	})
}

// A handler that panics has answered with 500, the id to quote and no word of the cause, and was counted.
func TestPanic(t *testing.T) {
	t.Parallel()
	seen := 0
	g := newGate(testkit.SQLiteWorld(t), func(route, method string, status int, _ time.Duration) {
		require.Equal(t, "/thing/{id}", route)
		require.Equal(t, http.MethodGet, method)
		require.Equal(t, http.StatusInternalServerError, status)
		seen++
	})
	w := call(g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		gate.SetRoute(w, "/thing/{id}")
		panic("the password is hunter2")
	}), nil)
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.NotContains(t, w.Body.String(), "hunter2")
	var body gate.Error
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	require.Equal(t, w.Header().Get("X-Request-Id"), body.RequestID)
	require.Equal(t, 1, seen)
}

// An answer that breaks off in a panic closes the connection, so that no client takes the half for the whole.
func TestPanicInAnAnswer(t *testing.T) {
	t.Parallel()
	seen := 0
	g := newGate(testkit.SQLiteWorld(t), func(string, string, int, time.Duration) { seen++ })
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		call(g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("the first ha"))
			panic("the password is hunter2")
		}), nil)
	})
	require.Equal(t, 1, seen)
}

// What came without TLS never reaches the handler.
func TestPlainHTTPStopsAtTheFront(t *testing.T) {
	t.Parallel()
	w := call(newGate(testkit.SQLiteWorld(t), nil), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("it was processed")
	}), func(r *http.Request) { r.TLS = nil })
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Contains(t, w.Body.String(), string(apperr.HTTPSRequired))
}

// A 401 says what gives nothing away about credentials, and one sentence for all that does.
func TestUnauthorizedSaysNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		g := newGate(w, nil)
		discard := slog.New(slog.DiscardHandler)
		h := g.Guard(gate.Cookies, http.NotFoundHandler(), func(w http.ResponseWriter, r *http.Request, err error) { gate.Fail(discard, w, r, err) })
		unknown, err := apikey.New(false)
		require.NoError(t, err)
		swapped := []byte(w.A.LiveKey)
		swapped[len(swapped)-1] ^= 1
		expired, _, err := w.Tokens.Issue(t.Context(), w.A.Owner.ID, w.A.Company.ID, "cli", []string{"services:read"}, -time.Minute)
		require.NoError(t, err)
		const (
			none      = "Send an API key in X-Api-Key, or an access token in Authorization: Bearer."
			several   = "Send one credential, not several."
			misfit    = "Send API keys in X-Api-Key, not as bearer tokens."
			malformed = "This is no API key: it was cut short or mistyped."
			invalid   = "The credential is not valid."
		)
		const bearer = `Bearer realm="atrium", error="invalid_token"`
		for name, c := range map[string]struct {
			headers            http.Header
			message, challenge string
		}{
			"none":                {http.Header{}, none, ""},
			"two keys":            {http.Header{"X-Api-Key": {w.A.LiveKey, w.A.LiveKey}}, several, ""},
			"key and token":       {http.Header{"X-Api-Key": {w.A.LiveKey}, "Authorization": {"Bearer x"}}, several, bearer},
			"two cookies":         {http.Header{"Cookie": {authn.SessionCookie + "=x; " + authn.SessionCookie + "=y"}}, several, ""},
			"key as bearer":       {http.Header{"Authorization": {"Bearer " + w.A.LiveKey}}, misfit, bearer},
			"lost key as bearer":  {http.Header{"Authorization": {"bearer " + unknown.Value()}}, misfit, bearer},
			"checksum":            {http.Header{"X-Api-Key": {string(swapped)}}, malformed, ""},
			"no key":              {http.Header{"X-Api-Key": {"hunter2"}}, malformed, ""},
			"unknown key":         {http.Header{"X-Api-Key": {unknown.Value()}}, invalid, ""},
			"unknown token":       {http.Header{"Authorization": {"Bearer hunter2"}}, invalid, bearer},
			"expired token":       {http.Header{"Authorization": {"Bearer " + expired}}, invalid, bearer},
			"unknown session":     {http.Header{"Cookie": {authn.SessionCookie + "=hunter2"}}, invalid, ""},
			"another scheme":      {http.Header{"Authorization": {"Basic aHVudGVyMg=="}}, invalid, ""},
			"another scheme, key": {http.Header{"Authorization": {w.A.LiveKey}}, invalid, ""},
		} {
			res := call(g, h, func(r *http.Request) { r.Header = c.headers })
			require.Equal(t, http.StatusUnauthorized, res.Code, name)
			require.JSONEq(t, `{"error": "unauthorized", "message": "`+c.message+`"}`, res.Body.String(), name)
			if c.challenge == "" {
				c.challenge = `Bearer realm="atrium"`
			}
			require.Equal(t, c.challenge, res.Header().Get("WWW-Authenticate"), name)
		}
	})
}

// A call has one credential or none; behind the guard there is a principal with the call's own id and address.
func TestGuard(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		g := newGate(w, nil)
		var refused error
		var got *principal.Principal
		h := g.Guard(gate.Tokens, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got, _ = principal.From(r.Context())
		}), func(w http.ResponseWriter, r *http.Request, err error) {
			refused = err
			gate.Fail(slog.New(slog.DiscardHandler), w, r, err)
		})
		for name, headers := range map[string]http.Header{
			"none":          {},
			"two keys":      {"X-Api-Key": {w.A.LiveKey, w.A.LiveKey}},
			"key and token": {"X-Api-Key": {w.A.LiveKey}, "Authorization": {"Bearer x"}},
			"other scheme":  {"Authorization": {"Basic " + w.A.LiveKey}},
			"session":       {"Cookie": {authn.SessionCookie + "=x"}},
		} {
			res := call(g, h, func(r *http.Request) { r.Header = headers })
			require.Equal(t, http.StatusUnauthorized, res.Code, name)
			require.NotEmpty(t, res.Header().Get("WWW-Authenticate"), name)
			require.Equal(t, apperr.Unauthorized, apperr.CodeOf(refused), name)
			require.Nil(t, got, name)
		}
		res := call(g, h, func(r *http.Request) { r.Header = http.Header{"X-Api-Key": {w.A.LiveKey}} })
		require.Equal(t, http.StatusOK, res.Code)
		require.Equal(t, "no-store", res.Header().Get("Cache-Control"))
		require.NotEmpty(t, res.Header().Get("RateLimit"))
		require.Equal(t, w.A.Company.ID, got.CompanyID)
		require.Equal(t, res.Header().Get("X-Request-Id"), got.RequestID)
		require.True(t, got.IP.IsValid())
	})
}
