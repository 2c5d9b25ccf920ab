package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/policy"
)

// deny makes a policy that hides what the condition describes.
func (w *world) deny(resource, condition string) {
	w.t.Helper()
	c := policy.NewCondition([]byte(condition))
	must(w.asOwner, w, policy.Create, policy.CreateInput{Name: "hidden " + resource, Effect: "Deny", Action: "*", Resource: resource, Condition: &c})
}

// Whoever replaces the members of a team, or the teams of a user, replaces those that they see: what policies hide stays
// as it is, and is not told.
func TestHiddenMembershipsStay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		secret := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Secret", MemberIDs: []string{w.member.ID}})
		open := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Open", MemberIDs: []string{w.member.ID, w.agent.ID}})
		members := func(team *ent.Team) []string {
			t.Helper()
			return people.MemberIDs(must(w.asOwner, w, people.GetTeam, byID(team.ID)))
		}
		w.deny("Team", `{"principal.role": "admin", "resource.name": "Secret"}`)
		w.deny("User", `{"principal.role": "admin", "resource.id": "`+w.agent.ID+`"}`)

		u := must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{ByID: byID(w.member.ID), Name: op.SetTo("Mia")})
		require.Equal(t, []string{open.ID}, people.TeamIDs(u), "what is hidden is not told")
		u = must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{ByID: byID(w.member.ID), TeamIDs: op.SetTo([]string{})})
		require.Empty(t, people.TeamIDs(u))
		require.Equal(t, []string{w.member.ID}, members(secret))
		require.Equal(t, []string{w.agent.ID}, members(open))

		got := must(w.asAdmin, w, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(open.ID), MemberIDs: op.SetTo([]string{w.owner.ID})})
		require.Equal(t, []string{w.owner.ID}, people.MemberIDs(got))
		require.ElementsMatch(t, []string{w.agent.ID, w.owner.ID}, members(open))
		must(w.asAdmin, w, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(open.ID), MemberIDs: op.SetTo([]string{})})
		require.Equal(t, []string{w.agent.ID}, members(open))
		must(w.asAdmin, w, people.DeleteTeam, byID(open.ID)) // whoever is in it
	})
}

// What somebody may see by their teams changes with the next read.
func TestMembershipBindsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := must(w.asAdmin, w, catalog.CreateService, catalog.CreateServiceInput{Name: "S"})
		desk := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Desk", MemberIDs: []string{w.agent.ID}})
		w.deny("Service", `{"principal.role": "agent", "principal.teamIds": ["`+desk.ID+`"]}`)
		agent := w.AsUser(w.agent)
		sees := func(want bool, after string) {
			t.Helper()
			_, err := run(agent, w, catalog.GetService, byID(s.ID))
			require.Equal(t, want, err == nil, "%s: %v", after, err)
		}
		sees(false, "a member from the start")
		for range 3 {
			must(w.asAdmin, w, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(desk.ID), MemberIDs: op.SetTo([]string{})})
			sees(true, "taken out of the team")
			must(w.asAdmin, w, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(desk.ID), MemberIDs: op.SetTo([]string{w.agent.ID})})
			sees(false, "put into the team")
			must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{ByID: byID(w.agent.ID), TeamIDs: op.SetTo([]string{})})
			sees(true, "taken out by the user's own teams")
			must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{ByID: byID(w.agent.ID), TeamIDs: op.SetTo([]string{desk.ID})})
			sees(false, "put in by the user's own teams")
		}
	})
}
