package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"

	"atrium/ent"
	"atrium/ent/authrequest"
	"atrium/ent/grant"
	"atrium/ent/refreshtoken"
	"atrium/internal/identity"
	"atrium/internal/identity/access"
	"atrium/internal/platform/id"
	"atrium/internal/platform/store"
)

// errUsed means that a code or a refresh token was used before.
var errUsed = errors.New("provider: used before")

// errAccessEnded means that the person behind a token, or the sign-in that the token came from, is no longer valid.
var errAccessEnded = errors.New("provider: the person or the sign-in is over")

// tokenResponse holds the contents of a token response.
type tokenResponse struct {
	grant   *ent.Grant
	user    *ent.User
	scopes  []string // of this access token
	nonce   string
	refresh string // the refresh token itself; empty for none
}

// redeem exchanges a code for tokens, once. A second use of the code revokes the grant of the first.
func (p *Provider) redeem(ctx context.Context, c *client, r *oidc.AccessTokenRequest) (*oidc.AccessTokenResponse, error) {
	row, err := p.store.Reader().AuthRequest.Query().Where(authrequest.CodeHash(identity.HashOf(r.Code))).Only(p.global(ctx))
	if ent.IsNotFound(err) {
		return nil, badGrant("the code is not valid")
	}
	if err != nil {
		return nil, p.serverError(ctx, "look a code up", err)
	}
	if row.CodeUsedAt != nil {
		return nil, p.replayed(ctx, row.ID)
	}
	if row.ClientID != c.id || !p.now().Before(row.ExpiresAt) || row.RedirectURI != r.RedirectURI || !verifies(r.CodeVerifier, row.CodeChallenge) {
		return nil, badGrant("the code is not valid for this client, redirect_uri and code_verifier")
	}
	out := &tokenResponse{nonce: row.Nonce, scopes: row.Scopes}
	err = p.store.Write(p.within(ctx, *row.TenantID), func(ctx context.Context, tx *store.Tx) error {
		return p.grantFor(ctx, tx, row, out)
	})
	switch {
	case errors.Is(err, errUsed):
		return nil, p.replayed(ctx, row.ID)
	case errors.Is(err, errAccessEnded):
		return nil, badGrant("the person has signed out or may no longer sign in")
	case err != nil:
		return nil, p.serverError(ctx, "redeem a code", err)
	}
	return p.respondTokens(ctx, c, out)
}

// verifies reports whether the challenge was made from the verifier (PKCE, S256).
func verifies(verifier, challenge string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	return oidc.VerifyCodeChallenge(&oidc.CodeChallenge{Challenge: challenge, Method: oidc.CodeChallengeMethodS256}, verifier)
}

// grantFor marks the code as used and creates the grant, and its first refresh token when the client asked for one.
func (p *Provider) grantFor(ctx context.Context, tx *store.Tx, row *ent.AuthRequest, out *tokenResponse) error {
	now, grantID := p.now(), id.New("grt")
	err := tx.AsSystem(ctx, "authorization requests and sign-ins belong to no company", func(ctx context.Context) (err error) {
		if out.user, err = userIn(ctx, tx.Client, *row.UserID, *row.TenantID, *row.AuthenticatedAt); err != nil {
			return err
		}
		if s, err := tx.SignIn.Get(ctx, *row.SignInID); err != nil || s.EndedAt != nil {
			if err != nil && !ent.IsNotFound(err) {
				return fmt.Errorf("look the sign-in up: %w", err)
			}
			return errAccessEnded
		}
		n, err := tx.AuthRequest.Update().Where(authrequest.ID(row.ID), authrequest.CodeUsedAtIsNil()).
			SetCodeUsedAt(now).SetGrantID(grantID).SetExpiresAt(now.Add(replayLife)).Save(ctx)
		if err != nil {
			return fmt.Errorf("mark the code as used: %w", err)
		}
		if n == 0 {
			return errUsed
		}
		return nil
	})
	if err != nil {
		return err
	}
	expires := now.Add(accessLife)
	offline := slices.Contains(row.Scopes, oidc.ScopeOfflineAccess)
	if offline {
		expires = now.Add(refreshLife)
	}
	out.grant, err = tx.Grant.Create().SetID(grantID).SetUserID(out.user.ID).SetClientID(row.ClientID).SetSignInID(*row.SignInID).
		SetScopes(row.Scopes).SetMethods(row.Methods).SetAuthenticatedAt(*row.AuthenticatedAt).SetExpiresAt(expires).Save(ctx)
	if err != nil {
		return fmt.Errorf("make the grant: %w", err)
	}
	if offline {
		if out.refresh, err = newRefreshToken(ctx, tx, grantID, expires); err != nil {
			return err
		}
	}
	if row.ClientID == identity.WebClient {
		return nil // the code that creates its session writes the audit entry
	}
	return auditGiven(ctx, tx, out.grant, out.user)
}

