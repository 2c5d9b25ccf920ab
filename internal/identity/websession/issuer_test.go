package websession_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"atrium/internal/identity/authn"
	"atrium/internal/identity/issuer"
	"atrium/internal/identity/websession"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit/testissuer"
)

// signedIn makes the issuer sign in the person of a role with a verified address; more holds further claims of the ID token.
func (h *house) signedIn(remote *testissuer.Issuer, role principal.Role, more testissuer.Claims) {
	c := testissuer.Claims{"sub": "ext-" + string(role), "email": h.A.Users[role].Email, "email_verified": true}
	for name, v := range more {
		c[name] = v
	}
	remote.Set(func(s *testissuer.Settings) { s.SignedIn = c })
}

// With another issuer configured, people sign in to the web application through it.
func TestSignInThroughAnotherIssuer(t *testing.T) {
	eachIssuer(t, nil, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		proven := h.Clock.Now().Add(-20 * time.Minute).Truncate(time.Second)
		h.signedIn(remote, principal.Agent, testissuer.Claims{"auth_time": proven.Unix(), "amr": []string{"pwd"}})
		b := h.browser()
		r := b.follow("/login?returnTo=/x", "")
		require.Equal(t, h.base+"/x", r.to, r.body)
		value := b.cookie(authn.SessionCookie)
		p := h.who(value)
		require.Equal(t, h.A.Users[principal.Agent].ID, p.ID)
		require.WithinDuration(t, proven, p.AuthenticatedAt, 0)
		row := h.row(value)
		require.Equal(t, []string{"pwd"}, row.Methods)
		require.Empty(t, row.SignInID)
		require.Equal(t, []string{"allowed"}, h.audited("session.created"))
		require.Equal(t, []string{"allowed"}, h.audited("user.linked"))

		// A step-up asks for a new proof and for its time.
		r = b.send(http.MethodGet, "/login?prompt=login")
		require.Contains(t, r.to, "prompt=login")
		require.Contains(t, r.to, "max_age=0")

		// For an issuer that gives no auth_time, the time of the token counts.
		h.signedIn(remote, principal.Agent, nil)
		require.WithinDuration(t, h.Clock.Now(), h.who(b.signIn()).AuthenticatedAt, 10*time.Second)

		// Signing out redirects by way of the issuer, with the ID token that it issued and the client id.
		value = b.cookie(authn.SessionCookie)
		r = b.send(http.MethodPost, "/logout", header("X-Requested-With", "x"))
		out, err := url.Parse(r.to)
		require.NoError(t, err)
		require.Equal(t, remote.URL+"/bye", out.Scheme+"://"+out.Host+out.Path)
		require.Equal(t, "web", out.Query().Get("client_id"))
		require.Equal(t, h.base+"/", out.Query().Get("post_logout_redirect_uri"))
		hint, err := jwt.ParseSigned(out.Query().Get("id_token_hint"), []jose.SignatureAlgorithm{jose.ES256, jose.RS256})
		require.NoError(t, err)
		var said jwt.Claims
		require.NoError(t, hint.UnsafeClaimsWithoutVerification(&said)) // verifying is up to the issuer
		require.Equal(t, remote.URL, said.Issuer)
		require.Equal(t, "ext-agent", said.Subject)
		require.Equal(t, jwt.Audience{"web"}, said.Audience)
		require.Nil(t, h.who(value))
	})
}

// A sign-in from before a sign-out everywhere gives no session; a new sign-in is started.
func TestOldProofOfAnotherIssuer(t *testing.T) {
	eachIssuer(t, nil, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		now := h.Clock.Now()
		h.write(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(h.A.Users[principal.Agent].ID).SetSignedOutAt(now.Add(-time.Minute)).Exec(ctx)
		})
		h.signedIn(remote, principal.Agent, testissuer.Claims{"auth_time": now.Add(-time.Hour).Unix()})
		b := h.browser()
		r := b.send(http.MethodGet, b.answer("/login?returnTo=/x"))
		require.Equal(t, h.base+"/login?company=&prompt=login&returnTo=%2Fx", r.to)
		require.Empty(t, b.cookie(authn.SessionCookie))
		h.signedIn(remote, principal.Agent, testissuer.Claims{"auth_time": now.Unix()})
		require.NotNil(t, h.who(b.signIn()))
	})
}

