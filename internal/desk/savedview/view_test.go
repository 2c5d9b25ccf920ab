package savedview_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/savedview"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

func names(t *testing.T, w *testkit.World, as context.Context) []string {
	t.Helper()
	list := testkit.Run(t, w, as, savedview.List, savedview.ListInput{})
	out := []string{}
	for _, v := range list.Rows {
		out = append(out, v.Name)
	}
	return out
}

// A view is visible to its author, to a team's members or to everybody, and to nobody else, not even an owner.
func TestViewsAreSeenByTheirScope(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, staff, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk", MemberIDs: []string{w.A.Users[principal.Agent].ID, w.A.Users[principal.Member].ID}})
		other := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Other"})
		save := func(as context.Context, in savedview.CreateInput) *ent.SavedView {
			return testkit.Run(t, w, as, savedview.Create, in)
		}
		mine := save(staff, savedview.CreateInput{Name: "Mine", Scope: "me", Query: "status=PENDING"})
		team := save(staff, savedview.CreateInput{Name: "Desk's", Scope: "team", TeamID: &desk.ID})
		save(owner, savedview.CreateInput{Name: "All", Scope: "company"})
		require.ElementsMatch(t, []string{"Mine", "Desk's", "All"}, names(t, w, staff))
		require.ElementsMatch(t, []string{"Desk's", "All"}, names(t, w, member))
		require.ElementsMatch(t, []string{"All"}, names(t, w, owner))
		require.Empty(t, names(t, w, w.As(w.B, principal.Owner)))

		testkit.Refused(t, w, owner, savedview.Get, op.ByID{ID: mine.ID}, apperr.NotFound)
		testkit.Refused(t, w, member, savedview.Update, savedview.UpdateInput{ByID: op.ByID{ID: team.ID}, Name: op.SetTo("Ours")}, apperr.Forbidden, "only whoever made it, and admins")
		for name, in := range map[string]savedview.CreateInput{
			"of a team that is not one's own": {Name: "X", Scope: "team", TeamID: &other.ID},
			"without a team":                  {Name: "X", Scope: "team"},
			"with a team that nobody asked":   {Name: "X", Scope: "me", TeamID: &desk.ID},
		} {
			testkit.Refused(t, w, staff, savedview.Create, in, apperr.Validation, name)
		}
		testkit.Refused(t, w, member, savedview.Create, savedview.CreateInput{Name: "X", Scope: "company"}, apperr.Forbidden, "members share nothing")

		after := testkit.Run(t, w, staff, savedview.Update, savedview.UpdateInput{ByID: op.ByID{ID: mine.ID}, Query: op.SetTo("status=COMPLETED")})
		require.Equal(t, "status=COMPLETED", after.Query)
		testkit.Run(t, w, owner, people.DeleteTeam, op.ByID{ID: desk.ID})
		require.ElementsMatch(t, []string{"Mine", "All"}, names(t, w, staff), "a team's views go with it")
		testkit.Run(t, w, staff, savedview.Delete, op.ByID{ID: mine.ID})
		require.Equal(t, []string{"All"}, names(t, w, staff))
	})
}
