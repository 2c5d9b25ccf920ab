package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/identity/signin"
	"atrium/internal/people"
)

func (r *queryResolver) User(ctx context.Context, id string) (*ent.User, error) {
	return read(ctx, r.engine, people.GetUser, id)
}

func (r *queryResolver) Users(ctx context.Context, first *int, after *string, filter *people.ListUsersInput, orderBy *relay.Order) (*relay.Connection[ent.User], error) {
	return list(ctx, r.engine, people.ListUsers, filter, first, after, orderBy)
}

func (r *queryResolver) Team(ctx context.Context, id string) (*ent.Team, error) {
	return read(ctx, r.engine, people.GetTeam, id)
}

func (r *queryResolver) Teams(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Team], error) {
	return list(ctx, r.engine, people.ListTeams, nil, first, after, orderBy)
}

func (r *queryResolver) Organization(ctx context.Context, id string) (*ent.Organization, error) {
	return read(ctx, r.engine, people.GetOrganization, id)
}

func (r *queryResolver) Organizations(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Organization], error) {
	return list(ctx, r.engine, people.ListOrganizations, nil, first, after, orderBy)
}

func (r *queryResolver) ServiceAccounts(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.ServiceAccount], error) {
	return list(ctx, r.engine, people.ListServiceAccounts, nil, first, after, orderBy)
}

func (r *mutationResolver) InviteUser(ctx context.Context, input map[string]any) (*generated.InviteUserPayload, error) {
	u, err := change(ctx, r.engine, people.InviteUser, input, none)
	return &generated.InviteUserPayload{User: u}, err
}

func (r *mutationResolver) ResendInvitation(ctx context.Context, input map[string]any) (*generated.ResendInvitationPayload, error) {
	u, err := change(ctx, r.engine, people.ResendInvitation, input, id)
	return &generated.ResendInvitationPayload{User: u}, err
}

func (r *mutationResolver) UpdateUser(ctx context.Context, input map[string]any) (*generated.UpdateUserPayload, error) {
	u, err := change(ctx, r.engine, people.UpdateUser, input, id)
	return &generated.UpdateUserPayload{User: u}, err
}

func (r *mutationResolver) DeactivateUser(ctx context.Context, input map[string]any) (*generated.DeactivateUserPayload, error) {
	d, err := change(ctx, r.engine, people.DeactivateUser, input, id)
	return &generated.DeactivateUserPayload{User: d.User, RemainingAPIKeys: d.RemainingAPIKeys}, err
}

func (r *mutationResolver) ReactivateUser(ctx context.Context, input map[string]any) (*generated.ReactivateUserPayload, error) {
	u, err := change(ctx, r.engine, people.ReactivateUser, input, id)
	return &generated.ReactivateUserPayload{User: u}, err
}

func (r *mutationResolver) ResetUserMfa(ctx context.Context, input map[string]any) (*generated.ResetUserMfaPayload, error) {
	u, err := change(ctx, r.engine, signin.ResetMFA, input, id)
	return &generated.ResetUserMfaPayload{User: u}, err
}

func (r *mutationResolver) CreateTeam(ctx context.Context, input map[string]any) (*generated.CreateTeamPayload, error) {
	t, err := change(ctx, r.engine, people.CreateTeam, input, none)
	return &generated.CreateTeamPayload{Team: t}, err
}

func (r *mutationResolver) UpdateTeam(ctx context.Context, input map[string]any) (*generated.UpdateTeamPayload, error) {
	t, err := change(ctx, r.engine, people.UpdateTeam, input, id)
	return &generated.UpdateTeamPayload{Team: t}, err
}

func (r *mutationResolver) DeleteTeam(ctx context.Context, input map[string]any) (*generated.DeleteTeamPayload, error) {
	_, err := change(ctx, r.engine, people.DeleteTeam, input, id)
	return &generated.DeleteTeamPayload{ID: idOf(input)}, err
}

