package issuer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"atrium/internal/identity/issuer"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit/testissuer"
)

func TestAccessToken(t *testing.T) {
	t.Parallel()
	remote, i, c := trusted(t, nil)
	now := c.Now()
	token := remote.Token(t, testissuer.Claims{
		"email": "Ada@Example.test", "email_verified": true, "name": "Ada", "scope": "openid services:read", "scp": []string{"requests:read"},
		"auth_time": now.Add(-time.Minute).Unix(), "amr": []string{"pwd", "otp"}, "aud": []string{"other", testissuer.Audience},
	})
	require.True(t, i.Issued(token))
	s, err := i.AccessToken(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, remote.URL, s.Issuer)
	require.Equal(t, "sub-1", s.Subject)
	require.Equal(t, "ada@example.test", s.Email)
	require.True(t, s.EmailVerified)
	require.Equal(t, "Ada", s.Name)
	require.Equal(t, []string{"openid", "services:read", "requests:read"}, s.Scopes)
	require.Equal(t, []string{"pwd", "otp"}, s.Methods)
	require.Equal(t, testissuer.ClientID, s.ClientID)
	require.Empty(t, s.Company)
	require.Empty(t, s.Role)
	require.WithinDuration(t, now.Add(-time.Minute), s.AuthenticatedAt, time.Second)
	require.WithinDuration(t, now.Add(soon), s.ExpiresAt, time.Second)

	for header, claims := range map[string]testissuer.Claims{ // as various products mark access tokens
		"at+jwt": nil, "application/at+jwt": {"nonce": "of no meaning"}, "JWT": {"typ": "Bearer"}, "jwt": {"token_use": "access", "nonce": "x"},
	} {
		full := testissuer.Claims{"iss": remote.URL, "aud": testissuer.Audience, "sub": "s", "exp": now.Add(soon).Unix()}
		for name, v := range claims {
			full[name] = v
		}
		if header == "application/at+jwt" {
			full["nonce"] = "of no meaning"
		}
		require.True(t, accepts(t, i, testissuer.Sign(t, jose.SigningKey{Algorithm: jose.ES256, Key: remote.Key()}, header, full)), header)
	}
}

// A token that differs in any respect from an access token of this issuer for this audience is refused.
func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	remote, i, c := trusted(t, func(o *issuer.Options) { o.RequiredClaims = map[string]string{"tenant": "acme", "groups": "staff"} })
	good := func(change testissuer.Claims) string {
		full := testissuer.Claims{"tenant": "acme", "groups": []string{"all", "staff"}}
		for name, v := range change {
			full[name] = v
		}
		return remote.Token(t, full)
	}
	require.True(t, accepts(t, i, good(nil)), "what the others are spoilt from")
	now := c.Now()
	own := remote.Key()
	foreignKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	claims := testissuer.Claims{
		"iss": remote.URL, "aud": testissuer.Audience, "sub": "s", "exp": now.Add(soon).Unix(), "tenant": "acme", "groups": []string{"staff"},
	}
	sign := func(alg jose.SignatureAlgorithm, key any, kid, typ string) string {
		return testissuer.Sign(t, jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, typ, claims)
	}
	part := func(v any) string {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(b)
	}
	public, err := json.Marshal(own.Public())
	require.NoError(t, err)
	elsewhere := testissuer.New(t)
	parts := strings.Split(good(nil), ".")
	for name, token := range map[string]string{
		"an ID token, for the client":       good(testissuer.Claims{"aud": testissuer.ClientID, "nonce": "n"}),
		"an ID token, for the audience too": good(testissuer.Claims{"aud": []string{testissuer.ClientID, testissuer.Audience}, "nonce": "n"}),
		"an ID token with at_hash":          good(testissuer.Claims{"at_hash": "x"}),
		"an ID token that says so":          good(testissuer.Claims{"token_use": "id"}),
		"an ID token by typ":                good(testissuer.Claims{"typ": "ID"}),
		"a refresh token by typ":            good(testissuer.Claims{"typ": "Refresh"}),
		"a logout token":                    good(testissuer.Claims{"events": map[string]any{}}),
		"a logout token by its header":      sign(jose.ES256, own.Key, own.KeyID, "logout+jwt"),
		"for another audience":              good(testissuer.Claims{"aud": "https://elsewhere.test"}),
		"for nobody":                        good(testissuer.Claims{"aud": nil}),
		"of another issuer's name":          good(testissuer.Claims{"iss": elsewhere.URL}),
		"of another issuer":                 elsewhere.Token(t, testissuer.Claims{"tenant": "acme", "groups": "staff"}),
		"of no issuer":                      good(testissuer.Claims{"iss": nil}),
		"expired":                           good(testissuer.Claims{"exp": now.Add(-time.Second).Unix()}),
		"without an expiry":                 good(testissuer.Claims{"exp": nil}),
		"not yet valid":                     good(testissuer.Claims{"nbf": now.Add(time.Hour).Unix()}),
		"without a subject":                 good(testissuer.Claims{"sub": nil}),
		"with an endless subject":           good(testissuer.Claims{"sub": strings.Repeat("s", 256)}),
		"without a required claim":          good(testissuer.Claims{"tenant": nil}),
		"with another required claim":       good(testissuer.Claims{"tenant": "acme2"}),
		"without a required one in a list":  good(testissuer.Claims{"groups": []string{"all"}}),
		"of another key under its name":     sign(jose.ES256, foreignKey, own.KeyID, ""),
		"of a key that nobody knows":        sign(jose.ES256, foreignKey, "unknown", ""),
		"of a key without a name":           sign(jose.ES256, foreignKey, "", ""),
		"of the elsewhere's key":            sign(jose.ES256, elsewhere.Key().Key, elsewhere.Key().KeyID, ""),
		"HMAC with the public key":          sign(jose.HS256, public, own.KeyID, ""),
		"alg none":                          part(map[string]string{"alg": "none", "kid": own.KeyID}) + "." + part(claims) + ".",
		"with other claims":                 parts[0] + "." + part(claims) + "." + parts[2],
		"without a signature":               parts[0] + "." + parts[1] + ".",
		"of two parts":                      parts[0] + "." + parts[1],
		"empty":                             "",
		"no token":                          "x.y.z",
	} {
		require.False(t, accepts(t, i, token), name)
	}
}

