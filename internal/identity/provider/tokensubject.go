package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"atrium/ent"
	"atrium/ent/grant"
	"atrium/ent/refreshtoken"
	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/identity/access"
	"atrium/internal/platform/store"
)

// tokenSubject holds the user and the grant of a token that is still valid.
type tokenSubject struct {
	user  *ent.User
	grant *ent.Grant // nil for a token of the operator
}

// subjectOf returns the user and the grant of an access token whose signature and times are valid. Returns nil when the grant is
// revoked or deleted, or when the user is deactivated or deleted or has signed out everywhere since.
func (p *Provider) subjectOf(ctx context.Context, c *identity.Claims) (*tokenSubject, error) {
	out, since := &tokenSubject{}, c.Issued()
	if c.Grant != "" {
		g, err := p.store.Reader().Grant.Query().Where(grant.ID(c.Grant), grant.UserID(c.Subject), grant.RevokedAtIsNil()).
			Only(p.within(ctx, c.Company))
		if ent.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("look the grant up: %w", err)
		}
		out.grant, since = g, g.AuthenticatedAt
	}
	return p.ofUser(ctx, out, c.Subject, c.Company, since)
}

// ofUser adds the user to the subject of a token; it returns nil when the user may no longer sign in.
func (p *Provider) ofUser(ctx context.Context, out *tokenSubject, userID, companyID string, since time.Time) (*tokenSubject, error) {
	var err error
	out.user, err = userIn(p.global(ctx), p.store.Reader(), userID, companyID, since)
	if errors.Is(err, errAccessEnded) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// userIn returns a user of a company. Returns errAccessEnded for a user who is not found, is deactivated, or has signed out everywhere
// at or after since. The live user of a sandbox user must pass the same checks. ctx must reach all companies.
func userIn(ctx context.Context, db *ent.Client, id, companyID string, since time.Time) (*ent.User, error) {
	u, err := db.User.Query().Where(user.ID(id), user.CompanyID(companyID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, errAccessEnded
	}
	if err != nil {
		return nil, fmt.Errorf("look the user up: %w", err)
	}
	if access.Gone(u.Status) || u.SignedOutAt != nil && !since.After(*u.SignedOutAt) {
		return nil, errAccessEnded
	}
	if u.LiveUserID != nil {
		live, err := db.User.Get(ctx, *u.LiveUserID)
		if err != nil {
			return nil, fmt.Errorf("look the live user up: %w", err)
		}
		if _, err := userIn(ctx, db, live.ID, live.CompanyID, since); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// family looks a token up. It returns the claims of a valid access token, or the row of a refresh token with its grant; both
// are nil for any other text.
func (p *Provider) family(ctx context.Context, token string) (*identity.Claims, *ent.RefreshToken, error) {
	claims, err := p.tokens.Verify(ctx, token)
	if err == nil || !errors.Is(err, identity.ErrToken) {
		return claims, nil, err
	}
	row, err := p.store.Reader().RefreshToken.Query().Where(refreshtoken.Hash(identity.HashOf(token))).WithGrant().Only(p.global(ctx))
	if ent.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look the token up: %w", err)
	}
	return nil, row, nil
}

// Revocation revokes the grant of a token that was issued to the client, and so all tokens of that grant (RFC 7009). A token
// that is no longer valid is not an error.
func (s server) Revocation(ctx context.Context, r *op.ClientRequest[oidc.RevocationRequest]) (*op.Response, error) {
	c, err := asClient(r.Client)
	if err != nil {
		return nil, err
	}
	claims, row, err := s.p.family(ctx, r.Data.Token)
	if err != nil {
		return nil, s.p.serverError(ctx, "revoke a token", err)
	}
	var companyID, grantID, clientID string
	switch {
	case claims != nil:
		companyID, grantID, clientID = claims.Company, claims.Grant, claims.ClientID
	case row != nil:
		companyID, grantID, clientID = row.CompanyID, row.GrantID, row.Edges.Grant.ClientID
	default:
		return op.NewResponse(nil), nil
	}
	if clientID != c.id {
		return nil, badGrant("the token was issued to another client")
	}
	err = s.p.store.Write(s.p.within(ctx, companyID), func(ctx context.Context, tx *store.Tx) error {
		_, err := access.End(ctx, access.In(tx, s.p.queue), access.Grant(grantID), access.TokenRevoked)
		return err
	})
	if err != nil {
		return nil, s.p.serverError(ctx, "revoke a token", err)
	}
	return op.NewResponse(nil), nil
}

// Introspect returns the state of a token that was issued to the calling confidential client (RFC 7662). All other tokens are
// reported as not active.
func (s server) Introspect(ctx context.Context, r *op.Request[op.IntrospectionRequest]) (*op.Response, error) {
	verified, err := s.VerifyClient(ctx, &op.Request[op.ClientCredentials]{Form: r.Form, Data: r.Data.ClientCredentials})
	if err != nil {
		return nil, err
	}
	c, err := asClient(verified)
	if err != nil || !c.confidential {
		return nil, unauthenticated("introspection takes a client with a secret")
	}
	out := &oidc.IntrospectionResponse{}
	claims, row, err := s.p.family(ctx, r.Data.Token)
	if err == nil {
		switch {
		case claims != nil && claims.ClientID == c.id:
			err = s.p.introspectAccess(ctx, claims, out)
		case row != nil && row.Edges.Grant.ClientID == c.id:
			err = s.p.introspectRefresh(ctx, row, out)
		}
	}
	if err != nil {
		return nil, s.p.serverError(ctx, "introspect a token", err)
	}
	return op.NewResponse(out), nil
}

func (p *Provider) introspectAccess(ctx context.Context, c *identity.Claims, out *oidc.IntrospectionResponse) error {
	who, err := p.subjectOf(ctx, c)
	if err != nil || who == nil {
		return err
	}
	*out = oidc.IntrospectionResponse{
		Active: true, Scope: c.Scopes(), ClientID: c.ClientID, TokenType: oidc.BearerToken, Subject: c.Subject, Username: who.user.Email,
		Audience: oidc.Audience(c.Audience), Issuer: c.Issuer, JWTID: c.ID,
		Expiration: oidc.FromTime(c.ExpiresAt.Time()), IssuedAt: oidc.FromTime(c.IssuedAt.Time()),
	}
	if who.grant != nil {
		out.AuthTime, out.AuthenticationMethodsReferences = oidc.FromTime(who.grant.AuthenticatedAt), who.grant.Methods
	}
	return nil
}

func (p *Provider) introspectRefresh(ctx context.Context, row *ent.RefreshToken, out *oidc.IntrospectionResponse) error {
	g := row.Edges.Grant
	if row.UsedAt != nil || g.RevokedAt != nil || !p.now().Before(row.ExpiresAt) {
		return nil
	}
	who, err := p.ofUser(ctx, &tokenSubject{grant: g}, g.UserID, g.CompanyID, g.AuthenticatedAt)
	if err != nil || who == nil {
		return err
	}
	*out = oidc.IntrospectionResponse{
		Active: true, Scope: g.Scopes, ClientID: g.ClientID, TokenType: "refresh_token", Subject: g.UserID, Username: who.user.Email,
		Issuer: p.issuer, Expiration: oidc.FromTime(row.ExpiresAt), IssuedAt: oidc.FromTime(row.CreatedAt),
	}
	return nil
}
