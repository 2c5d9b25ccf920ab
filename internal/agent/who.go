package agent

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/serviceaccount"
	"atrium/ent/user"
	"atrium/internal/access"
	"atrium/internal/apperr"
	"atrium/internal/notice"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// principalOf returns an agent as a caller: with its role, which is never above its owner's, and its scopes. Nobody (nil) where
// nobody answers for it any more.
func principalOf(ctx context.Context, db *ent.Client, a *ent.Agent, s settings) (*principal.Principal, error) {
	owner, err := db.User.Query().Where(user.ID(s.OwnerID), access.Here()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // nobody
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

// actor returns as whom the agent of a run acts by now, and what it obeys. Returns conflict where nobody answers for it any more.
func actor(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (*principal.Principal, settings, error) {
	ctx = tx.Unfiltered(ctx, "an agent's own settings")
	s, err := published(ctx, tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, s, err
	}
	a, err := tx.Agent.Get(ctx, run.AgentID)
	if err != nil {
		return nil, s, fmt.Errorf("read the agent: %w", err)
	}
	self, err := principalOf(ctx, tx.Client, a, s)
	if err == nil && self == nil {
		err = noMore()
	}
	return self, s, err
}

func noMore() error { return apperr.New(apperr.Conflict, "The agent may not do this any more.") }

// requesterOf returns whoever filed a request as a reader. What is no person and no service account reads its own rows alone.
func requesterOf(ctx context.Context, db *ent.Client, r *ent.Request) (*principal.Principal, error) {
	own := &principal.Principal{
		CompanyID: r.CompanyID, Type: principal.TypeServiceAccount, ID: r.CreatedBy, Role: principal.Member, Scopes: principal.AllScopes,
		Method: principal.MethodLocal,
	}
	switch kind, _, _ := strings.Cut(r.CreatedBy, "_"); kind {
	case "usr":
		u, err := db.User.Query().Where(user.ID(r.CreatedBy)).Only(ctx)
		if err == nil {
			return notice.PrincipalOf(u), nil
		}
		return own, wrap("look the requester up", ent.MaskNotFound(err))
	case "sa":
		sa, err := db.ServiceAccount.Query().Where(serviceaccount.ID(r.CreatedBy)).Only(ctx)
		if err == nil {
			own.Role, own.Method = principal.Role(sa.Role), principal.MethodAPIKey
		}
		return own, wrap("look the requester up", ent.MaskNotFound(err))
	}
	return own, nil
}

func wrap(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
