package provider

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"atrium/internal/identity"
)

// UserInfo returns the claims of an access token's user that the token's scopes allow.
func (s server) UserInfo(ctx context.Context, r *op.Request[oidc.UserInfoRequest]) (*op.Response, error) {
	invalid := op.NewStatusError(&oidc.Error{ErrorType: "invalid_token", Description: "the access token is not valid"}, http.StatusUnauthorized)
	claims, err := s.p.tokens.Verify(ctx, r.Data.AccessToken)
	if errors.Is(err, identity.ErrToken) {
		return nil, invalid
	}
	if err != nil {
		return nil, s.p.serverError(ctx, "verify an access token", err)
	}
	who, err := s.p.subjectOf(ctx, claims)
	if err != nil {
		return nil, s.p.serverError(ctx, "tell about a user", err)
	}
	if who == nil {
		return nil, invalid
	}
	scopes := claims.Scopes()
	if !slices.Contains(scopes, oidc.ScopeOpenID) {
		return nil, op.NewStatusError(&oidc.Error{ErrorType: "insufficient_scope", Description: "this takes the scope openid"}, http.StatusForbidden)
	}
	out := &oidc.UserInfo{Subject: who.user.ID}
	describe(who.user, scopes, &out.UserInfoProfile, &out.UserInfoEmail)
	return op.NewResponse(out), nil
}