func newRefreshToken(ctx context.Context, tx *store.Tx, grantID string, expires time.Time) (string, error) {
	token := newToken()
	if err := tx.RefreshToken.Create().SetGrantID(grantID).SetHash(identity.HashOf(token)).SetExpiresAt(expires).Exec(ctx); err != nil {
		return "", fmt.Errorf("make a refresh token: %w", err)
	}
	return token, nil
}

// replayed revokes the grant of a code that was used a second time: two parties have the code, so one has stolen it.
func (p *Provider) replayed(ctx context.Context, requestID string) error {
	row, err := p.store.Reader().AuthRequest.Get(p.global(ctx), requestID)
	if err == nil && row.GrantID != nil {
		err = p.store.Write(p.within(ctx, *row.TenantID), func(ctx context.Context, tx *store.Tx) error {
			return p.revokeGrant(ctx, tx, *row.GrantID, row.ClientID, access.CodeReused)
		})
	}
	if err != nil && !ent.IsNotFound(err) {
		return p.serverError(ctx, "revoke what a replayed code gave", err)
	}
	return badGrant("the code is not valid")
}

// revokeGrant revokes a grant and writes the reason to the audit log. It does nothing for a grant that is already revoked. The
// transaction is the company's.
func (p *Provider) revokeGrant(ctx context.Context, tx *store.Tx, grantID, clientID string, why access.Reason) error {
	ended, err := access.End(ctx, access.In(tx, p.queue), access.Grant(grantID), why)
	if err != nil || ended.Grants == 0 {
		return err
	}
	p.log.WarnContext(ctx, "a grant was revoked", "reason", why, "client", clientID, "grant", grantID)
	return auditRevoked(ctx, tx, grantID, clientID, string(why))
}

// refreshGrace is how long a used refresh token gives tokens again: two tabs refresh at once, or an answer was lost. Until its successor is
// used, the client shows that it has none.
const refreshGrace = 30 * time.Second

// refresh exchanges a refresh token for new tokens. Within refreshGrace it does so again, with another successor of the same grant. A later
// use revokes the grant.
func (p *Provider) refresh(ctx context.Context, c *client, r *oidc.RefreshTokenRequest) (*oidc.AccessTokenResponse, error) {
	row, err := p.store.Reader().RefreshToken.Query().Where(refreshtoken.Hash(identity.HashOf(r.RefreshToken))).WithGrant().Only(p.global(ctx))
	if ent.IsNotFound(err) {
		return nil, badGrant("the refresh token is not valid")
	}
	if err != nil {
		return nil, p.serverError(ctx, "look a refresh token up", err)
	}
	g := row.Edges.Grant
	if g.ClientID != c.id || g.RevokedAt != nil || row.UsedAt == nil && !p.now().Before(row.ExpiresAt) {
		return nil, badGrant("the refresh token is not valid")
	}
	scopes, err := narrowed(g.Scopes, r.Scopes)
	if err != nil {
		return nil, err
	}
	out := &tokenResponse{grant: g, scopes: scopes}
	reused := false
	err = p.store.Write(p.within(ctx, g.CompanyID), func(ctx context.Context, tx *store.Tx) error {
		reused, err = p.rotate(ctx, tx, row, out)
		return err
	})
	switch {
	case errors.Is(err, errAccessEnded):
		return nil, badGrant("the person has signed out or may no longer sign in")
	case err != nil:
		return nil, p.serverError(ctx, "refresh tokens", err)
	case reused:
		return nil, badGrant("the refresh token is not valid")
	}
	return p.respondTokens(ctx, c, out)
}

