package provider_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"atrium/ent/grant"
	"atrium/internal/test/testkit"
)

// The whole flow works with the usual Go libraries: discovery, authorization code with PKCE, ID token, userinfo, refresh.
func TestFlow(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		meta, err := oidc.NewProvider(s.ctx(), s.issuer)
		require.NoError(t, err)
		app := &oauth2.Config{
			ClientID: s.public.ID, RedirectURL: callback, Endpoint: meta.Endpoint(),
			Scopes: []string{"openid", "profile", "email", "offline_access", "services:read"},
		}
		began := s.Clock.Now()
		v := oauth2.GenerateVerifier()
		q := s.answered(s.browser(), app.AuthCodeURL("a state", oauth2.S256ChallengeOption(v), oidc.Nonce("a nonce")))
		require.Equal(t, "a state", q.Get("state"))
		require.Equal(t, s.issuer, q.Get("iss"), "RFC 9207")
		require.Equal(t, "1", q.Get("keep"), "the redirect URI's own query stays")

		tok, err := app.Exchange(s.ctx(), q.Get("code"), oauth2.VerifierOption(v))
		require.NoError(t, err)
		require.Equal(t, "Bearer", tok.TokenType)
		require.Equal(t, "openid profile email offline_access services:read", tok.Extra("scope"))
		require.EqualValues(t, 300, tok.ExpiresIn)

		raw, _ := tok.Extra("id_token").(string)
		checks := meta.Verifier(&oidc.Config{ClientID: s.public.ID})
		idToken, err := checks.Verify(s.ctx(), raw)
		require.NoError(t, err)
		require.NoError(t, idToken.VerifyAccessToken(tok.AccessToken), "at_hash")
		require.Equal(t, "a nonce", idToken.Nonce)
		require.Equal(t, s.person.ID, idToken.Subject)
		require.Equal(t, []string{s.public.ID}, idToken.Audience)
		var claims struct {
			AuthTime int64    `json:"auth_time"`
			AMR      []string `json:"amr"`
			SID      string   `json:"sid"`
			Name     string   `json:"name"`
			Email    string   `json:"email"`
			Verified bool     `json:"email_verified"`
			Company  string   `json:"company"`
		}
		require.NoError(t, idToken.Claims(&claims))
		require.GreaterOrEqual(t, claims.AuthTime, began.Unix())
		require.Equal(t, []string{"pwd", "otp", "mfa"}, claims.AMR)
		require.Equal(t, s.person.Name, claims.Name)
		require.Equal(t, s.person.Email, claims.Email)
		require.True(t, claims.Verified)
		require.Equal(t, s.A.Company.ID, claims.Company)

		access, err := s.tokens.Verify(s.ctx(), tok.AccessToken)
		require.NoError(t, err)
		require.Equal(t, s.person.ID, access.Subject)
		require.Equal(t, s.A.Company.ID, access.Company)
		require.Equal(t, s.public.ID, access.ClientID)
		g, err := s.Store.Reader().Grant.Query().Where(grant.ID(access.Grant)).Only(s.system())
		require.NoError(t, err)
		require.Equal(t, claims.SID, g.SignInID)

		info, err := meta.UserInfo(s.ctx(), oauth2.StaticTokenSource(tok))
		require.NoError(t, err)
		require.Equal(t, []any{s.person.ID, s.person.Email, true}, []any{info.Subject, info.Email, info.EmailVerified})

		s.Clock.SetOffset(10 * time.Minute)
		_, err = s.tokens.Verify(s.ctx(), tok.AccessToken)
		require.Error(t, err, "5 minutes are over")
		tok.Expiry = time.Now().Add(-time.Second)
		again, err := app.TokenSource(s.ctx(), tok).Token()
		require.NoError(t, err)
		require.NotEqual(t, tok.RefreshToken, again.RefreshToken, "rotated")
		renewed, err := s.tokens.Verify(s.ctx(), again.AccessToken)
		require.NoError(t, err)
		require.Equal(t, access.Grant, renewed.Grant)
		raw, _ = again.Extra("id_token").(string)
		now := checksAt(meta, s.public.ID, s.Clock.Now)
		idToken, err = now.Verify(s.ctx(), raw)
		require.NoError(t, err)
		require.Empty(t, idToken.Nonce, "a nonce answers one request only")
	})
}

func checksAt(meta *oidc.Provider, clientID string, now func() time.Time) *oidc.IDTokenVerifier {
	return meta.Verifier(&oidc.Config{ClientID: clientID, Now: now})
}

