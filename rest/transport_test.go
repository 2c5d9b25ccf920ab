package rest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/rest"
)

// TestPlainHTTP checks that nothing is processed that came without TLS, on any port.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	g := gate.New(gate.Options{Authn: authn.New(w.Store, w.Tokens), Limiter: ratelimit.NewMemory(), Clock: w.Store.Clock(), Log: w.Engine.Log})
	api, err := rest.New(rest.Options{Engine: w.Engine, Gate: g, Log: w.Engine.Log})
	require.NoError(t, err)
	handler := g.Front(api)
	for _, path := range []string{"/v1/services", "/v1/nothing", "/docs", "/openapi.json"} {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://atrium.test"+path, strings.NewReader(`{"name":"x"}`))
		r.Header.Set("X-Api-Key", w.A.LiveKey)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		require.Equal(t, http.StatusForbidden, rec.Code, path)
		require.Contains(t, rec.Body.String(), `"error":"https_required"`)
		require.Empty(t, rec.Header().Get("RateLimit"), "the key was not looked up")
		require.NotEmpty(t, rec.Header().Get("X-Request-Id"))
	}
	n, err := w.Store.Reader().Service.Query().Count(apitest.System())
	require.NoError(t, err)
	require.Zero(t, n)
}

// TestHTTP1 checks that callers without HTTP/2 get the same answers, and learn that a body is too large while they are still
// sending it.
func TestHTTP1(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t, testkit.SQLiteWorld(t), door)
	client := s.HTTP1(t)
	s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Client: client, Method: http.MethodPost, Path: "/v1/services", Body: body{"name": "x"}})
	for _, size := range []int{1<<20 + 1, 2 << 20, 6 << 20} {
		for _, declared := range []bool{true, false} {
			var b io.Reader = strings.NewReader(strings.Repeat(" ", size))
			if !declared {
				b = io.MultiReader(b) // hides the length: chunked
			}
			r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/v1/services", b)
			require.NoError(t, err)
			r.Header.Set("X-Api-Key", s.A.OwnerKey.Value)
			r.Header.Set("Content-Type", "application/json")
			res, err := client.Do(r)
			require.NoError(t, err, "%d bytes, declared: %t", size, declared)
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, "%s", text)
		}
	}
}