// rotate marks the refresh token as used and creates the next one. When the token was used before and may not be used again, it revokes
// the grant and returns true.
func (p *Provider) rotate(ctx context.Context, tx *store.Tx, row *ent.RefreshToken, out *tokenResponse) (reused bool, err error) {
	now := p.now()
	n, err := tx.RefreshToken.Update().Where(refreshtoken.ID(row.ID), refreshtoken.UsedAtIsNil()).SetUsedAt(now).Save(ctx)
	if err != nil {
		return false, fmt.Errorf("mark the refresh token as used: %w", err)
	}
	if n == 0 {
		if again, err := mayRepeat(ctx, tx, row.ID, now); err != nil {
			return false, err
		} else if !again {
			return true, p.revokeGrant(ctx, tx, out.grant.ID, out.grant.ClientID, access.RefreshReused)
		}
	}
	err = tx.AsSystem(ctx, "a sandbox's user is as good as the live one, who is of another company", func(ctx context.Context) (err error) {
		out.user, err = userIn(ctx, tx.Client, out.grant.UserID, out.grant.CompanyID, out.grant.AuthenticatedAt)
		return err
	})
	if err != nil {
		return false, err
	}
	expires := now.Add(refreshLife)
	if out.refresh, err = newRefreshToken(ctx, tx, out.grant.ID, expires); err != nil {
		return false, err
	}
	n, err = tx.Grant.Update().Where(grant.ID(out.grant.ID), grant.RevokedAtIsNil()).SetExpiresAt(expires).Save(ctx)
	if err != nil {
		return false, fmt.Errorf("prolong the grant: %w", err)
	}
	if n == 0 {
		return false, errAccessEnded // revoked since it was read
	}
	return false, nil
}

// mayRepeat reports whether a refresh token that was used gives tokens again: a moment ago, and no token that came after it was used.
func mayRepeat(ctx context.Context, tx *store.Tx, tokenID string, now time.Time) (bool, error) {
	row, err := tx.RefreshToken.Get(ctx, tokenID)
	if err != nil {
		return false, fmt.Errorf("read the used refresh token: %w", err)
	}
	if now.Sub(*row.UsedAt) > refreshGrace {
		return false, nil
	}
	used, err := tx.RefreshToken.Query().Where(refreshtoken.GrantID(row.GrantID), refreshtoken.IDNEQ(row.ID),
		refreshtoken.CreatedAtGTE(*row.UsedAt), refreshtoken.UsedAtNotNil()).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for used successors: %w", err)
	}
	return !used, nil
}

// narrowed returns the scopes of a refreshed access token: those of the grant, or the subset that the client asks for. The
// subset of a grant with API scopes must contain an API scope, because a token without any has all of its client's API scopes.
func narrowed(granted, asked []string) ([]string, error) {
	if len(asked) == 0 {
		return granted, nil
	}
	for _, s := range asked {
		if !slices.Contains(granted, s) {
			return nil, oidc.ErrInvalidScope().WithDescription("a scope was not granted")
		}
	}
	if slices.ContainsFunc(granted, ofAPI) && !slices.ContainsFunc(asked, ofAPI) {
		return nil, oidc.ErrInvalidScope().WithDescription("at least one of the granted API scopes must be asked for")
	}
	return asked, nil
}

// respondTokens signs the tokens and returns the token response.
func (p *Provider) respondTokens(ctx context.Context, c *client, g *tokenResponse) (*oidc.AccessTokenResponse, error) {
	access, _, err := p.tokens.IssueGranted(ctx, identity.Grant{
		ID: g.grant.ID, UserID: g.user.ID, CompanyID: g.grant.CompanyID, ClientID: c.id, Scopes: g.scopes,
	}, accessLife)
	if err != nil {
		return nil, p.serverError(ctx, "sign an access token", err)
	}
	out := &oidc.AccessTokenResponse{
		AccessToken: access, TokenType: oidc.BearerToken, RefreshToken: g.refresh, Scope: g.scopes, ExpiresIn: uint64(accessLife / time.Second),
	}
	if slices.Contains(g.grant.Scopes, oidc.ScopeOpenID) {
		if out.IDToken, err = p.idToken(ctx, g, access); err != nil {
			return nil, p.serverError(ctx, "sign an ID token", err)
		}
	}
	return out, nil
}
