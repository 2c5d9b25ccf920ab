package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/teammember"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// The operations behind edges of the graph. Each reads the rows of many parents at once, under the rights of reading
// a single row. They return users without memberships and teams without members: TeamIDsOf and MemberIDsOf return
// these.
var (
	LookUpUsers = paging.NewLookUp("user.lookup", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read",
		Summary: "Look users up by their ids",
	}, func(tx *op.Tx) *ent.UserQuery { return tx.User.Query() })

	LookUpTeams = paging.NewLookUp("team.lookup", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read",
		Summary: "Look teams up by their ids",
	}, func(tx *op.Tx) *ent.TeamQuery { return tx.Team.Query() })

	LookUpOrganizations = paging.NewLookUp("organization.lookup", op.Spec{
		Resource: "Organization", Action: op.Read, Scope: "organizations:read",
		Summary: "Look organizations up by their ids",
	}, func(tx *op.Tx) *ent.OrganizationQuery { return tx.Organization.Query() })

	TeamIDsOf = op.New("user.team_ids", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read",
		Summary: "Tell which teams several users are in",
	}, func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]string, error) {
		q := tx.TeamMember.Query().Where(teammember.UserIDIn(in.IDs...)).Order(teammember.ByTeamID())
		return grouped(ctx, q, func(m *ent.TeamMember) (string, string) { return m.UserID, m.TeamID })
	})

	MemberIDsOf = op.New("team.member_ids", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read",
		Summary: "Tell which users are in several teams",
	}, func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]string, error) {
		q := tx.TeamMember.Query().Where(teammember.TeamIDIn(in.IDs...)).Order(teammember.ByUserID())
		return grouped(ctx, q, func(m *ent.TeamMember) (string, string) { return m.TeamID, m.UserID })
	})

	// TeamsOf and UsersOf list memberships, the latest first, with the team or the user.
	TeamsOf = paging.NewChildren("team.of_users", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read",
		Summary: "List the teams of several users",
	}, teammember.Table, teammember.FieldUserID, func(tx *op.Tx) *ent.TeamMemberQuery { return tx.TeamMember.Query().WithTeam() })

	UsersOf = paging.NewChildren("user.of_teams", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read",
		Summary: "List the members of several teams",
	}, teammember.Table, teammember.FieldTeamID, func(tx *op.Tx) *ent.TeamMemberQuery { return tx.TeamMember.Query().WithUser() })
)

// grouped reads memberships and groups one side by the other.
func grouped(ctx context.Context, q *ent.TeamMemberQuery, sides func(*ent.TeamMember) (of, id string)) (map[string][]string, error) {
	rows, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the memberships: %w", err)
	}
	out := map[string][]string{}
	for _, m := range rows {
		of, id := sides(m)
		out[of] = append(out[of], id)
	}
	return out, nil
}
