package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/people"
)

func (r *mutationResolver) DeactivateUser(ctx context.Context, input people.DeactivateUserInput) (*people.Deactivated, error) {
	d, err := resolve.Change(ctx, r.Engine, people.DeactivateUser, input, "id")
	return &d, err
}

func (r *userResolver) TeamIds(ctx context.Context, u *ent.User) ([]string, error) {
	if _, err := u.Edges.MembershipsOrErr(); err == nil {
		return people.TeamIDs(u), nil
	}
	return resolve.Attached(ctx, r.Engine, u, func(u *ent.User) string { return u.ID }, people.TeamIDsOf)
}

func (r *userResolver) Etag(ctx context.Context, u *ent.User) (string, error) {
	ids, err := r.TeamIds(ctx, u)
	return resolve.ETag(u, ids), err
}

func (r *userResolver) Teams(ctx context.Context, u *ent.User, first *int, after *string) (*relay.Connection[ent.Team], error) {
	return resolve.Children(ctx, r.Engine, u, func(u *ent.User) string { return u.ID }, people.TeamsOf, first, after, resolve.TeamOf)
}

func (r *teamResolver) MemberIds(ctx context.Context, t *ent.Team) ([]string, error) {
	if _, err := t.Edges.MembersOrErr(); err == nil {
		return people.MemberIDs(t), nil
	}
	return resolve.Attached(ctx, r.Engine, t, func(t *ent.Team) string { return t.ID }, people.MemberIDsOf)
}

func (r *teamResolver) Etag(ctx context.Context, t *ent.Team) (string, error) {
	ids, err := r.MemberIds(ctx, t)
	return resolve.ETag(t, ids), err
}

func (r *teamResolver) Members(ctx context.Context, t *ent.Team, first *int, after *string) (*relay.Connection[ent.User], error) {
	return resolve.Children(ctx, r.Engine, t, func(t *ent.Team) string { return t.ID }, people.UsersOf, first, after, resolve.UserOf)
}
