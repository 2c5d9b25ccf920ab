package provider_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/oauthclient"
	"atrium/internal/identity"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// from sends a request as a page of an origin would.
func (s *idp) from(origin, method, path string) http.Header {
	s.t.Helper()
	req, err := http.NewRequest(method, s.issuer+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Origin", origin)
	if method == http.MethodOptions {
		req.Header.Set("Access-Control-Request-Method", "POST")
		req.Header.Set("Access-Control-Request-Headers", "authorization")
	}
	h := s.do(s.srv.Client(), req).Header
	require.Empty(s.t, h.Get("Access-Control-Allow-Credentials"), "never with cookies")
	return h
}

var registeredOnly = []string{"/oauth2/token", "/oauth2/userinfo", "/oauth2/revoke"}

// Pages of registered clients may read the answers of the token and userinfo endpoints. Pages of any origin may read public
// documents. All other answers are readable for no other origin.
func TestCORS(t *testing.T) {
	once(t, func(t *testing.T, s *idp) {
		for _, path := range registeredOnly {
			for _, method := range []string{http.MethodPost, http.MethodOptions} {
				for _, origin := range []string{"https://app.test", testkit.BaseURL, "http://127.0.0.1:5173", "http://127.0.0.1"} {
					h := s.from(origin, method, path)
					require.Equal(t, origin, h.Get("Access-Control-Allow-Origin"), path)
					require.Contains(t, h.Values("Vary"), "Origin")
					if method == http.MethodOptions {
						require.Contains(t, h.Get("Access-Control-Allow-Headers"), "Authorization")
						require.Contains(t, h.Get("Access-Control-Allow-Methods"), "POST")
					}
				}
				for _, origin := range []string{
					"https://evil.test", "null", "http://app.test", "https://app.test:8443", "https://app.test.evil.test", "https://evil.test/https://app.test",
					"https://APP.test", "http://127.0.0.1.evil.test", "http://[::1]:99", "http://localhost:5173", "https://app.test/", "https://x@app.test", "",
				} {
					h := s.from(origin, method, path)
					require.Empty(t, h.Get("Access-Control-Allow-Origin"), "%s from %q", path, origin)
					require.Empty(t, h.Get("Access-Control-Allow-Methods"), "%s from %q", path, origin)
				}
			}
		}
		for _, path := range []string{"/.well-known/openid-configuration", "/oauth2/keys"} {
			require.Equal(t, "*", s.from("https://evil.test", http.MethodGet, path).Get("Access-Control-Allow-Origin"), path)
			require.Equal(t, "*", s.from("https://evil.test", http.MethodOptions, path).Get("Access-Control-Allow-Origin"), path)
		}
		for _, path := range []string{"/oauth2/authorize", "/oauth2/end-session", "/oauth2/introspect"} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
				require.Empty(t, s.from("https://app.test", method, path).Get("Access-Control-Allow-Origin"), path)
			}
		}
	})
}

// A newly registered client can be used from its pages at once. The origins of a deleted one may stay allowed for a while,
// because it gets no tokens anyway.
func TestCORSFollowsClients(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		require.Empty(t, s.from("https://new.test", http.MethodOptions, "/oauth2/token").Get("Access-Control-Allow-Origin"))
		c := s.register(identity.CreateClientInput{Name: "New", RedirectURIs: []string{"https://new.test/cb"}})
		require.Eventually(t, func() bool {
			return s.from("https://new.test", http.MethodOptions, "/oauth2/token").Get("Access-Control-Allow-Origin") == "https://new.test"
		}, 10*time.Second, 20*time.Millisecond)
		s.change(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.OAuthClient.Delete().Where(oauthclient.ID(c.ID)).Exec(ctx)
			return err
		})
		r := s.post("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {c.ID}})
		require.Equal(t, http.StatusUnauthorized, r.StatusCode)
	})
}
