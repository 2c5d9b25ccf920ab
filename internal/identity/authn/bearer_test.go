package authn_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func sign(t *testing.T, key jose.SigningKey, claims any) string {
	t.Helper()
	s, err := jose.NewSigner(key, nil)
	require.NoError(t, err)
	token, err := jwt.Signed(s).Claims(claims).Serialize()
	require.NoError(t, err)
	return token
}

func TestBearer(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Admin]
		token, expires, err := w.Tokens.Issue(t.Context(), u.ID, w.A.Company.ID, "cli_1", []string{"openid", "services:read", "email"}, 5*time.Minute)
		require.NoError(t, err)
		for range 2 {
			c, err := a.Bearer(t.Context(), token)
			require.NoError(t, err)
			require.Equal(t, u.ID, c.Principal.ID)
			require.Equal(t, w.A.Company.ID, c.Principal.CompanyID)
			require.Equal(t, principal.Admin, c.Principal.Role)
			require.Equal(t, []string{"services:read"}, c.Principal.Scopes.Names())
			require.Equal(t, principal.MethodBearer, c.Principal.Method)
			require.Equal(t, u.ID+"/cli_1", c.RateKey)
		}
		w.Clock.SetOffset(expires.Sub(w.Clock.Now()) + time.Second)
		_, err = a.Bearer(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused, "a remembered token expires, too")
	})
}

// Every token that is not quite an access token of this provider, for this audience, is refused.
func TestRefusedTokens(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		signer, err := identity.NewKeys(w.Store, w.Engine.Sealer).Signer(t.Context())
		require.NoError(t, err)
		now := w.Clock.Now()
		good := func() map[string]any {
			return map[string]any{
				"iss": testkit.AuthURL, "aud": testkit.BaseURL, "sub": w.A.Owner.ID, "company": w.A.Company.ID, "scope": "services:read",
				"client_id": "cli_1", "token_use": "access", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
			}
		}
		_, err = a.Bearer(t.Context(), sign(t, signer, good()))
		require.NoError(t, err, "the claims that the others are spoilt from")

		with := func(name string, value any) string {
			c := good()
			if c[name] = value; value == nil {
				delete(c, name)
			}
			return sign(t, signer, c)
		}
		other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		otherKey := func(kid string) jose.SigningKey {
			return jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: other, KeyID: kid, Algorithm: "ES256"}}
		}
		own := signer.Key.(jose.JSONWebKey)
		part := func(v any) string {
			b, err := json.Marshal(v)
			require.NoError(t, err)
			return base64.RawURLEncoding.EncodeToString(b)
		}
		valid := sign(t, signer, good())
		parts := strings.Split(valid, ".")
		public, err := json.Marshal(own.Public())
		require.NoError(t, err)
		for name, token := range map[string]string{
			"an ID token":              with("token_use", nil),
			"another use":              with("token_use", "refresh"),
			"another issuer":           with("iss", "https://elsewhere.test"),
			"no issuer":                with("iss", nil),
			"another audience":         with("aud", "cli_1"),
			"no audience":              with("aud", nil),
			"expired":                  with("exp", now.Add(-time.Minute).Unix()),
			"without an expiry":        with("exp", nil),
			"without a subject":        with("sub", nil),
			"without a company":        with("company", nil),
			"the user of another":      with("company", w.B.Company.ID),
			"the sandbox":              with("company", w.A.Sandbox.ID),
			"nobody":                   with("sub", "usr_none"),
			"another key":              sign(t, otherKey(own.KeyID), good()),
			"an unknown kid":           sign(t, otherKey("sig_unknown"), good()),
			"no kid":                   sign(t, otherKey(""), good()),
			"alg none":                 part(map[string]string{"alg": "none"}) + "." + part(good()) + ".",
			"alg none with a kid":      part(map[string]string{"alg": "none", "kid": own.KeyID}) + "." + part(good()) + ".",
			"HMAC with the public key": sign(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: public, KeyID: own.KeyID}}, good()),
			"other claims":             parts[0] + "." + part(map[string]any{"sub": w.B.Owner.ID}) + "." + parts[2],
			"no signature":             parts[0] + "." + parts[1] + ".",
			"two parts":                parts[0] + "." + parts[1],
			"empty":                    "",
			"no token":                 "x",
		} {
			_, err := a.Bearer(t.Context(), token)
			require.ErrorIs(t, err, authn.ErrRefused, name)
		}
	})
}