func (r *mutationResolver) CreateOrganization(ctx context.Context, input map[string]any) (*generated.CreateOrganizationPayload, error) {
	o, err := change(ctx, r.engine, people.CreateOrganization, input, none)
	return &generated.CreateOrganizationPayload{Organization: o}, err
}

func (r *mutationResolver) UpdateOrganization(ctx context.Context, input map[string]any) (*generated.UpdateOrganizationPayload, error) {
	o, err := change(ctx, r.engine, people.UpdateOrganization, input, id)
	return &generated.UpdateOrganizationPayload{Organization: o}, err
}

func (r *mutationResolver) DeleteOrganization(ctx context.Context, input map[string]any) (*generated.DeleteOrganizationPayload, error) {
	_, err := change(ctx, r.engine, people.DeleteOrganization, input, id)
	return &generated.DeleteOrganizationPayload{ID: idOf(input)}, err
}

func (r *mutationResolver) CreateServiceAccount(ctx context.Context, input map[string]any) (*generated.CreateServiceAccountPayload, error) {
	a, err := change(ctx, r.engine, people.CreateServiceAccount, input, none)
	return &generated.CreateServiceAccountPayload{ServiceAccount: a}, err
}

// User returns the resolver of a user's fields that are no columns.
func (r *Resolver) User() generated.UserResolver { return &userResolver{r} }

type userResolver struct{ *Resolver }

func (r *userResolver) Attributes(_ context.Context, u *ent.User) (map[string]string, error) {
	return textsOf(u.Attributes), nil
}

func (r *userResolver) TeamIds(ctx context.Context, u *ent.User) ([]string, error) {
	if _, err := u.Edges.MembershipsOrErr(); err == nil {
		return people.TeamIDs(u), nil
	}
	return attach(ctx, r.engine, u, func(u *ent.User) string { return u.ID }, people.TeamIDsOf)
}

func (r *userResolver) Teams(ctx context.Context, u *ent.User, first *int, after *string) (*relay.Connection[ent.Team], error) {
	return branch(ctx, r.engine, u, func(u *ent.User) string { return u.ID }, people.TeamsOf, first, after, teamOf)
}

// Team returns the resolver of a team's fields that are no columns.
func (r *Resolver) Team() generated.TeamResolver { return &teamResolver{r} }

type teamResolver struct{ *Resolver }

func (r *teamResolver) Description(_ context.Context, t *ent.Team) (*string, error) {
	return textOrNil(t.Description), nil
}

func (r *teamResolver) MemberIds(ctx context.Context, t *ent.Team) ([]string, error) {
	if _, err := t.Edges.MembersOrErr(); err == nil {
		return people.MemberIDs(t), nil
	}
	return attach(ctx, r.engine, t, func(t *ent.Team) string { return t.ID }, people.MemberIDsOf)
}

func (r *teamResolver) Organization(ctx context.Context, t *ent.Team) (*ent.Organization, error) {
	return follow(ctx, r.engine, t, func(t *ent.Team) *string { return t.OrganizationID }, people.LookUpOrganizations)
}

func (r *teamResolver) Members(ctx context.Context, t *ent.Team, first *int, after *string) (*relay.Connection[ent.User], error) {
	return branch(ctx, r.engine, t, func(t *ent.Team) string { return t.ID }, people.UsersOf, first, after, userOf)
}

// Organization returns the resolver of an organization's fields that are no columns.
func (r *Resolver) Organization() generated.OrganizationResolver { return &organizationResolver{r} }

type organizationResolver struct{ *Resolver }

func (r *organizationResolver) Tags(_ context.Context, o *ent.Organization) (map[string]string, error) {
	return textsOf(o.Tags), nil
}

func (r *organizationResolver) Parent(ctx context.Context, o *ent.Organization) (*ent.Organization, error) {
	return follow(ctx, r.engine, o, func(o *ent.Organization) *string { return o.ParentID }, people.LookUpOrganizations)
}
