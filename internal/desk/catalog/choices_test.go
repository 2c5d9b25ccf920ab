package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// A member, who reads no users and teams, finds whom a form asks for: ids and names, of what the policies do not hide.
func TestFormChoices(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Member)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Board"})
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", Form: &form.Definition{Fields: []form.Field{
			{Key: "for", Label: "For", Type: form.User}, {Key: "team", Label: "Team", Type: form.Team}, {Key: "why", Label: "Why", Type: form.Text},
		}}})
		ask := func(in catalog.FormChoicesInput) (names []string) {
			t.Helper()
			in.ID = o.ID
			for _, c := range testkit.Run(t, w, member, catalog.FormChoices, in) {
				names = append(names, c.Name)
			}
			return names
		}
		require.Len(t, ask(catalog.FormChoicesInput{Field: "for"}), len(w.A.Users))
		require.Equal(t, []string{w.A.Owner.Name}, ask(catalog.FormChoicesInput{Field: "for", IDs: []string{w.A.Owner.ID, w.B.Owner.ID}}))
		require.Equal(t, []string{"Board", "Desk"}, ask(catalog.FormChoicesInput{Field: "team"}))
		require.Equal(t, []string{"Desk"}, ask(catalog.FormChoicesInput{Field: "team", Q: "eS"}))
		hide := policy.NewCondition([]byte(`{"resource.name": "Desk", "principal.role": "member"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Team", Condition: &hide})
		require.Equal(t, []string{"Board"}, ask(catalog.FormChoicesInput{Field: "team"}))
		require.Empty(t, ask(catalog.FormChoicesInput{Field: "team", IDs: []string{desk.ID}}))
		testkit.Run(t, w, owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: w.A.Users[principal.Agent].ID}})
		require.Len(t, ask(catalog.FormChoicesInput{Field: "for"}), len(w.A.Users)-1)

		for _, field := range []string{"why", "nothing"} {
			_, _, err := op.Run(member, w.Engine, catalog.FormChoices, catalog.FormChoicesInput{ByID: op.ByID{ID: o.ID}, Field: field}, nil)
			require.Equal(t, "field", apperr.From(err).Details[0].Field)
		}
		testkit.Refused(t, w, w.As(w.B, principal.Owner), catalog.FormChoices, catalog.FormChoicesInput{ByID: op.ByID{ID: o.ID}, Field: "for"}, apperr.NotFound)
	})
}