// Tokens contain only what was asked for: no ID token without openid, no name without profile, no refresh token without
// offline_access. Scopes that the client may not have are left out, and a name that is no scope is refused.
func TestScopesDecide(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		bare := s.granted(url.Values{"scope": {"services:read"}})
		require.Empty(t, bare.id)
		require.Empty(t, bare.refresh)
		require.Equal(t, http.StatusForbidden, s.userinfo(bare.access).StatusCode, "userinfo takes openid")

		nameless := s.granted(url.Values{"scope": {"openid phone"}})
		require.Empty(t, nameless.refresh)
		info := s.userinfo(nameless.access).json(t)
		require.Equal(t, map[string]any{"sub": s.person.ID}, info)
		c, err := s.tokens.Verify(s.ctx(), nameless.access)
		require.NoError(t, err)
		require.Equal(t, "openid", c.Scope)

		narrow := s.narrowClient()
		q := s.answered(s.browser(), s.authorizeURL(url.Values{"client_id": {narrow}, "scope": {"openid services:read secrets:write"}}))
		r := s.exchange(q.Get("code"), url.Values{"client_id": {narrow}})
		require.Equal(t, "openid services:read", r.json(t)["scope"])
		q = s.answered(s.browser(), s.authorizeURL(url.Values{"client_id": {narrow}, "scope": {"openid secrets:write"}}))
		require.Equal(t, "invalid_scope", q.Get("error"), "nothing is left of what was asked for: not everything instead")
		for _, mistyped := range []string{"servics:read", "SERVICES:READ", "openid services:reed", "services:read unknown:scope"} {
			q = s.answered(s.browser(), s.authorizeURL(url.Values{"scope": {mistyped}}))
			require.Equal(t, "invalid_scope", q.Get("error"), mistyped)
			require.Empty(t, q.Get("code"), mistyped)
		}
	})
}

// The person chooses the company of a sign-in to the web application, which has no company of its own and no registration.
func TestWebApplication(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		s.person = s.B.Users["member"]
		uri := s.authorizeURL(url.Values{"client_id": {"atrium-web"}, "redirect_uri": {testkit.BaseURL + "/login/callback"}, "scope": {"openid"}})
		r := s.get(s.browser(), uri)
		require.Equal(t, http.StatusSeeOther, r.StatusCode, r.body)
		to, err := r.Location()
		require.NoError(t, err)
		require.Equal(t, "atrium.test", to.Host)
		out := s.exchange(to.Query().Get("code"), url.Values{"client_id": {"atrium-web"}, "redirect_uri": {testkit.BaseURL + "/login/callback"}})
		require.Equal(t, http.StatusOK, out.StatusCode, out.body)
		c, err := s.tokens.Verify(s.ctx(), tokensOf(t, out).access)
		require.NoError(t, err)
		require.Equal(t, []string{s.B.Company.ID, s.person.ID}, []string{c.Company, c.Subject})
	})
}

// A confidential client authenticates with its secret, in the header or in the form.
func TestConfidentialClient(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		c := s.confidential
		code := func() string { return s.code(url.Values{"client_id": {c.ID}}) }
		ok := s.exchange(code(), url.Values{"client_id": nil}, basic(c.ID, c.Secret))
		require.Equal(t, http.StatusOK, ok.StatusCode, ok.body)
		ok = s.exchange(code(), url.Values{"client_id": {c.ID}, "client_secret": {c.Secret}})
		require.Equal(t, http.StatusOK, ok.StatusCode, ok.body)

		once := code()
		for name, r := range map[string]reply{
			"no secret":               s.exchange(once, url.Values{"client_id": {c.ID}}),
			"wrong secret in form":    s.exchange(once, url.Values{"client_id": {c.ID}, "client_secret": {c.Secret + "x"}}),
			"wrong secret in header":  s.exchange(once, url.Values{"client_id": nil}, basic(c.ID, "wrong")),
			"empty secret":            s.exchange(once, url.Values{"client_id": nil}, basic(c.ID, "")),
			"malformed header":        s.exchange(once, url.Values{"client_id": nil}, basic(c.ID, "%zz")),
			"nobody":                  s.exchange(once, url.Values{"client_id": nil}),
			"unknown":                 s.exchange(once, url.Values{"client_id": {"cli_unknown"}}),
			"a public one's secret":   s.exchange(once, url.Values{"client_id": {s.public.ID}, "client_secret": {"guess"}}),
			"an assertion, no secret": s.exchange(once, url.Values{"client_id": {c.ID}, "client_assertion": {"a.b.c"}, "client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}}),
		} {
			require.Equal(t, http.StatusUnauthorized, r.StatusCode, "%s: %s", name, r.body)
			require.Equal(t, "invalid_client", r.errorCode(t), name)
			require.Contains(t, r.Header.Get("WWW-Authenticate"), "Basic", name)
		}
		for name, r := range map[string]reply{
			"both ways at once": s.exchange(once, url.Values{"client_id": {c.ID}, "client_secret": {c.Secret}}, basic(c.ID, c.Secret)),
			"two names":         s.exchange(once, nil, basic(c.ID, c.Secret)),
		} {
			require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
			require.Equal(t, "invalid_request", r.errorCode(t), name)
		}
		ok = s.exchange(once, url.Values{"client_id": nil}, basic(c.ID, c.Secret))
		require.Equal(t, http.StatusOK, ok.StatusCode, "none of that used the code up: %s", ok.body)
	})
}
