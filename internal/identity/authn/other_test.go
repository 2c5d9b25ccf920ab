package authn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/issuer"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/testissuer"
)

// eachTrusting runs fn with an authenticator that takes another issuer's tokens, too.
func eachTrusting(t *testing.T, fn func(t *testing.T, w *testkit.World, remote *testissuer.Issuer, a *authn.Authenticator)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		remote := testissuer.New(t)
		remote.Now = w.Clock.Now
		i, err := issuer.New(issuer.Options{
			Issuer: remote.URL, Audience: testissuer.Audience, CompanyClaim: "company", Transport: remote.Transport,
		}, w.Clock.Now)
		require.NoError(t, err)
		fn(t, w, remote, authn.New(w.Store, w.Tokens, authn.WithIssuer(issuer.NewDirectory(i, w.Engine))))
	})
}

// A token of the configured issuer acts as the user whom it speaks for, with the scopes of the API that it names or all.
func TestTokenOfAnotherIssuer(t *testing.T) {
	eachTrusting(t, func(t *testing.T, w *testkit.World, remote *testissuer.Issuer, a *authn.Authenticator) {
		u := w.A.Users[principal.Admin]
		said := func(more testissuer.Claims) string {
			c := testissuer.Claims{"company": "acme", "email": u.Email, "email_verified": true}
			for name, v := range more {
				c[name] = v
			}
			return remote.Token(t, c)
		}
		token := said(testissuer.Claims{"auth_time": w.Clock.Now().Add(-time.Minute).Unix()})
		for range 2 { // the second from memory
			c, err := a.Bearer(t.Context(), token)
			require.NoError(t, err)
			p := c.Principal
			require.Equal(t, u.ID, p.ID)
			require.Equal(t, w.A.Company.ID, p.CompanyID)
			require.Equal(t, principal.Admin, p.Role)
			require.Equal(t, principal.AllScopes, p.Scopes)
			require.Equal(t, principal.MethodBearer, p.Method)
			require.WithinDuration(t, w.Clock.Now().Add(-time.Minute), p.AuthenticatedAt, 2*time.Second)
			require.Equal(t, u.ID+"/external:"+testissuer.ClientID, c.RateKey)
		}
		c, err := a.Bearer(t.Context(), said(testissuer.Claims{"scope": "openid services:read"}))
		require.NoError(t, err)
		require.Equal(t, []string{"services:read"}, c.Principal.Scopes.Names())

		own, _, err := w.Tokens.Issue(t.Context(), u.ID, u.CompanyID, identity.OperatorClient, nil, time.Hour)
		require.NoError(t, err)
		_, err = a.Bearer(t.Context(), own)
		require.NoError(t, err, "the embedded provider's go on being taken")
		_, err = authn.New(w.Store, w.Tokens).Bearer(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused, "without the configuration nobody trusts the issuer")

		// Its client may call itself what it likes: it gets nothing of what the operator's tokens have.
		posing, err := a.Bearer(t.Context(), said(testissuer.Claims{"azp": identity.OperatorClient}))
		require.NoError(t, err)
		_, _, err = op.Run(principal.With(t.Context(), &posing.Principal), w.Engine, apikey.Create,
			apikey.CreateInput{Name: "x", Scopes: []string{"services:read"}}, nil)
		require.Equal(t, op.ReasonStale, apperr.From(err).Reason)

		w.Clock.SetOffset(6 * time.Minute)
		_, err = a.Bearer(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused, "remembered tokens expire, too")
	})
}

func TestRefusedTokensOfAnotherIssuer(t *testing.T) {
	eachTrusting(t, func(t *testing.T, w *testkit.World, remote *testissuer.Issuer, a *authn.Authenticator) {
		u := w.A.Users[principal.Agent]
		good := testissuer.Claims{"company": "acme", "email": u.Email, "email_verified": true}
		with := func(name string, v any) string {
			c := testissuer.Claims{name: v}
			for name, v := range good {
				if _, given := c[name]; !given {
					c[name] = v
				}
			}
			return remote.Token(t, c)
		}
		token := remote.Token(t, good)
		for name, value := range map[string]string{
			"an ID token":      with("nonce", "n"),
			"another audience": with("aud", testissuer.ClientID),
			"a stranger":       remote.Token(t, testissuer.Claims{"company": "acme", "sub": "s", "email": "s@x.test", "email_verified": true}),
			"another company":  with("company", "nowhere"),
			"our own name":     with("iss", testkit.AuthURL),
		} {
			_, err := a.Bearer(t.Context(), value)
			require.ErrorIs(t, err, authn.ErrRefused, name)
		}
		_, err := a.Bearer(t.Context(), token)
		require.NoError(t, err)
		w.Clock.SetOffset(2 * time.Second) // its tokens tell of whole seconds
		testkit.Run(t, w, w.As(w.A, principal.Owner), people.DeactivateUser, people.DeactivateUserInput{ByID: byID(u.ID)})
		_, err = a.Bearer(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused)
		testkit.Run(t, w, w.As(w.A, principal.Owner), people.ReactivateUser, byID(u.ID))
		_, err = a.Bearer(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused, "from before the sign-out")
		w.Clock.SetOffset(4 * time.Second)
		_, err = a.Bearer(t.Context(), remote.Token(t, good))
		require.NoError(t, err)
	})
}

// Where the issuer's keys cannot be had, nobody can say whether a token is good: that is no 401.
func TestIssuerThatDoesNotAnswer(t *testing.T) {
	eachTrusting(t, func(t *testing.T, w *testkit.World, remote *testissuer.Issuer, a *authn.Authenticator) {
		remote.Set(func(s *testissuer.Settings) { s.Down = true })
		_, err := a.Bearer(t.Context(), remote.Token(t, testissuer.Claims{"company": "acme"}))
		require.NotErrorIs(t, err, authn.ErrRefused)
		require.Equal(t, apperr.Unavailable, apperr.CodeOf(err))
		own, _, err := w.Tokens.Issue(t.Context(), w.A.Owner.ID, w.A.Company.ID, identity.OperatorClient, nil, time.Hour)
		require.NoError(t, err)
		_, err = a.Bearer(t.Context(), own)
		require.NoError(t, err, "our own do not need it")
	})
}
