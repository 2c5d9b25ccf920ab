package op

import (
	"context"
	"slices"
	"strings"
	"sync"

	"atrium/authz"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
)

// These functions tell a page beforehand what its caller may do, so that it shows no button that would be refused. They refuse
// and record nothing: an operation checks its caller again.

// Permissions returns, in order, the rights that the role and the scopes of the context's principal grant, such as
// "request.update". It does not say which rows they reach or what access policies deny: see MayOn.
func Permissions(ctx context.Context, e *Engine) ([]string, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	granted := []string{}
	for _, info := range grantable(e) {
		d, err := e.grant(ctx, p, info, info.Verb)
		if err != nil {
			return nil, err
		}
		if d.Allow {
			granted = append(granted, info.Verb)
		}
	}
	return granted, nil
}

// MayCall reports whether role and scopes of the context's principal grant the rights that an operation requires at least. It does
// not say which rows the operation reaches or what access policies deny.
func MayCall(ctx context.Context, e *Engine, info *Info) (bool, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return false, nil
	}
	d, err := e.grant(ctx, p, info, info.Verbs()...)
	return d.Allow, err
}

// grant decides by role and scopes, and refuses a sandbox what only the live company has.
func (e *Engine) grant(ctx context.Context, p *principal.Principal, info *Info, verbs ...string) (authz.Decision, error) {
	if info.LiveOnly && p.Sandbox {
		return authz.Decision{}, nil
	}
	return e.decideAll(ctx, p, info, verbs, nil)
}

// Permits reports whether role, scopes and the company's access policies let the caller run an operation on this row. It leaves out
// whether the role reaches the row and whether the row's state allows the change: the operation that calls it knows.
func (tx *Tx) Permits(ctx context.Context, info *Info, row any) (bool, error) {
	d, err := tx.engine.grant(ctx, tx.principal, info, info.Verb)
	if err != nil || !d.Allow {
		return false, err
	}
	return permits(ctx, tx.engine, tx.principal, info, row)
}

// MayOn returns, in order, the rights to change this row that the context's principal has. It takes account of role, scopes,
// the role's reach, and the company's access policies for the row as it is, but not of whether the row's state allows the
// change.
func MayOn(ctx context.Context, e *Engine, row any) ([]string, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	name, _, ok := authz.EntityOf(row)
	if !ok {
		return nil, nil // not a row of any resource
	}
	may := []string{}
	allowed := map[Action]bool{}
	for _, info := range grantable(e) {
		if info.Resource != name || info.Action != Update && info.Action != Delete {
			continue
		}
		d, err := e.grant(ctx, p, info, info.Verb)
		if err != nil {
			return nil, err
		}
		if !d.Allow {
			continue
		}
		tx := &Tx{Client: e.Store.Reader(), attempt: &attempt{engine: e, principal: p, info: info}}
		if within, err := tx.Within(principal.With(ctx, p), info, d.Rows, row, p.ID); err != nil {
			return nil, err
		} else if !within {
			continue
		}
		if _, asked := allowed[info.Action]; !asked {
			if allowed[info.Action], err = permits(ctx, e, p, info, row); err != nil {
				return nil, err
			}
		}
		if allowed[info.Action] {
			may = append(may, info.Verb)
		}
	}
	return may, nil
}

// permits asks the access policies about an action on a row.
func permits(ctx context.Context, e *Engine, p *principal.Principal, info *Info, row any) (bool, error) {
	a := &attempt{engine: e, principal: p, info: info, verbs: []string{info.Verb}}
	ctx, err := a.narrow(clock.With(ctx, e.Store.Clock()))
	if err != nil || a.set == nil {
		return a.set == nil, err
	}
	tx := &Tx{Client: e.Store.Reader(), attempt: a}
	err = tx.askOf(ctx, info.Action, row)
	if apperr.CodeOf(err) == apperr.Forbidden {
		return false, nil
	}
	return err == nil, err
}

// grants caches grantable's result, which is the same for all callers and rows.
type grants struct {
	once sync.Once
	list []*Info
}

// grantable returns one operation for each right that roles grant, ordered by right: the operation that takes the right or, for
// a right that is checked in addition, an operation that changes rows of the same kind.
func grantable(e *Engine) []*Info {
	e.grants.once.Do(func() { e.grants.list = rightsOf(All(), e.Authz.Verbs()) })
	return e.grants.list
}

func rightsOf(all []*Info, verbs []string) []*Info {
	by := map[string]*Info{}
	for _, info := range all {
		if !info.varies && !strings.HasPrefix(info.Name, "test.") {
			by[info.Verb] = info
		}
	}
	for _, info := range all {
		for _, verb := range info.least {
			if by[verb] == nil {
				least := *info
				least.Verb = verb
				by[verb] = &least
			}
		}
	}
	for _, verb := range verbs {
		noun, _, _ := strings.Cut(verb, ".")
		if like := like(all, noun, verb); by[verb] == nil && like != nil {
			info := *like
			info.Verb = verb
			by[verb] = &info
		}
	}
	out := make([]*Info, 0, len(by))
	for _, info := range by {
		out = append(out, info)
	}
	slices.SortFunc(out, func(a, b *Info) int { return strings.Compare(a.Verb, b.Verb) })
	return out
}

// like returns the operation with a right's name, or else one that changes rows of its noun, preferably the update. It returns
// nil for rights that only the command line uses.
func like(all []*Info, noun, verb string) *Info {
	var found *Info
	for _, info := range all {
		switch {
		case info.Name == verb:
			return info
		case strings.HasPrefix(info.Name, noun+".") && info.Action != Read && (found == nil || info.Name == noun+".update"):
			found = info
		}
	}
	return found
}
