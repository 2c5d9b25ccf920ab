package gate_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/oauthclient"
	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// crossing asks a guarded door as a page of an origin does, and returns the answer's status and headers.
func crossing(g *gate.Gate, origin, method string) (int, http.Header) {
	door := g.Guard(gate.Cookies, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }),
		func(w http.ResponseWriter, r *http.Request, err error) {
			gate.Fail(slog.New(slog.DiscardHandler), w, r, err)
		})
	w := call(g, door, func(r *http.Request) {
		r.Method = method
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if method == http.MethodOptions {
			r.Header.Set("Access-Control-Request-Method", "PATCH")
			r.Header.Set("Access-Control-Request-Headers", "authorization,content-type,if-match,x-api-key")
		}
	})
	return w.Code, w.Header()
}

// Pages of the clients' origins read what they are answered, refusals included, and may send what takes a preflight, but
// neither cookies nor keys. Nobody else is told anything.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		origins := identity.NewOrigins(w.Store, slog.New(slog.DiscardHandler), testkit.BaseURL)
		g := gate.New(gate.Options{
			Authn: authn.New(w.Store, w.Tokens), Limiter: ratelimit.NewMemory(), Clock: w.Store.Clock(), Log: slog.New(slog.DiscardHandler), Origins: origins.Has,
		})
		_, h := crossing(g, "https://spa.test", http.MethodOptions)
		require.Empty(t, h.Get("Access-Control-Allow-Origin"), "nobody has registered it")
		testkit.Run(t, w, w.As(w.B, principal.Owner), identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{
			"https://spa.test/cb", "https://other.test:8443/cb", "http://localhost/cb", "http://[::1]:4000/cb", "com.example.app://cb", "https://[2001:db8::1]/",
		}})
		require.Eventually(t, func() bool { return origins.Has(t.Context(), "https://spa.test") }, 10*time.Second, 10*time.Millisecond)

		for _, origin := range []string{
			"https://spa.test", "https://other.test:8443", "http://localhost", "http://localhost:5173", "http://[::1]:9", "https://[2001:db8::1]", testkit.BaseURL,
		} {
			status, h := crossing(g, origin, http.MethodOptions)
			require.Equal(t, http.StatusNoContent, status, origin)
			require.Equal(t, []string{origin}, h.Values("Access-Control-Allow-Origin"))
			require.Contains(t, h.Get("Access-Control-Allow-Methods"), "PATCH")
			require.Contains(t, h.Get("Access-Control-Allow-Headers"), "Authorization")
			require.NotContains(t, h.Get("Access-Control-Allow-Headers"), "Api-Key")
			require.Empty(t, h.Get("RateLimit"), "a preflight counts against nothing")
			require.Empty(t, h.Get("Access-Control-Allow-Credentials"))
			status, h = crossing(g, origin, http.MethodGet)
			require.Equal(t, http.StatusUnauthorized, status, origin)
			require.Equal(t, []string{origin}, h.Values("Access-Control-Allow-Origin"), "a page may read why it is refused")
			require.Contains(t, h.Get("Access-Control-Expose-Headers"), "ETag")
			require.Equal(t, []string{"Origin"}, h.Values("Vary"))
			require.Empty(t, h.Get("Access-Control-Allow-Credentials"))
		}
		for _, origin := range []string{
			"", "null", "https://evil.test", "http://spa.test", "https://spa.test:8443", "https://SPA.test", "https://spa.test.evil.test", "https://spa.test/",
			"https://u@spa.test", "http://127.0.0.2", "http://localhost.evil.test", "https://localhost", "com.example.app://cb", "com.example.app:", "https://other.test",
			"https://spa.test, https://evil.test", "https://spa.test https://evil.test", "*", "https://*", "http://localhost:5173/",
		} {
			for _, method := range []string{http.MethodOptions, http.MethodGet} {
				status, h := crossing(g, origin, method)
				require.Equal(t, http.StatusUnauthorized, status, origin)
				for name := range h {
					require.NotContains(t, name, "Access-Control", "%s from %q", method, origin)
				}
			}
		}

		require.NoError(t, w.Store.Write(w.As(w.B, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.OAuthClient.Delete().Where(oauthclient.Name("App")).Exec(ctx)
			tx.AuthorityChanged()
			return err
		}))
		again := identity.NewOrigins(w.Store, slog.New(slog.DiscardHandler), testkit.BaseURL)
		require.False(t, again.Has(t.Context(), "https://spa.test"))
		require.True(t, again.Has(t.Context(), testkit.BaseURL))
	})
}

// A database that does not answer makes no page wait, and forgets nobody.
func TestOriginsOutliveTheDatabase(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	origins := identity.NewOrigins(w.Store, slog.New(slog.DiscardHandler), testkit.BaseURL)
	require.True(t, origins.Has(t.Context(), testkit.BaseURL))
	w.Store.AuthorityChanged()
	require.NoError(t, w.Store.Close())
	require.False(t, origins.Has(t.Context(), "https://new.test"))
	require.True(t, origins.Has(t.Context(), testkit.BaseURL))
}

// A caller who leaves while the clients are read does not keep others from the answer.
func TestOriginsOutliveTheirReader(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	testkit.Run(t, w, w.As(w.A, principal.Owner), identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"https://spa.test/cb"}})
	origins := identity.NewOrigins(w.Store, slog.New(slog.DiscardHandler), testkit.BaseURL)
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.True(t, origins.Has(gone, "https://spa.test"))
}
