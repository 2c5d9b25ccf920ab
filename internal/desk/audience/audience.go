package audience

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent/team"
	"atrium/ent/teammember"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// The scopes.
const (
	Me      = "me"
	Team    = "team"
	Company = "company"
)

// Seen matches the rows that the caller sees. What others made for themselves is hidden from everybody, even from an owner.
func Seen[P ~func(*sql.Selector)](tx *op.Tx) P {
	me := tx.Principal().ID
	return func(s *sql.Selector) {
		t := sql.Table(teammember.Table)
		s.Where(sql.Or(sql.EQ(s.C("user_id"), me), sql.EQ(s.C("scope"), Company), sql.In(s.C("team_id"),
			sql.Select(t.C(teammember.FieldTeamID)).From(t).Where(sql.And(
				sql.ColumnsEQ(t.C(teammember.FieldCompanyID), s.C("company_id")), sql.EQ(t.C(teammember.FieldUserID), me))))))
	}
}

// MayChange returns forbidden unless the caller is the author or an admin.
func MayChange(tx *op.Tx, author string) error {
	if author == tx.Principal().ID || admin(tx) {
		return nil
	}
	refusal := apperr.New(apperr.Forbidden, "Only whoever made it, and admins, may change it.")
	refusal.Reason = "author"
	return refusal
}

// Check returns validation_error for a team without the scope team, for the scope team without a team, and for a team that the caller
// is not a member of.
func Check(ctx context.Context, tx *op.Tx, scope string, teamID *string) error {
	if scope != Team {
		if teamID != nil {
			return apperr.InvalidField("teamId", "must be left out unless the scope is team")
		}
		return nil
	}
	if teamID == nil {
		return apperr.InvalidField("teamId", "is required with the scope team")
	}
	q := tx.Team.Query().Where(team.ID(*teamID))
	if !admin(tx) {
		q.Where(team.HasMembersWith(teammember.UserID(tx.Principal().ID)))
	}
	ok, err := q.Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for the team: %w", err)
	}
	if !ok {
		return apperr.InvalidField("teamId", "must be a team of yours")
	}
	return nil
}

func admin(tx *op.Tx) bool {
	role := tx.Principal().Role
	return role == principal.Admin || role == principal.Owner
}
