package op

import (
	"context"
	"fmt"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// policyCache holds the companies' access policies, and what policies ask of callers, until a row changes on any node that they are
// made from (store.AuthorityCache). The zero value is ready.
type policyCache struct {
	sets  store.AuthorityCache[*authz.Set] // by company
	facts store.AuthorityCache[*facts]     // by company and caller
}

// facts are what policies may ask of a caller beyond its principal.
type facts struct {
	teamIDs    []string
	attributes map[string]string
}

// Policies returns the company's enabled access policies, including changes that any node made up to a moment ago. An error
// means that they cannot be read; callers treat it as a refusal.
func (e *Engine) Policies(ctx context.Context, companyID string) (*authz.Set, error) {
	return e.policies.sets.Get(e.Store, companyID, func() (*authz.Set, error) {
		db := principal.With(ctx, principal.Worker(companyID, "access policies"))
		rows, err := e.Store.Reader().AccessPolicy.Query().Where(accesspolicy.Enabled(true)).All(db)
		if err != nil {
			return nil, fmt.Errorf("read the company's access policies: %w", err)
		}
		compiled := make([]*authz.Compiled, len(rows))
		for i, row := range rows {
			if compiled[i], err = e.Authz.Compile(ctx, policyOf(row)); err != nil {
				return nil, fmt.Errorf("read the access policy %s: %w", row.ID, err)
			}
		}
		return authz.NewSet(compiled), nil
	})
}

// policyOf returns a stored policy in the form that authz reads.
func policyOf(row *ent.AccessPolicy) authz.Policy {
	return authz.Policy{
		ID: row.ID, Version: row.Version, Effect: string(row.Effect), Action: row.Action, Resource: row.Resource, Condition: row.Condition,
		Kept: true,
	}
}

// Caller returns a principal as the policies see it: with its teams and attributes if any policy asks for them.
func (e *Engine) Caller(ctx context.Context, set *authz.Set, p *principal.Principal) (*authz.Caller, error) {
	out := &authz.Caller{Principal: p, Time: clock.From(ctx).Now()}
	if p.Type != principal.TypeUser || !e.Authz.AsksCaller(set) {
		return out, nil
	}
	f, err := e.factsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	out.TeamIDs, out.Attributes = f.teamIDs, f.attributes
	return out, nil
}

// factsOf reads a user's teams and attributes. The cache is valid because changes of attributes and memberships are changes of
// authority.
func (e *Engine) factsOf(ctx context.Context, p *principal.Principal) (*facts, error) {
	return e.policies.facts.Get(e.Store, p.CompanyID+"/"+p.ID, func() (*facts, error) {
		db := principal.With(ctx, p.WithRows(nil))
		u, err := e.Store.Reader().User.Query().Where(user.ID(p.ID)).WithMemberships(func(q *ent.TeamMemberQuery) {
			q.Order(teammember.ByTeamID())
		}).Only(db)
		if err != nil && !ent.IsNotFound(err) {
			return nil, fmt.Errorf("read the caller's teams and attributes: %w", err)
		}
		f := &facts{teamIDs: []string{}}
		if u != nil {
			f.attributes = u.Attributes
			for _, m := range u.Edges.Memberships {
				f.teamIDs = append(f.teamIDs, m.TeamID)
			}
		}
		return f, nil
	})
}
