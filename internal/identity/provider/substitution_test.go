package provider_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/internal/identity"
	"atrium/internal/platform/id"
	"atrium/internal/test/testkit"
)

// forge signs claims with the given key and header.
func forge(t *testing.T, key any, alg jose.SignatureAlgorithm, kid, typ string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}},
		(&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	require.NoError(t, err)
	payload, err := json.Marshal(claims)
	require.NoError(t, err)
	jws, err := signer.Sign(payload)
	require.NoError(t, err)
	token, err := jws.CompactSerialize()
	require.NoError(t, err)
	return token
}

// Only access tokens that this provider issued for this product are accepted as access tokens.
func TestTokenSubstitution(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		good := s.granted(nil)
		require.Equal(t, http.StatusOK, s.userinfo(good.access).StatusCode)
		signer, err := s.keys.Signer(t.Context())
		require.NoError(t, err)
		own, ok := signer.Key.(jose.JSONWebKey)
		require.True(t, ok)
		claims := func(name string, value any) map[string]any {
			payload, err := base64.RawURLEncoding.DecodeString(strings.Split(good.access, ".")[1])
			require.NoError(t, err)
			var m map[string]any
			dec := json.NewDecoder(bytes.NewReader(payload))
			dec.UseNumber()
			require.NoError(t, dec.Decode(&m))
			if name != "" {
				m[name] = value
			}
			return m
		}
		signed := func(name string, value any) string {
			return forge(t, own.Key, jose.ES256, own.KeyID, "at+jwt", claims(name, value))
		}
		require.Equal(t, http.StatusOK, s.userinfo(signed("", nil)).StatusCode, "the forge works: only what is wrong below is refused")

		foreignKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		part := strings.Split(good.access, ".")
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"` + own.KeyID + `"}`))
		public, err := own.Public().MarshalJSON()
		require.NoError(t, err)
		for name, token := range map[string]string{
			"an ID token":               good.id,
			"a refresh token":           good.refresh,
			"alg none":                  none + "." + part[1] + ".",
			"alg none, signature kept":  none + "." + part[1] + "." + part[2],
			"no signature":              part[0] + "." + part[1] + ".",
			"another's payload":         part[0] + "." + strings.Split(good.id, ".")[1] + "." + part[2],
			"a stranger's key":          forge(t, foreignKey, jose.ES256, own.KeyID, "at+jwt", claims("", nil)),
			"an unknown key":            forge(t, foreignKey, jose.ES256, "sig_unknown", "at+jwt", claims("", nil)),
			"no key named":              forge(t, foreignKey, jose.ES256, "", "at+jwt", claims("", nil)),
			"HS256 with the public key": forge(t, public, jose.HS256, own.KeyID, "at+jwt", claims("", nil)),
			"another issuer":            signed("iss", "https://evil.test"),
			"an audience elsewhere":     signed("aud", []string{"https://evil.test"}),
			"the client as audience":    signed("aud", s.public.ID),
			"an ID token's use":         signed("token_use", "id"),
			"no use":                    signed("token_use", nil),
			"expired":                   signed("exp", s.Clock.Now().Add(-time.Second).Unix()),
			"no company":                signed("company", ""),
			"another company":           signed("company", s.B.Company.ID),
			"another user":              signed("sub", s.A.Owner.ID),
			"a grant that is none":      signed("grant", "grt_unknown"),
			"empty":                     "",
			"no JWT":                    "a.b",
		} {
			r := s.userinfo(token)
			require.Equal(t, http.StatusUnauthorized, r.StatusCode, "%s: %s", name, r.body)
			require.Contains(t, r.Header.Get("WWW-Authenticate"), "Bearer", name)
			if token != "" {
				require.Equal(t, map[string]any{"active": false}, s.introspect(token), name)
			}
		}
	})
}

// Tokens signed with the keys of another installation are refused.
func TestOtherIssuersKey(t *testing.T) {
	once(t, func(t *testing.T, s *idp) {
		elsewhere := testkit.SQLiteWorld(t)
		foreign := identity.NewTokens(identity.NewKeys(elsewhere.Store, elsewhere.Engine.Sealer), s.issuer, testkit.BaseURL, s.Clock.Now)
		token, _, err := foreign.Issue(t.Context(), s.person.ID, s.A.Company.ID, s.public.ID, []string{"openid"}, time.Minute)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, s.userinfo(token).StatusCode)
	})
}

// Tokens that name unknown keys are refused from memory, without a read from the database or elsewhere.
func TestUnknownKeyFlood(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		foreignKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		tokens := make([]string, 50)
		for i := range tokens {
			tokens[i] = forge(t, foreignKey, jose.ES256, id.New("sig"), "at+jwt", map[string]any{"iss": s.issuer, "aud": testkit.BaseURL, "sub": "usr_1"})
		}
		closed, cancel := context.WithCancel(t.Context())
		cancel() // a read from the database would fail with another error
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			_, err := s.keys.Public(t.Context()) // reads the keys once, and again when a change of authority arrives late
			require.NoError(c, err)
			for _, token := range tokens {
				_, err := s.tokens.Verify(closed, token)
				require.ErrorIs(c, err, identity.ErrToken)
				require.NotErrorIs(c, err, context.Canceled)
			}
		}, time.Minute, time.Millisecond, "while changes of authority are heard")
	})
}
