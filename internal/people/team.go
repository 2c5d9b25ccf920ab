package people

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/organization"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/routingrule"
	"atrium/ent/savedreply"
	"atrium/ent/savedview"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/ent/teammember"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow"
	"atrium/internal/workflow/execution"
)

var teamSorts = op.Sorts{"createdAt": team.FieldCreatedAt, "updatedAt": team.FieldUpdatedAt, "name": op.Alphabetical(team.FieldName)}

// The operations on teams. They return teams loaded with their members.
var (
	ListTeams = paging.NewList("team.list", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read", Sorts: teamSorts,
		Summary: "List teams",
	}, func(_ context.Context, tx *op.Tx, in ListTeamsInput) *ent.TeamQuery {
		q := tx.Team.Query().Where(paging.Words[predicate.Team](nil, in.Q, team.FieldName)...)
		if in.Window != nil {
			return q // a caller that reads a window gets members by MemberIDsOf
		}
		return q.WithMembers(orderByUser)
	})

	GetTeam = op.Get("team.read", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read",
		Summary: "Get a team",
	}, loadTeam)

	CreateTeam = op.New("team.create", op.Spec{
		Resource: "Team", Action: op.Create, Scope: "teams:write",
		Summary: "Create a team",
	}, createTeam).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateTeamInput) error {
		return checkTeam(ctx, tx, in.OrganizationID, in.MemberIDs)
	}, "memberIds")

	UpdateTeam = op.OnRow("team.update", op.Spec{
		Resource: "Team", Action: op.Update, Scope: "teams:write",
		Summary: "Update a team",
	}, loadTeam, updateTeam).WithCheck(func(ctx context.Context, tx *op.Tx, in UpdateTeamInput) error {
		return checkTeam(ctx, tx, in.OrganizationID.Value(), op.Or(in.MemberIDs.Value(), nil))
	}, "memberIds")

	DeleteTeam = op.OnRow("team.delete", op.Spec{
		Resource: "Team", Action: op.Delete, Scope: "teams:write",
		Summary: "Delete a team that no service or request names",
	}, loadTeam, deleteTeam)
)

// ListTeamsInput filters and pages the list of teams.
type ListTeamsInput struct {
	paging.Page
	Q string `json:"-" query:"q" maxLength:"200" doc:"Teams whose name has these words, or parts of them."`
}

func loadTeam(ctx context.Context, tx *op.Tx, id string) (*ent.Team, error) {
	return op.Lock(tx, tx.Team.Query().Where(team.ID(id))).WithMembers(orderByUser).Only(ctx)
}

// CreateTeamInput describes a new team.
type CreateTeamInput struct {
	Name           string   `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug           *string  `json:"slug,omitempty" nullable:"true" pattern:"^[a-z0-9-]{1,63}$" doc:"Made from the name when not given; unique in the company."`
	Description    *string  `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	OrganizationID *string  `json:"organizationId,omitempty" nullable:"true" maxLength:"64"`
	MemberIDs      []string `json:"memberIds,omitempty" nullable:"true" uniqueItems:"true" maxItems:"1000" doc:"The users in the team."`
}

func createTeam(ctx context.Context, tx *op.Tx, in CreateTeamInput) (*ent.Team, error) {
	if err := checkTeam(ctx, tx, in.OrganizationID, in.MemberIDs); err != nil {
		return nil, err
	}
	t, err := tx.Team.Create().
		SetName(in.Name).
		SetSlug(tx.SlugOf(in.Slug, in.Name, "team")).
		SetDescription(op.Or(in.Description, "")).
		SetNillableOrganizationID(in.OrganizationID).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the team: %w", err)
	}
	if err := replaceMembers(ctx, tx, t.ID, nil, in.MemberIDs); err != nil {
		return nil, err
	}
	all := tx.Unfiltered(ctx, "what was just made is returned to the caller who made it")
	if t, err = loadTeam(all, tx, t.ID); err != nil {
		return nil, fmt.Errorf("read the new team: %w", err)
	}
	tx.Changed(nil, t)
	tx.ChangedField("memberIds", []string{}, MemberIDs(t))
	return t, nil
}

// UpdateTeamInput changes the fields that it names.
type UpdateTeamInput struct {
	op.ByID
	Name           op.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug           op.Patch[string]   `json:"slug,omitzero" pattern:"^[a-z0-9-]{1,63}$"`
	Description    op.Patch[string]   `json:"description,omitzero" nullable:"true" maxLength:"10000"`
	OrganizationID op.Patch[string]   `json:"organizationId,omitzero" nullable:"true" maxLength:"64"`
	MemberIDs      op.Patch[[]string] `json:"memberIds,omitzero" nullable:"true" uniqueItems:"true" maxItems:"1000" doc:"Replaces all members."`
}