// People without access get an error page and no session.
func TestStrangersOfAnotherIssuer(t *testing.T) {
	eachIssuer(t, nil, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		for name, c := range map[string]testissuer.Claims{
			"a stranger":         {"sub": "s", "email": "stranger@x.test", "email_verified": true},
			"a doubtful address": {"sub": "t", "email": h.A.Owner.Email, "email_verified": false},
			"without an address": {"sub": "u"},
		} {
			remote.Set(func(s *testissuer.Settings) { s.SignedIn = c })
			b := h.browser()
			r := b.follow("/login", "")
			require.Equal(t, http.StatusForbidden, r.StatusCode, name)
			require.Contains(t, r.body, "You have no access here", name)
			require.Empty(t, b.cookie(authn.SessionCookie), name)
		}
		require.Zero(t, h.sessions())
	})
}

// An invalid ID token signs nobody in.
func TestSpoiltIDTokens(t *testing.T) {
	eachIssuer(t, nil, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		h.signedIn(remote, principal.Agent, nil)
		elsewhere := testissuer.New(t)
		spoilt := func(name string, change func(testissuer.Claims)) {
			t.Helper()
			remote.Set(func(s *testissuer.Settings) { s.Spoil = change })
			b := h.browser()
			h.turnedAway(b, b.answer("/login"), name)
		}
		set := func(claim string, v any) func(testissuer.Claims) {
			return func(c testissuer.Claims) {
				if c[claim] = v; v == nil {
					delete(c, claim)
				}
			}
		}
		spoilt("another nonce", set("nonce", "x"))
		spoilt("no nonce", set("nonce", nil))
		spoilt("another audience", set("aud", "another client"))
		spoilt("no audience", set("aud", nil))
		spoilt("several audiences", set("aud", []string{testissuer.ClientID, "another client"}))
		spoilt("another client's", set("azp", "another client"))
		spoilt("another issuer", set("iss", elsewhere.URL))
		spoilt("expired", set("exp", h.Clock.Now().Add(-time.Hour).Unix()))
		spoilt("nobody", set("sub", nil))
		spoilt("an access token", set("token_use", "access"))
		spoilt("another access token's", set("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"))
		remote.Set(func(s *testissuer.Settings) { s.Spoil = nil })
		h.browser().signIn()
	})
}

// Answers without iss are accepted from an issuer that does not announce it, as older ones do. An answer with a wrong iss is
// not.
func TestIssuerThatDoesNotNameItself(t *testing.T) {
	eachIssuer(t, nil, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		remote.Set(func(s *testissuer.Settings) { s.Silent = true })
		h.signedIn(remote, principal.Agent, nil)
		b := h.browser()
		b.signIn()
		other := h.browser()
		h.turnedAway(other, other.answer("/login")+"&iss=https%3A%2F%2Fevil.test")
	})
}

// While the issuer does not answer, people cannot sign in; existing sessions work.
func TestIssuerThatDoesNotAnswer(t *testing.T) {
	eachIssuer(t, nil, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		h.signedIn(remote, principal.Agent, nil)
		down := func(d bool) { remote.Set(func(s *testissuer.Settings) { s.Down = d }) }
		down(true)
		b := h.browser()
		r := b.send(http.MethodGet, "/login")
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		require.NotEmpty(t, r.Header.Get("Retry-After"))
		down(false)
		h.Clock.SetOffset(11 * time.Second)
		value := b.signIn()
		back := h.browser()
		answer := back.answer("/login")
		down(true)
		require.NotNil(t, h.who(value))
		require.Equal(t, http.StatusServiceUnavailable, back.send(http.MethodGet, answer).StatusCode, "the code was not redeemed")
		r = b.send(http.MethodPost, "/logout", header("X-Requested-With", "x"))
		require.Equal(t, http.StatusSeeOther, r.StatusCode)
		require.Nil(t, h.who(value))
	})
}

