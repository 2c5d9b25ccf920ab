package authn

import (
	"context"
	"errors"
	"fmt"

	"atrium/internal/identity"
	"atrium/internal/identity/issuer"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// otherClient prefixes the names of another issuer's clients, so that they cannot be taken for ours, least of all for
// the operator's.
const otherClient = "external:"

// verifyOther recognises an access token of the configured issuer.
func (a *Authenticator) verifyOther(ctx context.Context, token string) (*Credential, error) {
	said, err := a.others.Issuer().AccessToken(ctx, token)
	if err != nil {
		return nil, ofOther(err)
	}
	u, err := a.others.Find(ctx, said, "")
	if err != nil {
		return nil, ofOther(err)
	}
	claims := &identity.Claims{Subject: u.ID, Company: u.CompanyID, ClientID: otherClient + said.ClientID, IssuedMillis: said.IssuedAt.UnixMilli()}
	s, err := a.readSubject(ctx, claims)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("%w: no such user", ErrRefused)
	}
	if err := s.stands(claims); err != nil {
		return nil, err
	}
	c := s.credential(claims, apiScopes(said.Scopes), said.ExpiresAt)
	if c.Principal.Scopes == 0 {
		// The issuer has no scopes of ours: its tokens carry all scopes, limited by the user's role.
		c.Principal.Scopes = principal.AllScopes
	}
	c.Principal.AuthenticatedAt = said.AuthenticatedAt
	return c, a.place(ctx, c, &s.tenancy, false, nil)
}

// ofOther turns the issuer's refusals into those of this package.
func ofOther(err error) error {
	switch {
	case errors.Is(err, issuer.ErrToken), errors.Is(err, issuer.ErrNoMember):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, issuer.ErrUnavailable):
		out := apperr.Wrap(err, apperr.Unavailable, "The identity provider does not answer at the moment. Try again shortly.")
		out.RetryAfter = 10
		return out
	}
	return fmt.Errorf("recognise the token of another issuer: %w", err)
}