// Whoever is deactivated is out at once where that happened, and within store.Propagation on another node: sessions, the
// tokens of grants and those of the operator, remembered or not. Coming back revives none of them. Keys go on working.
func TestDeactivatedUser(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, here *authn.Authenticator) {
		u := w.A.Users[principal.Agent]
		there := authn.New(w.Node(t).Store, w.Tokens)
		session, _ := signedIn(t, w, u)
		sandbox, _ := signedIn(t, w, u, func(c *ent.SessionCreate) { c.SetSandbox(true) })
		operators, _, err := w.Tokens.Issue(t.Context(), u.ID, u.CompanyID, identity.OperatorClient, principal.ScopeNames, time.Hour)
		require.NoError(t, err)
		yes := true
		keys := []string{key(t, w, principal.Agent, apikey.CreateInput{}).Value, key(t, w, principal.Agent, apikey.CreateInput{Test: &yes}).Value}
		ofGrant := granted(t, w, u)
		credentials := map[string]func(a *authn.Authenticator) error{
			"session":              func(a *authn.Authenticator) error { _, err := a.Session(t.Context(), session, somewhere); return err },
			"session in sandbox":   func(a *authn.Authenticator) error { _, err := a.Session(t.Context(), sandbox, somewhere); return err },
			"token of a grant":     func(a *authn.Authenticator) error { _, err := a.Bearer(t.Context(), ofGrant); return err },
			"token of the command": func(a *authn.Authenticator) error { _, err := a.Bearer(t.Context(), operators); return err },
		}
		for name, works := range credentials {
			require.NoError(t, works(here), name)
			require.NoError(t, works(there), name)
		}
		testkit.Run(t, w, w.As(w.A, principal.Owner), people.DeactivateUser, people.DeactivateUserInput{ByID: byID(u.ID)})
		done := time.Now()
		for name, works := range credentials {
			require.ErrorIs(t, works(here), authn.ErrRefused, "%s, on the node that did it", name)
		}
		for name, works := range credentials {
			require.Eventually(t, func() bool { return works(there) != nil }, 20*time.Second, time.Millisecond, name)
			require.ErrorIs(t, works(there), authn.ErrRefused, name)
		}
		t.Logf("out on the other node after %s", time.Since(done).Round(time.Millisecond))

		testkit.Run(t, w, w.As(w.A, principal.Owner), people.ReactivateUser, byID(u.ID))
		fresh := granted(t, w, u)
		for _, a := range []*authn.Authenticator{here, there} {
			require.Eventually(t, func() bool { _, err := a.Bearer(t.Context(), fresh); return err == nil }, 20*time.Second, time.Millisecond)
			for name, works := range credentials {
				require.ErrorIs(t, works(a), authn.ErrRefused, "%s after the user came back", name)
			}
			for _, value := range keys {
				_, err := a.APIKey(t.Context(), value, somewhere)
				require.NoError(t, err)
			}
		}
	})
}

