package provider

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"atrium/ent"
	"atrium/ent/oauthclient"
	"atrium/internal/identity"
	"atrium/internal/principal"
)

// client is an OAuth client, as the protocol library asks about it.
type client struct {
	id            string
	name          string
	companyID     string // empty for the web application
	redirects     []string
	postLogout    []string
	backchannel   string
	scopes        []string
	secretHash    []byte // none for public clients
	confidential  bool
	loginURL      func(requestID string) string
	idTokenExpiry time.Duration
}

var _ op.Client = (*client)(nil)

// idLike reports whether a text that came from outside may be looked up as an id.
func idLike(s string) bool {
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-'
	})
}

// client returns the client with an id; nil when there is none.
func (p *Provider) client(ctx context.Context, id string) (*client, error) {
	if id == identity.WebClient {
		return p.webClient(), nil
	}
	if !idLike(id) {
		return nil, nil
	}
	row, err := p.store.Reader().OAuthClient.Query().Where(oauthclient.ID(id)).Only(p.global(ctx))
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look the client up: %w", err)
	}
	return &client{
		id: row.ID, name: row.Name, companyID: row.CompanyID, redirects: row.RedirectUris, postLogout: row.PostLogoutRedirectUris,
		backchannel: row.BackchannelLogoutURI, scopes: row.Scopes, secretHash: row.SecretHash, confidential: row.Confidential,
		loginURL: p.loginURL, idTokenExpiry: idLife,
	}, nil
}

// webClient is the product's own web application, which needs no registration and asks for no consent.
func (p *Provider) webClient() *client {
	return &client{
		id: identity.WebClient, name: "Atrium", redirects: []string{p.base + "/login/callback"},
		postLogout: []string{p.base + "/", p.base}, scopes: principal.ScopeNames, loginURL: p.loginURL, idTokenExpiry: idLife,
	}
}

// loginURL is where a person answers a request.
func (p *Provider) loginURL(requestID string) string {
	return p.issuer + "/signin?request=" + requestID
}

// firstParty reports whether the client is the web application.
func (c *client) firstParty() bool { return c.id == identity.WebClient }

// proves reports whether secret is the client's, in a time that does not depend on where they differ.
func (c *client) proves(secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	return c.confidential && len(c.secretHash) == len(sum) && subtle.ConstantTimeCompare(sum[:], c.secretHash) == 1
}

// grantable returns the scopes of names that the client may have, each once, in their order: OpenID's own, and those of
// the API that it was registered with. ok is false when names held scopes of the API and the client has none of them.
func (c *client) grantable(names []string) (granted []string, ok bool) {
	asked, got := false, false
	for _, s := range names {
		ofAPI := ofAPI(s)
		allowed := ofAPI && slices.Contains(c.scopes, s)
		asked, got = asked || ofAPI, got || allowed
		if (allowed || identity.StandardScope(s)) && !slices.Contains(granted, s) {
			granted = append(granted, s)
		}
	}
	return granted, got || !asked
}

// ofAPI reports whether a scope is one of the API's.
func ofAPI(scope string) bool { return principal.MustScope(scope) != 0 }

// reach returns what tokens with the granted scopes can do: a token that names no scope of the API acts with all that
// its client was registered with.
func (c *client) reach(granted []string) []string {
	if slices.ContainsFunc(granted, ofAPI) {
		return granted
	}
	out := slices.Clone(granted)
	for _, s := range c.scopes {
		if ofAPI(s) {
			out = append(out, s)
		}
	}
	return out
}

// What the protocol library asks for.

// GetID returns the client_id.
func (c *client) GetID() string { return c.id }

// RedirectURIs returns the registered ones.
func (c *client) RedirectURIs() []string { return c.redirects }

// PostLogoutRedirectURIs returns the registered ones.
func (c *client) PostLogoutRedirectURIs() []string { return c.postLogout }

// ApplicationType is web for clients that keep a secret.
func (c *client) ApplicationType() op.ApplicationType {
	if c.confidential {
		return op.ApplicationTypeWeb
	}
	return op.ApplicationTypeNative
}

// AuthMethod tells how the client authenticates. client_secret_post is taken as well as client_secret_basic.
func (c *client) AuthMethod() oidc.AuthMethod {
	if c.confidential {
		return oidc.AuthMethodBasic
	}
	return oidc.AuthMethodNone
}

// ResponseTypes is code alone.
func (c *client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}

// GrantTypes are those that the token endpoint serves.
func (c *client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
}

// LoginURL is where a person answers a request.
func (c *client) LoginURL(requestID string) string { return c.loginURL(requestID) }

// AccessTokenType is JWT.
func (c *client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

// IDTokenLifetime is the same for all clients.
func (c *client) IDTokenLifetime() time.Duration { return c.idTokenExpiry }

// DevMode is off: it would loosen the rules of redirect URIs.
func (c *client) DevMode() bool { return false }

// RestrictAdditionalIdTokenScopes restricts nothing.
func (c *client) RestrictAdditionalIdTokenScopes() func([]string) []string { return keep }

// RestrictAdditionalAccessTokenScopes restricts nothing.
func (c *client) RestrictAdditionalAccessTokenScopes() func([]string) []string { return keep }

func keep(scopes []string) []string { return scopes }

// IsScopeAllowed reports whether the client was registered with a scope.
func (c *client) IsScopeAllowed(scope string) bool { return slices.Contains(c.scopes, scope) }

// IDTokenUserinfoClaimsAssertion is on: the ID token holds profile and e-mail when their scopes were granted.
func (c *client) IDTokenUserinfoClaimsAssertion() bool { return true }

// ClockSkew is none.
func (c *client) ClockSkew() time.Duration { return 0 }
