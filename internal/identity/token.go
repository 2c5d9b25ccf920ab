package identity

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
)

// AccessTokenUse is the token_use of an access token; other tokens have another one or none.
const AccessTokenUse = "access"

// IDTokenUse is the token_use of an ID token.
const IDTokenUse = "id"

// WebClient is the client_id of the product's own web application. It is built in, and no company registers it.
const WebClient = "atrium-web"

// OperatorClient is the client_id of tokens that the operator issues on the command line.
const OperatorClient = principal.OperatorClient

// Claims are the claims of an access token.
type Claims struct {
	Issuer    string           `json:"iss"`
	Audience  jwt.Audience     `json:"aud"`
	Subject   string           `json:"sub"` // usr_…
	Company   string           `json:"company"`
	Scope     string           `json:"scope"` // space-separated
	ClientID  string           `json:"client_id"`
	Grant     string           `json:"grant,omitempty"` // grt_…: the token ends when this grant is revoked; empty for the operator's tokens
	TokenUse  string           `json:"token_use"`
	ID        string           `json:"jti"`
	IssuedAt  *jwt.NumericDate `json:"iat"`
	ExpiresAt *jwt.NumericDate `json:"exp"`

	IssuedMillis int64 `json:"iat_ms,omitempty"` // IssuedAt in Unix milliseconds: whole seconds are too coarse to tell whether a sign-out ends the token
}

// Issued returns when the token was issued, in milliseconds if the token has them.
func (c *Claims) Issued() time.Time {
	if c.IssuedMillis != 0 {
		return time.UnixMilli(c.IssuedMillis)
	}
	if c.IssuedAt == nil {
		return time.Time{}
	}
	return c.IssuedAt.Time()
}

// Scopes returns the token's scopes.
func (c *Claims) Scopes() []string { return strings.Fields(c.Scope) }

// MaxTokenLife limits the life of a token: a year, for operators (token create --ttl). Keys are kept for as long.
const MaxTokenLife = 8760 * time.Hour

// Tokens issues and verifies access tokens.
type Tokens struct {
	keys     *Keys
	issuer   string
	audience string
	now      func() time.Time
}

// NewTokens returns the tokens of an issuer ({auth_url}) for an audience ({base_url}).
func NewTokens(keys *Keys, issuer, audience string, now func() time.Time) *Tokens {
	return &Tokens{keys: keys, issuer: issuer, audience: audience, now: now}
}

// Issue signs an access token for a user, valid for ttl, and returns it with its expiry. The token belongs to no grant: it
// ends early only when the user's access or the key ends.
func (t *Tokens) Issue(ctx context.Context, userID, companyID, clientID string, scopes []string, ttl time.Duration) (token string, expires time.Time, err error) {
	return t.IssueGranted(ctx, Grant{UserID: userID, CompanyID: companyID, ClientID: clientID, Scopes: scopes}, ttl)
}

// Grant describes the access that a token is issued for.
type Grant struct {
	ID        string // grt_…
	UserID    string
	CompanyID string
	ClientID  string
	Scopes    []string
}

// IssueGranted signs an access token of a grant, valid for ttl, and returns it with its expiry.
func (t *Tokens) IssueGranted(ctx context.Context, g Grant, ttl time.Duration) (token string, expires time.Time, err error) {
	if ttl > MaxTokenLife {
		return "", time.Time{}, fmt.Errorf("sign a token: %s is longer than the keys are kept", ttl)
	}
	now := t.now()
	expires = now.Add(ttl)
	token, err = t.keys.Sign(ctx, "at+jwt", Claims{
		Issuer: t.issuer, Audience: jwt.Audience{t.audience}, Subject: g.UserID, Company: g.CompanyID,
		Scope: strings.Join(g.Scopes, " "), ClientID: g.ClientID, Grant: g.ID, TokenUse: AccessTokenUse, ID: id.New("tok"),
		IssuedAt: jwt.NewNumericDate(now), IssuedMillis: now.UnixMilli(), ExpiresAt: jwt.NewNumericDate(expires),
	})
	return token, expires.Truncate(time.Second), err
}

// ErrToken is returned by Verify for every invalid token, whatever the reason.
var ErrToken = errors.New("identity: the token is not valid")

// Verify checks signature, algorithm, issuer, audience, expiry and token_use of an access token. Returns ErrToken for every
// invalid token; other errors mean that the keys could not be read.
//
// It parses the token once, while go-oidc, which is for other issuers' tokens, parses it three times: every API call with a
// new token comes through here.
func (t *Tokens) Verify(ctx context.Context, token string) (*Claims, error) {
	payload, err := keySource{t.keys}.VerifySignature(ctx, token)
	if err != nil {
		return nil, err
	}
	var c Claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if c.TokenUse != AccessTokenUse || c.Subject == "" || c.Company == "" || c.ExpiresAt == nil {
		return nil, fmt.Errorf("%w: it is no access token", ErrToken)
	}
	said := jwt.Claims{Issuer: c.Issuer, Audience: c.Audience, Expiry: c.ExpiresAt}
	err = said.ValidateWithLeeway(jwt.Expected{Issuer: t.issuer, AnyAudience: jwt.Audience{t.audience}, Time: t.now()}, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return &c, nil
}

// Set returns the keys in go-oidc's form, for checking signatures.
func (k *Keys) Set() oidc.KeySet { return keySource{k} }

// keySource implements go-oidc's key set with the provider's keys. It refuses a token with an unknown key without asking
// elsewhere.
type keySource struct{ keys *Keys }

// VerifySignature returns the payload of a token that one of the keys has signed, and ErrToken for every other token.
func (s keySource) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(parsed.Signatures) != 1 {
		return nil, fmt.Errorf("%w: malformed", ErrToken)
	}
	set, err := s.keys.Public(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range set.Key(parsed.Signatures[0].Header.KeyID) {
		payload, err := parsed.Verify(key)
		if err == nil {
			return payload, nil
		}
	}
	return nil, fmt.Errorf("%w: unknown key or bad signature", ErrToken)
}

// HashOf returns the SHA-256 under which a secret is stored. The secrets are random, so no slow hash is needed.
func HashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
