package op

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"atrium/authz"
	"atrium/ent/teammember"
	"atrium/internal/apperr"
	"atrium/internal/clock"
	"atrium/internal/principal"
)

// What a caller may do is told beforehand for pages, which show no button that would be refused. Nothing is refused or
// recorded here: whoever calls an operation is asked again.

// Permissions returns the rights that the role and the scopes of the context's principal grant, such as "request.update", in
// order. Which rows they reach, and what access policies deny, is another matter: see MayOn.
func Permissions(ctx context.Context, e *Engine) ([]string, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	granted := []string{}
	for _, info := range grantable(e) {
		d, err := e.decide(ctx, p, info, info.Verb)
		if err != nil {
			return nil, err
		}
		if d.Allow {
			granted = append(granted, info.Verb)
		}
	}
	return granted, nil
}

// MayCall reports whether role and scopes of the context's principal have an operation. Which rows it reaches, and what access
// policies deny, is another matter.
func MayCall(ctx context.Context, e *Engine, info *Info) (bool, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return false, nil
	}
	d, err := e.decide(ctx, p, info, info.Verb)
	return d.Allow, err
}

// MayOn returns the rights that change the row and that the context's principal has on it as it stands, in order: role,
// scopes, what the role reaches, and the company's access policies. Whether the row's state allows it is not looked at.
func MayOn(ctx context.Context, e *Engine, row any) ([]string, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	name, _, ok := authz.EntityOf(row)
	if !ok {
		return nil, nil // no resource has such rows
	}
	may := []string{}
	allowed := map[Action]bool{}
	for _, info := range grantable(e) {
		if info.Resource != name || info.Action != Update && info.Action != Delete {
			continue
		}
		d, err := e.decide(ctx, p, info, info.Verb)
		if err != nil {
			return nil, err
		}
		if !d.Allow {
			continue
		}
		if within, err := within(ctx, e, p, d.Rows, row); err != nil {
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

// within reports whether a role that reaches some rows reaches this one. What a team of the caller's has is assigned to the
// caller, too.
func within(ctx context.Context, e *Engine, p *principal.Principal, reach authz.Reach, row any) (bool, error) {
	if Reaches(reach, row, p.ID) {
		return true, nil
	}
	team := reflect.Indirect(reflect.ValueOf(row)).FieldByName("TeamID")
	if reach != authz.RowsAssigned || !team.IsValid() || team.Kind() != reflect.Pointer || team.IsNil() {
		return false, nil
	}
	db := principal.With(ctx, p)
	in, err := e.Store.Reader().TeamMember.Query().Where(teammember.TeamID(team.Elem().String()), teammember.UserID(p.ID)).Exist(db)
	if err != nil {
		return false, fmt.Errorf("look for the caller in the team: %w", err)
	}
	return in, nil
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

// grants are what grantable has made: it is the same for all callers and rows.
type grants struct {
	once sync.Once
	list []*Info
}

// grantable returns an operation for each right that roles grant, in order of the rights: the one that takes it, or one that
// changes rows of the same kind for a right that is asked for besides.
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

// like returns the operation of a right's name, or one that changes rows of its noun: the update if there is one. None for what
// is the command line's.
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
