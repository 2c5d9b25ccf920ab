package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	entoffering "atrium/ent/offering"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// What is hidden is at the end of no edge: neither loaded along one, nor found by a predicate over one, nor among the
// children of a page of parents, where it takes no visible row's place.
func TestEdges(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Member)
		s := service(t, w, "Wiki", nil)
		add := func(name string, tags map[string]string) string {
			return testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: name, Tags: tags}).ID
		}
		add("A", nil)
		visible := add("B", nil)
		hidden := add("C", map[string]string{"env": "prod"})
		write(t, w, "Deny", "read", "Offering", `{"resource.tags.env": "prod"}`)

		in := catalog.OfferingsOfInput{OfParents: paging.OfParents{IDs: []string{s.ID}}}
		in.SetWindow(1, "", "", true)
		page := testkit.Run(t, w, member, catalog.OfferingsOf, in)[s.ID]
		require.Equal(t, 2, page.Total)
		require.True(t, page.More)
		require.Len(t, page.Rows, 1)
		require.Equal(t, visible, page.Rows[0].ID, "the newest that is visible")
		require.Empty(t, testkit.Run(t, w, member, catalog.LookUpOfferings, paging.ByIDs{IDs: []string{hidden}}))

		write(t, w, "Deny", "read", "Service", `{"resource.name": "Wiki"}`)
		require.Empty(t, testkit.Run(t, w, member, catalog.LookUpServices, paging.ByIDs{IDs: []string{s.ID}}))
		require.Empty(t, testkit.Run(t, w, member, catalog.OfferingsOf, in)[s.ID].Rows, "nor what belongs to what is hidden")

		team := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{
			Name: "All", MemberIDs: []string{w.A.Owner.ID, w.A.Users[principal.Agent].ID, w.A.Users[principal.Member].ID},
		})
		write(t, w, "Deny", "read", "User", `{"resource.role": "owner"}`)
		agent := w.As(w.A, principal.Agent)
		parents := paging.OfParents{IDs: []string{team.ID}}
		parents.SetWindow(10, "", "", true)
		members := testkit.Run(t, w, agent, people.UsersOf, parents)[team.ID]
		require.Equal(t, 2, members.Total)
		for _, m := range members.Rows {
			require.NotNil(t, m.Edges.User)
		}
		require.Len(t, people.MemberIDs(testkit.Run(t, w, agent, people.GetTeam, op.ByID{ID: team.ID})), 2)
		all, err := w.Store.Reader().Offering.Query().Where(entoffering.HasService()).Count(owner)
		require.NoError(t, err)
		require.Equal(t, 3, all, "outside of an operation nothing narrows")
	})
}