// A token is as good as its grant: revoked, for somebody else, of another client or company, or from before the person
// signed out everywhere, it is over.
func TestTokensOfGrants(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Agent]
		good := grantOf(t, w, u)
		token := func(g *ent.Grant, change ...func(*identity.Grant)) string {
			of := identity.Grant{ID: g.ID, UserID: u.ID, CompanyID: u.CompanyID, ClientID: g.ClientID, Scopes: []string{"services:read"}}
			for _, f := range change {
				f(&of)
			}
			value, _, err := w.Tokens.IssueGranted(t.Context(), of, time.Hour)
			require.NoError(t, err)
			return value
		}
		c, err := a.Bearer(t.Context(), token(good))
		require.NoError(t, err, "what the others are spoilt from")
		require.WithinDuration(t, good.AuthenticatedAt, c.Principal.AuthenticatedAt, 0)
		web := grantOf(t, w, u, func(c *ent.GrantCreate) { c.SetClientID(identity.WebClient) })
		_, err = a.Bearer(t.Context(), token(web))
		require.NoError(t, err, "the web application is no company's client")

		others := grantOf(t, w, w.A.Users[principal.Admin])
		elsewhere := grantOf(t, w, w.B.Owner)
		old := grantOf(t, w, u, func(c *ent.GrantCreate) { c.SetAuthenticatedAt(w.Clock.Now().Add(-time.Hour)) })
		unregistered := grantOf(t, w, u, func(c *ent.GrantCreate) { c.SetClientID("cli_gone") })
		revoked := grantOf(t, w, u, func(c *ent.GrantCreate) { c.SetRevokedAt(w.Clock.Now()) })
		change(t, w.Store, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(u.ID).SetSignedOutAt(w.Clock.Now().Add(-time.Minute)).Exec(ctx)
		})
		w.Store.AuthorityChanged()
		_, err = a.Bearer(t.Context(), token(good))
		require.NoError(t, err, "signed in after the sign-out")
		for name, value := range map[string]string{
			"revoked":                     token(revoked),
			"unknown":                     token(good, func(g *identity.Grant) { g.ID = "grt_none" }),
			"somebody else's":             token(others),
			"another company's":           token(elsewhere),
			"another client's":            token(good, func(g *identity.Grant) { g.ClientID = identity.WebClient }),
			"signed in before a sign-out": token(old),
			"of a client that is gone":    token(unregistered),
		} {
			for range 2 {
				_, err := a.Bearer(t.Context(), value)
				require.ErrorIs(t, err, authn.ErrRefused, name)
			}
		}
	})
}

// In a sandbox a token speaks for a mirror; what counts is the live person's role and whether it may still come in.
func TestTokenOfAMirror(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		live := w.A.Users[principal.Agent]
		yes := true
		mirror, err := a.APIKey(t.Context(), key(t, w, principal.Agent, apikey.CreateInput{Test: &yes}).Value, somewhere)
		require.NoError(t, err)
		token, _, err := w.Tokens.Issue(t.Context(), mirror.Principal.ID, w.A.Sandbox.ID, identity.OperatorClient, nil, time.Hour)
		require.NoError(t, err)
		change(t, w.Store, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(live.ID).SetRole(user.RoleAdmin).Exec(ctx)
		})
		w.Store.AuthorityChanged()
		c, err := a.Bearer(t.Context(), token)
		require.NoError(t, err)
		require.True(t, c.Principal.Sandbox)
		require.Equal(t, principal.Admin, c.Principal.Role)
		require.Equal(t, ratelimit.Free(), c.Limit)
		testkit.Run(t, w, w.As(w.A, principal.Owner), people.DeactivateUser, people.DeactivateUserInput{ByID: byID(live.ID)})
		_, err = a.Bearer(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused)
	})
}

// What a client may not ask for any more, the tokens that it has may not do any more.
func TestTokensLoseWhatTheirClientLoses(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		owner := w.As(w.A, principal.Owner)
		made := testkit.Run(t, w, owner, identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"https://app.test/cb"}}).Client
		token, _, err := w.Tokens.Issue(t.Context(), w.A.Users[principal.Admin].ID, w.A.Company.ID, made.ID, []string{"services:read", "requests:read"}, time.Hour)
		require.NoError(t, err)
		scopes := func() []string {
			t.Helper()
			c, err := a.Bearer(t.Context(), token)
			require.NoError(t, err)
			return c.Principal.Scopes.Names()
		}
		require.ElementsMatch(t, []string{"services:read", "requests:read"}, scopes())
		testkit.Run(t, w, owner, identity.UpdateClient, identity.UpdateClientInput{ByID: byID(made.ID), Scopes: op.SetTo([]string{"requests:read", "requests:write"})})
		require.Equal(t, []string{"requests:read"}, scopes())
	})
}
