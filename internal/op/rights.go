package op

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/clock"
	"atrium/internal/principal"
)

// maxRemembered bounds the companies, the compiled policies and the callers that are remembered; past it all of a kind
// are forgotten.
const maxRemembered = 20_000

// rights remembers the companies' access policies, and what policies ask of callers, for as long as nothing that they
// are made of has changed anywhere (store.Authority). The zero value is ready.
type rights struct {
	mu       sync.RWMutex
	version  uint64
	sets     map[string]*authz.Set // by company, under version
	facts    map[string]*facts     // by company and caller, under version
	compiled map[string]*authz.Compiled
}

// facts is what policies may ask of a caller beyond its principal.
type facts struct {
	teamIDs    []string
	attributes map[string]string
}

// Policies returns the access policies in force in a company, as changed by anyone up to a moment ago. Policies that
// cannot be read are an error, which callers treat as a refusal.
func (e *Engine) Policies(ctx context.Context, companyID string) (*authz.Set, error) {
	version, heard := e.Store.Authority()
	if heard {
		e.rights.mu.RLock()
		set, ok := e.rights.sets[companyID]
		ok = ok && e.rights.version == version
		e.rights.mu.RUnlock()
		if ok {
			return set, nil
		}
	}
	db := principal.With(ctx, principal.Worker(companyID, "access policies"))
	rows, err := e.Store.Reader().AccessPolicy.Query().Where(accesspolicy.Enabled(true)).All(db)
	if err != nil {
		return nil, fmt.Errorf("read the company's access policies: %w", err)
	}
	compiled := make([]*authz.Compiled, len(rows))
	for i, row := range rows {
		if compiled[i], err = e.compiled(ctx, row); err != nil {
			return nil, fmt.Errorf("read the access policy %s: %w", row.ID, err)
		}
	}
	set := authz.NewSet(compiled)
	if heard {
		e.rights.remember(version, func(r *rights) {
			if old := r.sets[companyID]; len(r.sets) >= maxRemembered && old == nil {
				clear(r.sets)
			}
			r.sets[companyID] = set
		})
	}
	return set, nil
}

// remember runs note under the lock, after everything of another version was forgotten.
func (r *rights) remember(version uint64, note func(*rights)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version != version || r.sets == nil {
		r.version, r.sets, r.facts = version, map[string]*authz.Set{}, map[string]*facts{}
	}
	note(r)
}

// compiled returns a policy as it was compiled before: a version of a policy never changes.
func (e *Engine) compiled(ctx context.Context, row *ent.AccessPolicy) (*authz.Compiled, error) {
	key := row.ID + "/" + strconv.Itoa(row.Version)
	e.rights.mu.RLock()
	c := e.rights.compiled[key]
	e.rights.mu.RUnlock()
	if c != nil {
		return c, nil
	}
	c, err := e.Authz.Compile(ctx, PolicyOf(row))
	if err != nil {
		return nil, err
	}
	e.rights.mu.Lock()
	defer e.rights.mu.Unlock()
	if e.rights.compiled == nil || len(e.rights.compiled) >= maxRemembered {
		e.rights.compiled = map[string]*authz.Compiled{}
	}
	e.rights.compiled[key] = c
	return c, nil
}

// PolicyOf returns a kept policy as authz reads it.
func PolicyOf(row *ent.AccessPolicy) authz.Policy {
	return authz.Policy{
		ID: row.ID, Version: row.Version, Effect: string(row.Effect), Action: row.Action, Resource: row.Resource, Condition: row.Condition,
		Kept: true,
	}
}

// Caller returns the principal as the policies see it: with its teams and attributes where a policy asks for them.
func (e *Engine) Caller(ctx context.Context, set *authz.Set, p *principal.Principal) (*authz.Caller, error) {
	c := &authz.Caller{Principal: p, Time: clock.From(ctx).Now()}
	if p.Type != principal.TypeUser || !e.Authz.AsksCaller(set) {
		return c, nil
	}
	f, err := e.factsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	c.TeamIDs, c.Attributes = f.teamIDs, f.attributes
	return c, nil
}

// factsOf reads what is known of a user; changes of attributes and memberships are changes of authority.
func (e *Engine) factsOf(ctx context.Context, p *principal.Principal) (*facts, error) {
	version, heard := e.Store.Authority()
	key := p.CompanyID + "/" + p.ID
	if heard {
		e.rights.mu.RLock()
		f, ok := e.rights.facts[key]
		ok = ok && e.rights.version == version
		e.rights.mu.RUnlock()
		if ok {
			return f, nil
		}
	}
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
	if heard {
		e.rights.remember(version, func(r *rights) {
			if len(r.facts) >= maxRemembered {
				clear(r.facts)
			}
			r.facts[key] = f
		})
	}
	return f, nil
}
