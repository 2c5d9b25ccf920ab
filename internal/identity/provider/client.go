package provider

import (
	"context"
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
	"atrium/internal/platform/principal"
)

// client is an OAuth client. It implements the client interface of the protocol library.
type client struct {
	id            string
	name          string
	companyID     string // empty for the web application
	redirects     []string
	postLogout    []string
	scopes        []string
	secretHash    []byte // none for public clients
	confidential  bool
	loginURL      func(requestID string) string
	idTokenExpiry time.Duration
}

var _ op.Client = (*client)(nil)

// idLike reports whether an untrusted text has the form of an id. Only such texts are looked up.
func idLike(s string) bool {
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-'
	})
}

// client returns the client with an id; nil when none exists.
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
		scopes: row.Scopes, secretHash: row.SecretHash, confidential: row.Confidential,
		loginURL: p.loginURL, idTokenExpiry: idLife,
	}, nil
}

// webClient returns the product's own web application, which needs neither registration nor consent.
func (p *Provider) webClient() *client {
	return &client{
		id: identity.WebClient, name: "Atrium", redirects: []string{p.base + "/login/callback"},
		postLogout: []string{p.base + "/", p.base}, scopes: principal.ScopeNames, loginURL: p.loginURL, idTokenExpiry: idLife,
	}
}

// loginURL returns the address of the page where a person answers a request.
func (p *Provider) loginURL(requestID string) string {
	return p.issuer + "/signin?request=" + requestID
}

// firstParty reports whether the client is the web application.
func (c *client) firstParty() bool { return c.id == identity.WebClient }

// proves reports whether secret is the client's secret. The comparison takes constant time.
func (c *client) proves(secret string) bool {
	return c.confidential && subtle.ConstantTimeCompare(identity.HashOf(secret), c.secretHash) == 1
}

// grantable returns those of names that the client may have, in their order and without duplicates: the standard scopes of
// OpenID Connect that are served, and the API scopes that the client is registered with. Returns invalid_scope for a name that is
// no scope, as a mistyped one would otherwise give a token with all of the client's, and when names contains API scopes and
// the client has none of them.
func (c *client) grantable(names []string) ([]string, error) {
	asked, got, granted := false, false, []string{}
	for _, s := range names {
		ofAPI, standard := ofAPI(s), identity.StandardScope(s)
		if !ofAPI && !standard && !slices.Contains(unserved, s) {
			return nil, &refusal{"invalid_scope", "a scope is unknown; the metadata lists those that are served"}
		}
		allowed := ofAPI && slices.Contains(c.scopes, s)
		asked, got = asked || ofAPI, got || allowed
		if (allowed || standard) && !slices.Contains(granted, s) {
			granted = append(granted, s)
		}
	}
	if asked && !got {
		return nil, &refusal{"invalid_scope", "the client has none of the API scopes that were asked for"}
	}
	return granted, nil
}

// unserved are OpenID Connect's own scopes for what an account does not have. General clients ask for them; they give nothing.
var unserved = []string{oidc.ScopeAddress, oidc.ScopePhone}

// ofAPI reports whether a scope is an API scope.
func ofAPI(scope string) bool { return principal.ScopeOf(scope) != 0 }

// reach returns the scopes that tokens with the granted scopes have in effect. A token without any API scope has all API scopes
// that its client is registered with.
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

// The methods below implement op.Client.

// GetID returns the client_id.
func (c *client) GetID() string { return c.id }

// RedirectURIs returns the registered redirect URIs.
func (c *client) RedirectURIs() []string { return c.redirects }

// PostLogoutRedirectURIs returns the registered addresses for after a logout.
func (c *client) PostLogoutRedirectURIs() []string { return c.postLogout }

// ApplicationType returns web for confidential clients, else native.
func (c *client) ApplicationType() op.ApplicationType {
	if c.confidential {
		return op.ApplicationTypeWeb
	}
	return op.ApplicationTypeNative
}

// AuthMethod returns how the client authenticates. Confidential clients may use client_secret_post as well as
// client_secret_basic.
func (c *client) AuthMethod() oidc.AuthMethod {
	if c.confidential {
		return oidc.AuthMethodBasic
	}
	return oidc.AuthMethodNone
}

// ResponseTypes returns code, the only one supported.
func (c *client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}

// GrantTypes returns the grant types that the token endpoint serves.
func (c *client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
}

// LoginURL returns the address of the page where a person answers a request.
func (c *client) LoginURL(requestID string) string { return c.loginURL(requestID) }

// AccessTokenType returns JWT.
func (c *client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

// IDTokenLifetime returns one hour for every client.
func (c *client) IDTokenLifetime() time.Duration { return c.idTokenExpiry }

// DevMode returns false: it would loosen the checks of redirect URIs.
func (c *client) DevMode() bool { return false }

// RestrictAdditionalIdTokenScopes removes no scopes.
func (c *client) RestrictAdditionalIdTokenScopes() func([]string) []string { return keep }

// RestrictAdditionalAccessTokenScopes removes no scopes.
func (c *client) RestrictAdditionalAccessTokenScopes() func([]string) []string { return keep }

func keep(scopes []string) []string { return scopes }

// IsScopeAllowed reports whether the client is registered with a scope.
func (c *client) IsScopeAllowed(scope string) bool { return slices.Contains(c.scopes, scope) }

// IDTokenUserinfoClaimsAssertion returns true: the ID token contains profile and e-mail when their scopes were granted.
func (c *client) IDTokenUserinfoClaimsAssertion() bool { return true }

// ClockSkew returns 0.
func (c *client) ClockSkew() time.Duration { return 0 }