func updateTeam(ctx context.Context, tx *op.Tx, before *ent.Team, in UpdateTeamInput) (*ent.Team, error) {
	members := op.Or(in.MemberIDs.Value(), nil)
	if err := checkTeam(ctx, tx, in.OrganizationID.Value(), members); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Slug, u.SetSlug)
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.TeamUpdateOne { return u.SetDescription("") })
	op.SetOrClear(in.OrganizationID, u.SetOrganizationID, u.ClearOrganizationID)
	have := MemberIDs(before) // those that the caller sees; the others stay
	moves := in.MemberIDs.IsSet() && !sameSet(have, members)
	if moves {
		u.SetUpdatedAt(tx.Now(ctx))
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the team: %w", err)
	}
	after.Edges = before.Edges
	if moves {
		if err := replaceMembers(ctx, tx, after.ID, have, members); err != nil {
			return nil, err
		}
		after.Edges.Members, err = tx.TeamMember.Query().Where(teammember.TeamID(after.ID)).Order(teammember.ByUserID()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the team's members: %w", err)
		}
		tx.ChangedField("memberIds", have, MemberIDs(after))
	}
	return after, nil
}

func deleteTeam(ctx context.Context, tx *op.Tx, t *ent.Team, _ op.ByID) (struct{}, error) {
	all := tx.Unfiltered(ctx, "what the caller does not see keeps a team in use, too")
	services, err := tx.Service.Query().Where(service.OwnerTeamID(t.ID)).Exist(all)
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the team's services: %w", err)
	}
	if services {
		return struct{}{}, apperr.New(apperr.Conflict, "The team owns services. Give them another owner first.")
	}
	requests, err := tx.Request.Query().Where(request.TeamID(t.ID)).Exist(all)
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the team's requests: %w", err)
	}
	if requests {
		return struct{}{}, apperr.New(apperr.Conflict, "The team has requests. Give them another team first.")
	}
	if err := workflow.Unused(ctx, tx, "team", t.ID); err != nil {
		return struct{}{}, err
	}
	escalated, err := tx.Offering.Query().Where(escalatesTo(t.ID)).Exist(all)
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the escalations to the team: %w", err)
	}
	if escalated {
		return struct{}{}, apperr.New(apperr.Conflict, "The service level of an offering escalates to the team. Change it first.")
	}
	routed, err := tx.RoutingRule.Query().Where(routingrule.TeamID(t.ID)).Exist(all)
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the team's routing rules: %w", err)
	}
	if routed {
		return struct{}{}, apperr.New(apperr.Conflict, "A routing rule sends requests to the team. Change it first.")
	}
	if err := execution.ApproversLeft(ctx, tx, t.ID); err != nil {
		return struct{}{}, err
	}
	if _, err := tx.TeamMember.Delete().Where(teammember.TeamID(t.ID)).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("take everybody out of the team: %w", err)
	}
	if _, err := tx.SavedView.Delete().Where(savedview.TeamID(t.ID)).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("delete the team's saved views: %w", err)
	}
	if _, err := tx.SavedReply.Delete().Where(savedreply.TeamID(t.ID)).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("delete the team's saved replies: %w", err)
	}
	tx.AuthorityChanged()
	if err := tx.Team.DeleteOne(t).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("delete the team: %w", err)
	}
	tx.Changed(t, nil)
	tx.ChangedField("memberIds", MemberIDs(t), []string{})
	return struct{}{}, nil
}

// escalatesTo matches offerings whose escalations name a team. Ids are unique, so a search in the text suffices.
func escalatesTo(teamID string) predicate.Offering {
	return func(s *sql.Selector) {
		find := "instr("
		if s.Dialect() == dialect.Postgres {
			find = "strpos("
		}
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString(find + "CAST(").Ident(s.C(offering.FieldSLAEscalations)).WriteString(" AS text), ").Arg(teamID).WriteString(") > 0")
		}))
	}
}

// checkTeam returns a validation error that names ids which are no rows of the company.
func checkTeam(ctx context.Context, tx *op.Tx, organizationID *string, memberIDs []string) error {
	var refs op.Refs
	refs.Check("organizationId", organizationID, "organization", op.FindShared(ctx, tx, func(id string) *ent.OrganizationQuery {
		return tx.Organization.Query().Where(organization.ID(id))
	}))
	if err := usersExist(ctx, tx, &refs, "memberIds", memberIDs); err != nil {
		return err
	}
	return refs.Err()
}
