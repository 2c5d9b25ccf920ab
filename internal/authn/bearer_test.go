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

	"atrium/ent/user"
	"atrium/internal/authn"
	"atrium/internal/identity"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
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

// A deactivated user's tokens end at once, remembered or not, and work again when the user is back.
func TestDeactivatedUser(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Agent]
		token, _, err := w.Tokens.Issue(t.Context(), u.ID, w.A.Company.ID, "cli_1", principal.ScopeNames, time.Hour)
		require.NoError(t, err)
		_, err = a.Bearer(t.Context(), token)
		require.NoError(t, err)
		other := another(t, w)
		set := func(status user.Status) {
			change(t, other, func(ctx context.Context, tx *store.Tx) error {
				return tx.User.UpdateOneID(u.ID).SetStatus(status).Exec(ctx)
			})
		}
		set(user.StatusDeactivated)
		require.Eventually(t, func() bool { _, err := a.Bearer(t.Context(), token); return err != nil }, 20*time.Second, time.Millisecond)
		_, err = a.Bearer(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused)
		set(user.StatusActive)
		require.Eventually(t, func() bool { _, err := a.Bearer(t.Context(), token); return err == nil }, 20*time.Second, time.Millisecond)
	})
}
