package rights

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

// Cache holds the companies' access policies, and what policies ask of callers, until a row changes on any node that they are
// made from (store.AuthorityCache). The zero value is ready.
type Cache struct {
	sets  store.AuthorityCache[*authz.Set] // by company
	facts store.AuthorityCache[*facts]     // by company and caller
}

// From says where cached values are read from.
type From struct {
	Store *store.Store
	Authz *authz.Engine
}

// facts are what policies may ask of a caller beyond its principal.
type facts struct {
	teamIDs    []string
	attributes map[string]string
}

// Policies returns the company's enabled access policies, including changes that any node made up to a moment ago. An error
// means that they cannot be read; callers treat it as a refusal.
func (c *Cache) Policies(ctx context.Context, from From, companyID string) (*authz.Set, error) {
	return c.sets.Get(from.Store, companyID, func() (*authz.Set, error) {
		db := principal.With(ctx, principal.Worker(companyID, "access policies"))
		rows, err := from.Store.Reader().AccessPolicy.Query().Where(accesspolicy.Enabled(true)).All(db)
		if err != nil {
			return nil, fmt.Errorf("read the company's access policies: %w", err)
		}
		compiled := make([]*authz.Compiled, len(rows))
		for i, row := range rows {
			if compiled[i], err = from.Authz.Compile(ctx, policyOf(row)); err != nil {
				return nil, fmt.Errorf("read the access policy %s: %w", row.ID, err)
			}
		}
		return authz.NewSet(compiled), nil
	})
}

// Known returns the company's enabled access policies if they are in memory.
func (c *Cache) Known(from From, companyID string) (*authz.Set, bool) {
	return c.sets.Kept(from.Store, companyID)
}

// policyOf returns a stored policy in the form that authz reads.
func policyOf(row *ent.AccessPolicy) authz.Policy {
	return authz.Policy{
		ID: row.ID, Version: row.Version, Effect: string(row.Effect), Action: row.Action, Resource: row.Resource, Condition: row.Condition,
		Kept: true,
	}
}

// Caller returns the principal as the policies see it: with its teams and attributes if any policy asks for them.
func (c *Cache) Caller(ctx context.Context, from From, set *authz.Set, p *principal.Principal) (*authz.Caller, error) {
	out := &authz.Caller{Principal: p, Time: clock.From(ctx).Now()}
	if p.Type != principal.TypeUser || !from.Authz.AsksCaller(set) {
		return out, nil
	}
	f, err := c.factsOf(ctx, from, p)
	if err != nil {
		return nil, err
	}
	out.TeamIDs, out.Attributes = f.teamIDs, f.attributes
	return out, nil
}

// factsOf reads a user's teams and attributes. The cache is valid because changes of attributes and memberships are changes of
// authority.
func (c *Cache) factsOf(ctx context.Context, from From, p *principal.Principal) (*facts, error) {
	return c.facts.Get(from.Store, p.CompanyID+"/"+p.ID, func() (*facts, error) {
		db := principal.With(ctx, p.WithRows(nil))
		u, err := from.Store.Reader().User.Query().Where(user.ID(p.ID)).WithMemberships(func(q *ent.TeamMemberQuery) {
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
