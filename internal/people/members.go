package people

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/team"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/workflow/execution"
)

// MemberIDs returns the ids of a team's members in order. The team must be loaded with its members.
func MemberIDs(t *ent.Team) []string {
	ids := make([]string, len(t.Edges.Members))
	for i, m := range t.Edges.Members {
		ids[i] = m.UserID
	}
	slices.Sort(ids)
	return ids
}

// TeamIDs returns the ids of a user's teams in order. The user must be loaded with its memberships.
func TeamIDs(u *ent.User) []string {
	ids := make([]string, len(u.Edges.Memberships))
	for i, m := range u.Edges.Memberships {
		ids[i] = m.TeamID
	}
	slices.Sort(ids)
	return ids
}

func orderByUser(q *ent.TeamMemberQuery) { q.Order(teammember.ByUserID()) }

func orderByTeam(q *ent.TeamMemberQuery) { q.Order(teammember.ByTeamID()) }

// usersExist records a fault for each id, sent under field, that is no user of the company. It holds their rows: an erasure waits, and
// then sees the memberships.
func usersExist(ctx context.Context, tx *op.Tx, refs *op.Refs, field string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	found, err := op.Share(tx, tx.User.Query().Where(user.IDIn(ids...)).Order(user.ByID())).IDs(ctx)
	nameMissing(refs, field, "user", ids, found)
	return wrapLookUp(field, err)
}

// teamsExist records a fault for each id, sent under field, that is no team of the company. It holds their rows.
func teamsExist(ctx context.Context, tx *op.Tx, refs *op.Refs, field string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	found, err := op.Share(tx, tx.Team.Query().Where(team.IDIn(ids...)).Order(team.ByID())).IDs(ctx)
	nameMissing(refs, field, "team", ids, found)
	return wrapLookUp(field, err)
}

func wrapLookUp(field string, err error) error {
	if err != nil {
		return fmt.Errorf("look %s up: %w", field, err)
	}
	return nil
}

func nameMissing(refs *op.Refs, field, what string, ids, found []string) {
	for i, id := range ids {
		if !slices.Contains(found, id) {
			refs.Fault(fmt.Sprintf("%s[%d]", field, i), "is no "+what+" of this company")
		}
	}
}

// replaceMembers removes the users of have who are not in want from the team, and adds the users of want who are not in
// have. Both are sets, and the team's row is locked.
func replaceMembers(ctx context.Context, tx *op.Tx, teamID string, have, want []string) error {
	return replace(ctx, tx, teamID, have, want, teammember.TeamID(teamID), teammember.UserIDIn, func(c *ent.TeamMemberCreate, userID string) { c.SetTeamID(teamID).SetUserID(userID) })
}

// replaceTeams removes the user from the teams of have that are not in want, and adds it to the teams of want that are not
// in have. Both are sets, and the user's row is locked.
func replaceTeams(ctx context.Context, tx *op.Tx, userID string, have, want []string) error {
	return replace(ctx, tx, userID, have, want, teammember.UserID(userID), teammember.TeamIDIn, func(c *ent.TeamMemberCreate, teamID string) { c.SetTeamID(teamID).SetUserID(userID) })
}

// replace replaces the memberships of a team or of a user, whose id is of.
func replace(ctx context.Context, tx *op.Tx, of string, have, want []string, own predicate.TeamMember, in func(...string) predicate.TeamMember, set func(*ent.TeamMemberCreate, string)) error {
	if removed := without(have, want); len(removed) > 0 {
		if err := execution.ApproversLeft(ctx, tx, of); err != nil {
			return err
		}
		if _, err := tx.TeamMember.Delete().Where(own, in(removed...)).Exec(ctx); err != nil {
			return fmt.Errorf("end memberships: %w", err)
		}
	}
	tx.AuthorityChanged() // cached facts about callers include their teams
	return addMemberships(ctx, tx, without(want, have), set)
}

// addMemberships creates one membership for each id. It inserts them one by one, because the store sends PostgreSQL's
// inserts together and does not read what a bulk insert returns.
func addMemberships(ctx context.Context, tx *op.Tx, ids []string, set func(*ent.TeamMemberCreate, string)) error {
	for _, id := range ids {
		c := tx.TeamMember.Create()
		set(c, id)
		if err := c.Exec(ctx); err != nil {
			return fmt.Errorf("add the membership: %w", err)
		}
	}
	return nil
}

// sameSet reports whether two sets hold the same ids.
func sameSet(a, b []string) bool { return len(a) == len(b) && len(without(a, b)) == 0 }

// without returns the ids of a that b lacks.
func without(a, b []string) []string {
	held := make(map[string]bool, len(b))
	for _, id := range b {
		held[id] = true
	}
	var out []string
	for _, id := range a {
		if !held[id] {
			out = append(out, id)
		}
	}
	return out
}
