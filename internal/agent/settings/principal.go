package settings

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/serviceaccount"
	"atrium/ent/user"
	"atrium/internal/agent/worker"
	"atrium/internal/identity/access"
	"atrium/internal/notify/notice"
	"atrium/internal/platform/principal"
)

// PrincipalOf returns the principal of an agent, with its scopes and its role, which is limited by the owner's. Returns nil if
// the owner was deactivated.
func PrincipalOf(ctx context.Context, db *ent.Client, a *ent.Agent, s Settings) (*principal.Principal, error) {
	owner, err := db.User.Query().Where(user.ID(s.OwnerID), access.Here()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // the agent has no active owner
	}
	if err != nil {
		return nil, fmt.Errorf("look the agent's owner up: %w", err)
	}
	role := principal.Role(s.Role)
	if owner.Role == user.RoleMember {
		role = principal.Member
	}
	scopes, err := principal.ParseScopes(s.Scopes)
	if err != nil {
		return nil, fmt.Errorf("read the agent's scopes: %w", err)
	}
	return &principal.Principal{
		CompanyID: a.CompanyID, Type: principal.TypeAgent, ID: a.ID, Name: a.Name, Role: role, Scopes: scopes, Method: principal.MethodLocal,
	}, nil
}

// What keeps an agent from calling.
const (
	unpublished = "unpublished"
	ownerless   = "deactivated" // its owner is
)

// CallerOf returns the principal as which an agent calls outside of runs, by its published version, and what keeps it from calling;
// "" for nothing.
func CallerOf(ctx context.Context, db *ent.Client, a *ent.Agent) (*principal.Principal, string, error) {
	if a.Version == 0 {
		return nil, unpublished, nil
	}
	s, err := Published(ctx, db, a.ID, a.Version)
	if err != nil {
		return nil, "", err
	}
	self, err := PrincipalOf(ctx, db, a, s)
	if err == nil && self == nil {
		return nil, ownerless, nil
	}
	return self, "", err
}

// RequesterOf returns the requester as a reader. A requester that is neither an active person nor a service account reads only its
// own rows.
func RequesterOf(ctx context.Context, db *ent.Client, r *ent.Request) (*principal.Principal, error) {
	own := &principal.Principal{
		CompanyID: r.CompanyID, Type: principal.TypeServiceAccount, ID: r.RequesterID, Role: principal.Member, Scopes: principal.AllScopes,
		Method: principal.MethodLocal,
	}
	switch kind, _, _ := strings.Cut(r.RequesterID, "_"); kind {
	case "usr":
		u, err := db.User.Query().Where(user.ID(r.RequesterID)).Only(ctx)
		if err == nil && !access.Gone(u.Status) {
			return notice.PrincipalOf(u), nil
		}
		return own, worker.Wrap("look the requester up", ent.MaskNotFound(err))
	case "sa":
		sa, err := db.ServiceAccount.Query().Where(serviceaccount.ID(r.RequesterID)).Only(ctx)
		if err == nil {
			own.Role, own.Method = principal.Role(sa.Role), principal.MethodAPIKey
		}
		return own, worker.Wrap("look the requester up", ent.MaskNotFound(err))
	}
	return own, nil
}
