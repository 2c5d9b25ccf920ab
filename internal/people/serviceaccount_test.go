package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/serviceaccount"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

func TestServiceAccounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := must(w.asAdmin, w, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Importer"})
		require.Equal(t, serviceaccount.RoleMember, a.Role)
		must(w.asAdmin, w, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Admin", Role: new("admin")})
		must(w.asOwner, w, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Root", Role: new("owner")})
		require.Equal(t, "admin", refused(w.asAdmin, w, apperr.Forbidden, people.CreateServiceAccount,
			people.CreateServiceAccountInput{Name: "Root", Role: new("owner")}).Reason)
		require.Equal(t, []string{"allowed", "allowed", "allowed", "denied"}, w.audited("serviceaccount.created"))

		list := must(w.asAdmin, w, people.ListServiceAccounts, people.ListServiceAccountsInput{Page: paging.Page{Sort: "-name", Size: 2}})
		require.Equal(t, 3, list.Total)
		require.Equal(t, "Root", list.Rows[0].Name)
		require.Zero(t, must(w.asOther, w, people.ListServiceAccounts, people.ListServiceAccountsInput{}).Total)

		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "x"})
		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.ListServiceAccounts, people.ListServiceAccountsInput{})
		refused(w.withKey(w.owner), w, apperr.Forbidden, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "x"})
		require.Equal(t, []string{"name", "role"}, fields(refused(w.asAdmin, w, apperr.Validation, people.CreateServiceAccount,
			people.CreateServiceAccountInput{Name: " ", Role: new("king")})))

		update := func(change people.UpdateServiceAccountInput) people.UpdateServiceAccountInput {
			change.ByID = byID(a.ID)
			return change
		}
		changed := must(w.asAdmin, w, people.UpdateServiceAccount, update(people.UpdateServiceAccountInput{Name: op.SetTo("Exporter"), Role: op.SetTo("agent"), Enabled: op.SetTo(false)}))
		require.Equal(t, []any{"Exporter", serviceaccount.RoleAgent, false}, []any{changed.Name, changed.Role, changed.Enabled})
		require.Equal(t, "admin", refused(w.asAdmin, w, apperr.Forbidden, people.UpdateServiceAccount, update(people.UpdateServiceAccountInput{Role: op.SetTo("owner")})).Reason)
		root := list.Rows[0]
		for _, take := range []people.UpdateServiceAccountInput{{Role: op.SetTo("member")}, {Enabled: op.SetTo(false)}} {
			take.ByID = byID(root.ID)
			refused(w.asAdmin, w, apperr.Forbidden, people.UpdateServiceAccount, take)
		}
		refused(w.asAdmin, w, apperr.Forbidden, people.DeleteServiceAccount, byID(root.ID))
		refused(w.asOther, w, apperr.NotFound, people.DeleteServiceAccount, byID(a.ID))
		refused(w.asOther, w, apperr.NotFound, people.UpdateServiceAccount, update(people.UpdateServiceAccountInput{Name: op.SetTo("Mine")}))
		must(w.asAdmin, w, people.DeleteServiceAccount, byID(a.ID))
		refused(w.asAdmin, w, apperr.NotFound, people.DeleteServiceAccount, byID(a.ID))
		require.Equal(t, []string{"denied", "allowed"}, w.audited("serviceaccount.deleted"))

		p, _ := principal.From(w.asOwner)
		sandboxed := *p
		sandboxed.CompanyID, sandboxed.Sandbox = w.A.Sandbox.ID, true
		refused(principal.With(t.Context(), &sandboxed), w, apperr.Conflict, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "x"})
	})
}