// A person in several companies can name one at the start of the sign-in.
func TestCompanyOfTheSignIn(t *testing.T) {
	eachIssuer(t, func(o *issuer.Options) { o.Company = "" }, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		agent := h.A.Users[principal.Agent]
		h.write(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.Create().SetCompanyID(h.B.Company.ID).SetAccountID(agent.AccountID).SetEmail(agent.Email).SetName("Both").Exec(ctx)
		})
		h.signedIn(remote, principal.Agent, nil)
		b := h.browser()
		require.Equal(t, http.StatusForbidden, b.follow("/login", "").StatusCode)
		for _, company := range []string{h.B.Company.ID, h.A.Company.Slug} {
			r := b.follow("/login?company="+company, "")
			require.Equal(t, h.base+"/", r.to, r.body)
		}
		require.Equal(t, h.A.Company.ID, h.who(b.cookie(authn.SessionCookie)).CompanyID)
		require.Equal(t, http.StatusForbidden, b.follow("/login?company="+h.A.Sandbox.ID, "").StatusCode)
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	remote := testissuer.New(t)
	i, err := issuer.New(issuer.Options{Issuer: remote.URL, Audience: "a", Transport: remote.Transport}, time.Now)
	require.NoError(t, err)
	d := issuer.NewDirectory(i, nil)
	for name, o := range map[string]websession.Options{
		"no provider":        {BaseURL: "https://a.test"},
		"two providers":      {BaseURL: "https://a.test", Issuer: d, Embedded: &websession.Embedded{URL: "https://a.test"}},
		"no client":          {BaseURL: "https://a.test", Issuer: d},
		"plain HTTP":         {BaseURL: "http://a.test", Embedded: &websession.Embedded{URL: "https://a.test"}},
		"slash":              {BaseURL: "https://a.test/", Embedded: &websession.Embedded{URL: "https://a.test"}},
		"no provider's name": {BaseURL: "https://a.test", Embedded: &websession.Embedded{}},
	} {
		_, err := websession.New(o)
		require.Error(t, err, name)
	}
}

// The ID token for signing out is sealed in the browser, is sent to the logout path only, and is worthless with another
// session.
func TestIDTokenForSignOut(t *testing.T) {
	eachIssuer(t, nil, func(t *testing.T, h *house, remote *testissuer.Issuer) {
		const name = "__Secure-atrium_id_token"
		kept := func(role principal.Role) (*browser, *http.Cookie) {
			t.Helper()
			h.signedIn(remote, role, nil)
			b := h.browser()
			r := b.send(http.MethodGet, b.answer("/login"))
			for _, c := range r.Cookies() {
				if c.Name == name {
					return b, c
				}
			}
			t.Fatal("no ID token is kept")
			return nil, nil
		}
		hinted := func(b *browser, sealed string) bool {
			t.Helper()
			session := authn.SessionCookie + "=" + b.cookie(authn.SessionCookie)
			r := h.browser().send(http.MethodPost, "/logout", header("X-Requested-With", "x"), header("Cookie", session+"; "+name+"="+sealed))
			require.Contains(t, r.to, "/bye?")
			return strings.Contains(r.to, "id_token_hint=")
		}
		agent, agents := kept(principal.Agent)
		require.True(t, agents.HttpOnly && agents.Secure && agents.Path == "/logout" && agents.MaxAge == 0)
		require.NotContains(t, agents.Value, ".", "it is no token as it is")
		member, members := kept(principal.Member)
		require.False(t, hinted(agent, members.Value))
		require.False(t, hinted(agent, "garbage"))
		require.True(t, hinted(member, members.Value))
	})
}
