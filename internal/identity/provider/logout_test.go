package provider_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/session"
	"atrium/internal/identity"
	"atrium/internal/platform/store"
)

// signedInBrowser returns a browser that signed in for the public client, with its tokens.
func (s *idp) signedInBrowser() (*http.Client, granted) {
	s.t.Helper()
	c := s.browser()
	q := s.answered(c, s.authorizeURL(nil))
	r := s.exchange(q.Get("code"), nil)
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
	return c, tokensOf(s.t, r)
}

func (s *idp) endSessionURL(params url.Values) string {
	return s.issuer + "/oauth2/end-session?" + params.Encode()
}

// alive reports whether the tokens are still valid.
func (s *idp) alive(g granted) bool {
	s.t.Helper()
	return s.userinfo(g.access).StatusCode == http.StatusOK
}

// A client that sends the person's ID token signs the person out without a question: the sign-in, its grants and its web
// sessions end, and the browser is redirected to the registered address with the state.
func TestLogoutByClient(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		browser, tokens := s.signedInBrowser()
		other := s.granted(nil) // of another sign-in
		c, err := s.tokens.Verify(t.Context(), tokens.access)
		require.NoError(t, err)
		g, err := s.Store.Reader().Grant.Get(s.system(), c.Grant)
		require.NoError(t, err)
		s.change(func(ctx context.Context, tx *store.Tx) error {
			now := s.Clock.Now()
			return tx.Session.Create().SetCompanyID(c.Company).SetUserID(c.Subject).SetSignInID(g.SignInID).SetTokenHash([]byte("s")).
				SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(now.Add(time.Hour)).Exec(ctx)
		})
		s.Clock.SetOffset(4 * time.Minute)
		r := s.get(browser, s.endSessionURL(url.Values{"id_token_hint": {tokens.id}, "post_logout_redirect_uri": {afterward}, "state": {"s&t"}}))
		require.Equal(t, http.StatusSeeOther, r.StatusCode, r.body)
		require.Equal(t, afterward+"?state=s%26t", r.Header.Get("Location"))
		require.False(t, s.alive(tokens))
		require.Equal(t, "invalid_grant", s.refresh(tokens.refresh).errorCode(t))
		require.True(t, s.alive(other))
		signIn, err := s.Store.Reader().SignIn.Get(s.system(), g.SignInID)
		require.NoError(t, err)
		require.NotNil(t, signIn.EndedAt)
		row, err := s.Store.Reader().Session.Query().Where(session.SignInID(g.SignInID)).Only(s.system())
		require.NoError(t, err)
		require.NotNil(t, row.EndedAt)

		r = s.get(browser, s.endSessionURL(url.Values{"id_token_hint": {tokens.id}}))
		require.Equal(t, http.StatusOK, r.StatusCode, "again, with nowhere to go")
		require.Contains(t, r.body, "signed out")
	})
}

// An expired ID token still identifies the sign-in.
func TestLogoutByExpiredHint(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		_, tokens := s.signedInBrowser()
		s.Clock.SetOffset(24 * time.Hour)
		r := s.get(s.browser(), s.endSessionURL(url.Values{"id_token_hint": {tokens.id}, "client_id": {s.public.ID}, "post_logout_redirect_uri": {afterward}}))
		require.Equal(t, afterward, r.Header.Get("Location"))
		require.Equal(t, "invalid_grant", s.refresh(tokens.refresh).errorCode(t))
	})
}

// Logout CSRF: a page that sends the browser to the endpoint does not sign the person out. The person is asked, and only the
// form of the confirmation page counts as agreement.
func TestLogoutIsConfirmed(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		browser, tokens := s.signedInBrowser()
		params := url.Values{"client_id": {s.public.ID}, "post_logout_redirect_uri": {afterward}, "state": {`"><script>`}}
		r := s.get(browser, s.endSessionURL(params))
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Contains(t, r.body, `name="confirm" value="yes"`)
		require.Contains(t, r.body, `action="/oauth2/end-session"`, "without the query: a form's parameters are all in its body")
		require.NotContains(t, r.body, "<script>")
		require.Contains(t, r.Header.Get("Content-Security-Policy"), "form-action 'self' https://app.test")
		require.Contains(t, r.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")

		send := func(confirm, site, origin string) reply {
			form := url.Values{"client_id": {s.public.ID}, "post_logout_redirect_uri": {afterward}, "state": {"s"}}
			if confirm != "" {
				form.Set("confirm", confirm)
			}
			req, err := http.NewRequest(http.MethodPost, s.issuer+"/oauth2/end-session", strings.NewReader(form.Encode()))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if site != "" {
				req.Header.Set("Sec-Fetch-Site", site)
			}
			if origin != "" {
				req.Header.Set("Origin", origin)
			}
			return s.do(browser, req)
		}
		for name, r := range map[string]reply{
			"not confirmed":            send("", "same-origin", s.issuer),
			"from another site":        send("yes", "cross-site", "https://evil.test"),
			"from a neighbour":         send("yes", "same-site", "https://neighbour.test"),
			"by a browser of long ago": send("yes", "", "https://evil.test"),
			"by an opaque origin":      send("yes", "", "null"),
			"by address":               s.get(browser, s.endSessionURL(url.Values{"confirm": {"yes"}})),
		} {
			require.Equal(t, http.StatusOK, r.StatusCode, name)
			require.Contains(t, r.body, `name="confirm"`, name)
			require.True(t, s.alive(tokens), name)
		}
		r = send("yes", "same-origin", s.issuer)
		require.Equal(t, afterward+"?state=s", r.Header.Get("Location"), r.body)
		require.False(t, s.alive(tokens))
	})
}

// A person who is not signed in is asked nothing, and nobody is redirected to an address that is not registered.
func TestLogoutLeadsToRegisteredAddressesOnly(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		_, tokens := s.signedInBrowser()
		other := s.register(identity.CreateClientInput{Name: "Other", RedirectURIs: []string{callback}, PostLogoutRedirectURIs: []string{"https://other.test/bye"}}).ID
		r := s.get(s.browser(), s.endSessionURL(url.Values{"client_id": {other}, "post_logout_redirect_uri": {"https://other.test/bye"}}))
		require.Equal(t, "https://other.test/bye", r.Header.Get("Location"))
		for name, params := range map[string]url.Values{
			"no client":              {"post_logout_redirect_uri": {afterward}},
			"another client's":       {"client_id": {other}, "post_logout_redirect_uri": {afterward}},
			"unknown client":         {"client_id": {"cli_unknown"}},
			"a redirect URI":         {"client_id": {s.public.ID}, "post_logout_redirect_uri": {callback}},
			"longer":                 {"client_id": {s.public.ID}, "post_logout_redirect_uri": {afterward + "/x"}},
			"elsewhere, with a hint": {"id_token_hint": {tokens.id}, "post_logout_redirect_uri": {"https://evil.test/"}},
			"hint of another client": {"id_token_hint": {tokens.id}, "client_id": {other}},
			"an access token":        {"id_token_hint": {tokens.access}, "post_logout_redirect_uri": {afterward}},
			"nonsense":               {"id_token_hint": {"a.b.c"}},
			"two states":             {"client_id": {s.public.ID}, "state": {"a", "b"}},
			"a long state":           {"state": {strings.Repeat("x", 2001)}},
			"NUL":                    {"state": {"\x00"}},
		} {
			r := s.get(s.browser(), s.endSessionURL(params))
			require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
			require.Empty(t, r.Header.Get("Location"), name)
			require.True(t, s.alive(tokens), name)
		}
	})
}
