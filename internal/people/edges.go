package people

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/organization"
	"atrium/ent/predicate"
	"atrium/ent/team"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/op"
)

// What edges of the graph lead to. Each reads the rows of many parents at once, by the same rights as a read of one.
// Users come without their memberships, and teams without their members: TeamIDsOf and MemberIDsOf have them.
var (
	LookUpUsers = op.Lookup("user.lookup", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read",
		Summary: "Look users up by their ids",
	}, func(u *ent.User) string { return u.ID }, func(ctx context.Context, tx *op.Tx, in op.ByIDs) ([]*ent.User, error) {
		return op.Lean[ent.User](tx.User.Query(), in.Lean).Where(user.IDIn(in.IDs...)).All(ctx)
	})

	LookUpTeams = op.Lookup("team.lookup", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read",
		Summary: "Look teams up by their ids",
	}, func(t *ent.Team) string { return t.ID }, func(ctx context.Context, tx *op.Tx, in op.ByIDs) ([]*ent.Team, error) {
		return op.Lean[ent.Team](tx.Team.Query(), in.Lean).Where(team.IDIn(in.IDs...)).All(ctx)
	})

	LookUpOrganizations = op.Lookup("organization.lookup", op.Spec{
		Resource: "Organization", Action: op.Read, Scope: "organizations:read",
		Summary: "Look organizations up by their ids",
	}, func(o *ent.Organization) string { return o.ID }, func(ctx context.Context, tx *op.Tx, in op.ByIDs) ([]*ent.Organization, error) {
		return op.Lean[ent.Organization](tx.Organization.Query(), in.Lean).Where(organization.IDIn(in.IDs...)).All(ctx)
	})

	TeamIDsOf = op.New("user.team_ids", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read",
		Summary: "Tell which teams several users are in",
	}, func(ctx context.Context, tx *op.Tx, in op.ByIDs) (map[string][]string, error) {
		q := tx.TeamMember.Query().Where(teammember.UserIDIn(op.Padded(in.IDs)...)).Order(teammember.ByTeamID())
		return grouped(ctx, q, func(m *ent.TeamMember) (string, string) { return m.UserID, m.TeamID })
	})

	MemberIDsOf = op.New("team.member_ids", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read",
		Summary: "Tell which users are in several teams",
	}, func(ctx context.Context, tx *op.Tx, in op.ByIDs) (map[string][]string, error) {
		q := tx.TeamMember.Query().Where(teammember.TeamIDIn(op.Padded(in.IDs)...)).Order(teammember.ByUserID())
		return grouped(ctx, q, func(m *ent.TeamMember) (string, string) { return m.TeamID, m.UserID })
	})

	TeamsOf = op.New("team.of_users", op.Spec{
		Resource: "Team", Action: op.Read, Scope: "teams:read",
		Summary: "List the teams of several users",
	}, func(ctx context.Context, tx *op.Tx, in op.OfParents) (map[string]op.List[*ent.TeamMember], error) {
		return memberships(ctx, tx, in, teammember.FieldUserID, func(m *ent.TeamMember) string { return m.UserID },
			func(q *ent.TeamMemberQuery) *ent.TeamMemberQuery {
				return q.WithTeam(func(q *ent.TeamQuery) { op.Lean[ent.Team](q, in.Lean) })
			})
	})

	UsersOf = op.New("user.of_teams", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read",
		Summary: "List the members of several teams",
	}, func(ctx context.Context, tx *op.Tx, in op.OfParents) (map[string]op.List[*ent.TeamMember], error) {
		return memberships(ctx, tx, in, teammember.FieldTeamID, func(m *ent.TeamMember) string { return m.TeamID },
			func(q *ent.TeamMemberQuery) *ent.TeamMemberQuery {
				return q.WithUser(func(q *ent.UserQuery) { op.Lean[ent.User](q, in.Lean) })
			})
	})
)

// grouped reads memberships and returns one side of each by the other.
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

// memberships pages the memberships of every parent, the latest first, with what stands on their other side.
func memberships(ctx context.Context, tx *op.Tx, in op.OfParents, column string, parent func(*ent.TeamMember) string,
	with func(*ent.TeamMemberQuery) *ent.TeamMemberQuery,
) (map[string]op.List[*ent.TeamMember], error) {
	ids := op.Padded(in.IDs)
	counts := func(ctx context.Context) (map[string]int, error) {
		q := tx.TeamMember.Query().Where(func(s *sql.Selector) { s.Where(sql.In(s.C(column), anys(ids)...)) })
		var rows []struct {
			TeamID string `json:"team_id"`
			UserID string `json:"user_id"`
			Count  int    `json:"count"`
		}
		if err := q.GroupBy(column).Aggregate(ent.Count()).Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("group the memberships: %w", err)
		}
		out := make(map[string]int, len(rows))
		for _, r := range rows {
			out[r.TeamID+r.UserID] = r.Count // one of them is empty
		}
		return out, nil
	}
	rows := func(ctx context.Context, within predicate.TeamMember, order func(*sql.Selector)) ([]*ent.TeamMember, error) {
		return with(tx.TeamMember.Query().Where(within).Order(order)).All(ctx)
	}
	of := op.Branches{Table: teammember.Table, Column: column, IDs: ids}
	return op.ListEach(ctx, tx, in.Page, nil, of, counts, rows, parent)
}

func anys(ids []string) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}
