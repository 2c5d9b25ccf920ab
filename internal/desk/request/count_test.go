package request_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// Counts agree with the lists: by every field, filtered, for what the caller sees.
func TestCountsAgreeWithLists(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		s, o := offer(t, w, owner)
		other := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Other"})
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		file := func(title, priority string, off string, team *string) string {
			return testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: off, Title: title, Priority: &priority, TeamID: team}).ID
		}
		file("a", "LOW", o.ID, nil)
		file("b", "HIGH", o.ID, &desk.ID)
		done := file("Secret", "HIGH", other.ID, &desk.ID)
		testkit.Run(t, w, owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: done}, Status: op.SetTo("CANCELLED")})
		count := func(as principal.Role, by string, in request.ListInput) map[string]int {
			t.Helper()
			out := map[string]int{}
			for _, c := range testkit.Run(t, w, w.As(w.A, as), request.Count, request.CountInput{ListInput: in, By: by}) {
				out[op.Or(c.Value, "none")] = c.Count
			}
			return out
		}
		all := request.ListInput{}
		require.Equal(t, map[string]int{"PENDING": 2, "CANCELLED": 1}, count("owner", "status", all))
		require.Equal(t, map[string]int{"LOW": 1, "HIGH": 2}, count("owner", "priority", all))
		require.Equal(t, map[string]int{"HIGH": 1}, count("owner", "priority", request.ListInput{Status: []string{"CANCELLED"}, Priority: []string{"HIGH"}}))
		require.Equal(t, map[string]int{"PENDING": 2}, count("owner", "status", request.ListInput{Status: []string{"PENDING"}}))
		require.Equal(t, map[string]int{desk.ID: 2, "none": 1}, count("owner", "teamId", all))
		require.Equal(t, map[string]int{desk.ID: 1, "none": 1}, count("owner", "teamId", request.ListInput{Status: []string{"PENDING"}}))
		require.Equal(t, map[string]int{o.ID: 2, other.ID: 1}, count("owner", "offeringId", all))
		require.Equal(t, map[string]int{s.ID: 3}, count("owner", "serviceId", all))
		require.Equal(t, map[string]int{"none": 3}, count("owner", "assigneeId", all))
		require.Equal(t, map[string]int{"none": 3}, count("owner", "slaState", all))
		require.Empty(t, count("member", "status", all), "none of the member's own")

		c := policy.NewCondition([]byte(`{"resource.title": "Secret", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
		require.Equal(t, map[string]int{"PENDING": 2}, count("agent", "status", all))
		require.Equal(t, map[string]int{desk.ID: 1, "none": 1}, count("agent", "teamId", all))
		require.Empty(t, testkit.Run(t, w, w.As(w.B, principal.Owner), request.Count, request.CountInput{By: "status"}))
	})
}

// MayOn returns exactly what the operations would allow on a row.
func TestMayOnIsWhatOperationsAllow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Member)
		s, o := offer(t, w, owner)
		own := testkit.Run(t, w, member, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "own"})
		may := func(as principal.Role, row any) []string {
			t.Helper()
			out, err := op.MayOn(w.As(w.A, as), w.Engine, row)
			require.NoError(t, err)
			return out
		}
		require.Equal(t, []string{"request.cancel", "request.rate", "request.reopen", "request.watch"}, may("member", own))
		require.Equal(t, []string{"request.accept", "request.cancel", "request.complete", "request.reopen", "request.update", "request.watch"}, may("agent", own))
		require.Subset(t, may("owner", own), may("agent", own))
		require.Empty(t, may("agent", s))
		require.Equal(t, []string{"service.delete", "service.update"}, may("admin", s))
		theirs := testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "theirs"})
		require.Empty(t, may("member", theirs))

		c := policy.NewCondition([]byte(`{"resource.title": "theirs", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Freeze", Effect: "Deny", Action: "update", Resource: "Request", Condition: &c})
		require.Empty(t, may("agent", theirs))
		require.NotEmpty(t, may("agent", own))

		all, err := op.Permissions(member, w.Engine)
		require.NoError(t, err)
		require.Contains(t, all, "request.create")
		require.NotContains(t, all, "request.update")
		require.NotContains(t, all, "service.create")
		all, err = op.Permissions(owner, w.Engine)
		require.NoError(t, err)
		require.Subset(t, all, []string{"request.complete", "comment.internal", "service.create", "user.update_owner", "routingrule.create", "apikey.create"})
		require.NotContains(t, all, "credit.issue", "the command line's")
	})
}
