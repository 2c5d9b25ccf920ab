package notice

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/predicate"
	"atrium/ent/requestlink"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/ent/watcher"
	"atrium/internal/identity/access"
	"atrium/internal/op"
)

// What a requester says must reach somebody of the desk. Who watches a request hears of it, but nobody may watch: accepting, declining and
// merging a request makes nobody watch it, and a request that is accepted stands in no inbox.

// heard adds to the people who hear of a comment those of the desk, where it is the requester's and nobody of the desk is among them. Of
// a request that was merged, those of the request that stays hear as well: nobody looks at the other any more.
func (w *progress) heard(ctx context.Context, a ProgressArgs, r *ent.Request, c *ent.Comment, people []*ent.User) ([]*ent.User, error) {
	if c.Visibility != comment.VisibilityPublic {
		return people, nil
	}
	if asks, err := asks(ctx, w.engine, a.By, r); err != nil || !asks {
		return people, err
	}
	stays, err := staysFor(ctx, w.engine, r)
	if err != nil {
		return nil, err
	}
	if stays.ID == r.ID {
		mentioned, err := w.engine.Store.Reader().User.Query().Where(user.IDIn(c.Mentioned...), staff, access.Here()).Exist(ctx)
		if err != nil {
			return nil, fmt.Errorf("look up who is mentioned: %w", err)
		}
		if mentioned || slices.ContainsFunc(people, func(u *ent.User) bool { return u.Role != user.RoleMember }) {
			return people, nil
		}
	}
	more, err := deskOf(ctx, w.engine, a.Company, stays, w.reads.Comment, c)
	if err != nil {
		return nil, err
	}
	for _, u := range more {
		named := u.ID == a.By || slices.Contains(c.Mentioned, u.ID)
		if !named && !slices.ContainsFunc(people, func(p *ent.User) bool { return p.ID == u.ID }) {
			people = append(people, u)
		}
	}
	return people, nil
}

// deskOf returns who of the desk is told of a request: its assignee and the staff who watch it, else its team, else the admins and owners.
// The first of these of whom somebody may read the row by the operation is told. Whoever has caused the notice may be among them.
func deskOf(ctx context.Context, e *op.Engine, company string, r *ent.Request, by *op.Info, row any) ([]*ent.User, error) {
	watchers, err := watchersOf(ctx, e, r.ID)
	if err != nil {
		return nil, err
	}
	watchers = slices.DeleteFunc(watchers, func(id string) bool { return id == r.RequesterID })
	tiers := []predicate.User{user.IDIn(append(watchers, op.Or(r.AssigneeID, ""))...)}
	if r.TeamID != nil {
		tiers = append(tiers, user.HasMembershipsWith(teammember.TeamID(*r.TeamID)))
	}
	for _, tier := range append(tiers, user.RoleIn(user.RoleOwner, user.RoleAdmin)) {
		users, err := e.Store.Reader().User.Query().Where(tier, staff, user.StatusEQ(user.StatusActive)).Order(user.ByID()).Limit(MaxTold).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("look up who works on it: %w", err)
		}
		readers, err := ReadersOutside(ctx, e, company, worker, users, by, row, false)
		if err != nil || len(readers) > 0 {
			return readers, err
		}
	}
	return nil, nil
}

// staff matches those who work at the desk.
var staff = user.RoleNEQ(user.RoleMember)

// asks reports whether somebody is on the side of the desk that asks: the request's requester, or no staff.
func asks(ctx context.Context, e *op.Engine, id string, r *ent.Request) (bool, error) {
	if id == r.RequesterID {
		return true, nil
	}
	is, err := e.Store.Reader().User.Query().Where(user.ID(id), user.Not(staff)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look up who did it: %w", err)
	}
	return is, nil
}

// watchersOf returns the ids of those who watch a request.
func watchersOf(ctx context.Context, e *op.Engine, requestID string) ([]string, error) {
	ids, err := e.Store.Reader().Watcher.Query().Where(watcher.RequestID(requestID)).Select(watcher.FieldUserID).Strings(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up who watches: %w", err)
	}
	return ids, nil
}

// maxMerges bounds how often a request that stayed was merged itself, as far as it is followed.
const maxMerges = 10

// staysFor returns the request that stays of one that was merged, and the request itself of any other.
func staysFor(ctx context.Context, e *op.Engine, r *ent.Request) (*ent.Request, error) {
	for range maxMerges {
		if r.MergedAt == nil {
			return r, nil
		}
		l, err := e.Store.Reader().RequestLink.Query().Where(requestlink.FromID(r.ID), requestlink.TypeEQ(requestlink.TypeDuplicates)).
			Order(ent.Desc(requestlink.FieldCreatedAt, requestlink.FieldID)).WithTo().First(ctx)
		if err != nil {
			return r, wrap("read the links", ent.MaskNotFound(err))
		}
		r = l.Edges.To
	}
	return r, nil
}