// An issuer without API audiences issues ID tokens only. They are accepted when the operator names the client as the audience.
func TestIssuerOfOneKindOfToken(t *testing.T) {
	t.Parallel()
	remote, i, _ := trusted(t, func(o *issuer.Options) { o.Audience = testissuer.ClientID })
	require.True(t, accepts(t, i, remote.Token(t, testissuer.Claims{"aud": testissuer.ClientID, "nonce": "n", "at_hash": "h"})))
	require.False(t, accepts(t, i, remote.Token(t, testissuer.Claims{"aud": "another client", "nonce": "n"})))
	require.False(t, accepts(t, i, remote.Token(t, testissuer.Claims{"aud": testissuer.ClientID, "token_use": "id"})))
}

func TestCompanyAndRoleOfAToken(t *testing.T) {
	t.Parallel()
	remote, i, _ := trusted(t, func(o *issuer.Options) {
		o.CompanyClaim, o.RoleClaim = "https://acme.test/company", "realm_access.roles"
		o.RoleMap = map[string]string{"ops": "admin", "desk": "agent", "boss": "owner"}
	})
	read := func(change testissuer.Claims) *issuer.Subject {
		change["https://acme.test/company"] = "acme"
		s, err := i.AccessToken(t.Context(), remote.Token(t, change))
		require.NoError(t, err)
		require.Equal(t, "acme", s.Company)
		return s
	}
	roles := func(names ...string) testissuer.Claims {
		return testissuer.Claims{"realm_access": map[string]any{"roles": append([]string{}, names...)}}
	}
	require.Equal(t, principal.Agent, read(roles("desk")).Role)
	require.Equal(t, principal.Admin, read(roles("desk", "unknown", "ops")).Role, "the mightiest counts")
	require.Equal(t, principal.Owner, read(roles("boss", "desk")).Role, "mapped, so given")
	require.Equal(t, principal.Member, read(roles("owner", "admin")).Role, "names are roles by the mapping only")
	require.Equal(t, principal.Member, read(roles()).Role, "the issuer says: none")
	require.Empty(t, read(testissuer.Claims{}).Role, "the issuer says nothing")
	require.False(t, accepts(t, i, remote.Token(t, nil)), "of no company")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	good := issuer.Options{Issuer: "https://idp.test", Audience: "a"}
	_, err := issuer.New(good, time.Now)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*issuer.Options){
		"no issuer":         func(o *issuer.Options) { o.Issuer = "" },
		"plain HTTP":        func(o *issuer.Options) { o.Issuer = "http://idp.test" },
		"user in the URL":   func(o *issuer.Options) { o.Issuer = "https://a@idp.test" },
		"query":             func(o *issuer.Options) { o.Issuer = "https://idp.test/?x" },
		"no audience":       func(o *issuer.Options) { o.Audience = "" },
		"company twice":     func(o *issuer.Options) { o.Company, o.CompanyClaim = "a", "b" },
		"roles, no mapping": func(o *issuer.Options) { o.RoleClaim = "r" },
		"mapping, no claim": func(o *issuer.Options) { o.RoleMap = map[string]string{"a": "admin"} },
		"unknown role":      func(o *issuer.Options) { o.RoleClaim, o.RoleMap = "r", map[string]string{"a": "operator"} },
		"symmetric":         func(o *issuer.Options) { o.Algorithms = []string{"HS256"} },
		"unsigned":          func(o *issuer.Options) { o.Algorithms = []string{"none"} },
	} {
		o := good
		spoil(&o)
		_, err := issuer.New(o, time.Now)
		require.Error(t, err, name)
	}
	o := good
	o.Algorithms = []string{"RS256"}
	remote := testissuer.New(t)
	o.Issuer, o.Transport, o.Audience = remote.URL, remote.Transport, testissuer.Audience
	i, err := issuer.New(o, time.Now)
	require.NoError(t, err)
	require.False(t, accepts(t, i, remote.Token(t, nil)), "ES256 is not among the algorithms")
}
