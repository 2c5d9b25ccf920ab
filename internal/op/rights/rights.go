package rights

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/clock"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// maxCompiled bounds the compiled policies that are kept; past it all are forgotten.
const maxCompiled = 20_000

// Cache remembers the companies' access policies, and what policies ask of callers, for as long as nothing that they
// are made of has changed anywhere (store.Remembered). The zero value is ready.
type Cache struct {
	sets  store.Remembered[*authz.Set] // by company
	facts store.Remembered[*facts]     // by company and caller

	mu       sync.RWMutex
	compiled map[string]*authz.Compiled // by id and version of the policy, which never changes
}

// From is what is remembered comes from.
type From struct {
	Store *store.Store
	Authz *authz.Engine
}

// facts is what policies may ask of a caller beyond its principal.
type facts struct {
	teamIDs    []string
	attributes map[string]string
}

// Policies returns the access policies in force in a company, as changed by anyone up to a moment ago. Policies that
// cannot be read are an error, which callers treat as a refusal.
func (c *Cache) Policies(ctx context.Context, from From, companyID string) (*authz.Set, error) {
	return c.sets.Get(from.Store, companyID, func() (*authz.Set, error) {
		db := principal.With(ctx, principal.Worker(companyID, "access policies"))
		rows, err := from.Store.Reader().AccessPolicy.Query().Where(accesspolicy.Enabled(true)).All(db)
		if err != nil {
			return nil, fmt.Errorf("read the company's access policies: %w", err)
		}
		compiled := make([]*authz.Compiled, len(rows))
		for i, row := range rows {
			if compiled[i], err = c.compile(ctx, from, row); err != nil {
				return nil, fmt.Errorf("read the access policy %s: %w", row.ID, err)
			}
		}
		return authz.NewSet(compiled), nil
	})
}

// Known returns the access policies in force in a company where they need not be read.
func (c *Cache) Known(from From, companyID string) (*authz.Set, bool) {
	return c.sets.Kept(from.Store, companyID)
}

// compilers are the turns of compiling a policy. The heaviest takes some 20 ms, and a company may have 200: without turns each
// of its calls compiled all of them at once after a start, and other companies' calls had no processor for seconds.
var compilers = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// compile returns a policy as it was compiled before: a version of a policy never changes.
func (c *Cache) compile(ctx context.Context, from From, row *ent.AccessPolicy) (*authz.Compiled, error) {
	key := row.ID + "/" + strconv.Itoa(row.Version)
	if p := c.known(key); p != nil {
		return p, nil
	}
	select {
	case compilers <- struct{}{}:
		defer func() { <-compilers }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := c.known(key); p != nil { // somebody else compiled it meanwhile
		return p, nil
	}
	p, err := from.Authz.Compile(ctx, policyOf(row))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || len(c.compiled) >= maxCompiled {
		c.compiled = map[string]*authz.Compiled{}
	}
	c.compiled[key] = p
	return p, nil
}

func (c *Cache) known(key string) *authz.Compiled {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.compiled[key]
}

// policyOf returns a kept policy as authz reads it.
func policyOf(row *ent.AccessPolicy) authz.Policy {
	return authz.Policy{
		ID: row.ID, Version: row.Version, Effect: string(row.Effect), Action: row.Action, Resource: row.Resource, Condition: row.Condition,
		Kept: true,
	}
}

// Caller returns the principal as the policies see it: with its teams and attributes where a policy asks for them.
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

// factsOf reads what is known of a user; changes of attributes and memberships are changes of authority.
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
