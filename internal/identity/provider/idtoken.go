package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"

	"atrium/ent"
	"atrium/internal/identity"
	"atrium/internal/platform/id"
)

// idToken returns a token that says who signed in, when and how. Its claim token_use keeps it from being accepted as an access
// token.
func (p *Provider) idToken(ctx context.Context, g *tokenResponse, accessToken string) (string, error) {
	atHash, err := oidc.ClaimHash(accessToken, jose.ES256)
	if err != nil {
		return "", fmt.Errorf("hash the access token: %w", err)
	}
	now := p.now()
	claims := &oidc.IDTokenClaims{
		TokenClaims: oidc.TokenClaims{
			Issuer: p.issuer, Subject: g.user.ID, Audience: oidc.Audience{g.grant.ClientID}, AuthorizedParty: g.grant.ClientID,
			IssuedAt: oidc.FromTime(now), Expiration: oidc.FromTime(now.Add(idLife)), AuthTime: oidc.FromTime(g.grant.AuthenticatedAt),
			Nonce: g.nonce, AuthenticationMethodsReferences: g.grant.Methods, JWTID: id.New("tok"),
		},
		AccessTokenHash: atHash, SessionID: g.grant.SignInID,
		Claims: map[string]any{"token_use": identity.IDTokenUse, "company": g.grant.CompanyID},
	}
	describe(g.user, g.grant.Scopes, &claims.UserInfoProfile, &claims.UserInfoEmail)
	return p.keys.Sign(ctx, "JWT", claims)
}

// describe fills in the user's claims that the scopes allow. E-mail addresses count as verified: a mail confirms each
// invitation and each change, and the operator gave the address of an owner.
func describe(u *ent.User, scopes []string, profile *oidc.UserInfoProfile, email *oidc.UserInfoEmail) {
	if slices.Contains(scopes, oidc.ScopeProfile) {
		profile.Name = u.Name
	}
	if slices.Contains(scopes, oidc.ScopeEmail) {
		email.Email, email.EmailVerified = u.Email, true
	}
}
