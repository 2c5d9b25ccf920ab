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
	"atrium/internal/access"
	"atrium/internal/identity"
	"atrium/internal/store"
)

// standing is who stands behind a token that is still good.
type standing struct {
	user  *ent.User
	grant *ent.Grant // nil for a token of the operator
}

// behind returns who stands behind an access token whose signature and times are good; nil when its grant is revoked or
// deleted, or its user is deactivated, deleted or has signed out everywhere since.
func (p *Provider) behind(ctx context.Context, c *identity.Claims) (*standing, error) {
	out, since := &standing{}, c.Issued()
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

// ofUser adds the user to a standing; nil when it is not good any more.
func (p *Provider) ofUser(ctx context.Context, out *standing, userID, companyID string, since time.Time) (*standing, error) {
	var err error
	out.user, err = userIn(p.global(ctx), p.store.Reader(), userID, companyID, since)
	if errors.Is(err, errOver) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// userIn returns a user of a company. Returns errOver for one that is not found, is deactivated or has signed out everywhere
// at or after a moment; of a sandbox's user the same is asked of the live one. The context reaches all companies.
func userIn(ctx context.Context, db *ent.Client, id, companyID string, since time.Time) (*ent.User, error) {
	u, err := db.User.Query().Where(user.ID(id), user.CompanyID(companyID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, errOver
	}
	if err != nil {
		return nil, fmt.Errorf("look the user up: %w", err)
	}
	if access.Gone(u.Status) || u.SignedOutAt != nil && !since.After(*u.SignedOutAt) {
		return nil, errOver
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

// family returns the grant that a token of the client belongs to and, of a refresh token, its row; nil for a text that
// is no token.
func (p *Provider) family(ctx context.Context, token string) (*identity.Claims, *ent.RefreshToken, error) {
	claims, err := p.tokens.Verify(ctx, token)
	if err == nil || !errors.Is(err, identity.ErrToken) {
		return claims, nil, err
	}
	row, err := p.store.Reader().RefreshToken.Query().Where(refreshtoken.Hash(hashOf(token))).WithGrant().Only(p.global(ctx))
	if ent.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look the token up: %w", err)
	}
	return nil, row, nil
}

// Revocation ends the family of a token of the client (RFC 7009). One that is not valid any more is no error.
func (s server) Revocation(ctx context.Context, r *op.ClientRequest[oidc.RevocationRequest]) (*op.Response, error) {
	c, err := ours(r.Client)
	if err != nil {
		return nil, err
	}
	claims, row, err := s.p.family(ctx, r.Data.Token)
	if err != nil {
		return nil, s.p.failed(ctx, "revoke a token", err)
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
		return nil, s.p.failed(ctx, "revoke a token", err)
	}
	return op.NewResponse(nil), nil
}

// Introspect tells a confidential client about a token that was issued to it (RFC 7662). Of every other token it learns
// only that it is not active.
func (s server) Introspect(ctx context.Context, r *op.Request[op.IntrospectionRequest]) (*op.Response, error) {
	verified, err := s.VerifyClient(ctx, &op.Request[op.ClientCredentials]{Form: r.Form, Data: r.Data.ClientCredentials})
	if err != nil {
		return nil, err
	}
	c, err := ours(verified)
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
		return nil, s.p.failed(ctx, "introspect a token", err)
	}
	return op.NewResponse(out), nil
}

func (p *Provider) introspectAccess(ctx context.Context, c *identity.Claims, out *oidc.IntrospectionResponse) error {
	who, err := p.behind(ctx, c)
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
	who, err := p.ofUser(ctx, &standing{grant: g}, g.UserID, g.CompanyID, g.AuthenticatedAt)
	if err != nil || who == nil {
		return err
	}
	*out = oidc.IntrospectionResponse{
		Active: true, Scope: g.Scopes, ClientID: g.ClientID, TokenType: "refresh_token", Subject: g.UserID, Username: who.user.Email,
		Issuer: p.issuer, Expiration: oidc.FromTime(row.ExpiresAt), IssuedAt: oidc.FromTime(row.CreatedAt),
	}
	return nil
}
