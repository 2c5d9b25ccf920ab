package people_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
)

func (w *world) organization(name string, parent *ent.Organization) *ent.Organization {
	w.t.Helper()
	in := people.CreateOrganizationInput{Name: name}
	if parent != nil {
		in.ParentID = &parent.ID
	}
	return must(w.asAdmin, w, people.CreateOrganization, in)
}

func under(o, parent *ent.Organization) people.UpdateOrganizationInput {
	return people.UpdateOrganizationInput{ByID: byID(o.ID), ParentID: op.SetTo(parent.ID)}
}

func TestOrganizations(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		root := must(w.asAdmin, w, people.CreateOrganization, people.CreateOrganizationInput{Name: "Ops & Co", Tags: map[string]string{"k": "v"}})
		require.Equal(t, "ops-co", root.Slug)
		require.Equal(t, "v", root.Tags["k"])
		child := w.organization("Child", root)
		require.Equal(t, root.ID, *child.ParentID)
		refused(w.asAdmin, w, apperr.Conflict, people.CreateOrganization, people.CreateOrganizationInput{Name: "Child"})

		got := must(w.asAdmin, w, people.UpdateOrganization, people.UpdateOrganizationInput{
			ByID: byID(child.ID), Name: op.SetTo("Kid"), ParentID: null[string](), Tags: op.SetTo(map[string]string{"a": "b"}),
		})
		require.Equal(t, "Kid", got.Name)
		require.Nil(t, got.ParentID)
		require.Equal(t, "child", got.Slug)
		got = must(w.asAdmin, w, people.UpdateOrganization, people.UpdateOrganizationInput{ByID: byID(child.ID), Tags: null[map[string]string]()})
		require.Empty(t, got.Tags)
		require.Equal(t, []string{"tags.a b"}, fields(refused(w.asAdmin, w, apperr.Validation, people.UpdateOrganization,
			people.UpdateOrganizationInput{ByID: byID(child.ID), Tags: op.SetTo(map[string]string{"a b": "c"})})))

		list := must(w.AsUser(w.agent), w, people.ListOrganizations, people.ListOrganizationsInput{Page: paging.Page{Sort: "name"}})
		require.Equal(t, 2, list.Total)
		require.Equal(t, "Kid", list.Rows[0].Name)
		require.Zero(t, must(w.asOther, w, people.ListOrganizations, people.ListOrganizationsInput{}).Total)
		require.Equal(t, child.ID, must(w.AsUser(w.agent), w, people.GetOrganization, byID(child.ID)).ID)
		refused(w.AsUser(w.member), w, apperr.Forbidden, people.GetOrganization, byID(child.ID))
		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.UpdateOrganization, people.UpdateOrganizationInput{ByID: byID(child.ID), Name: op.SetTo("Z")})
		refused(w.asOther, w, apperr.NotFound, people.GetOrganization, byID(child.ID))
		refused(w.asOther, w, apperr.NotFound, people.UpdateOrganization, people.UpdateOrganizationInput{ByID: byID(child.ID), Name: op.SetTo("Z")})
		refused(w.asOther, w, apperr.NotFound, people.DeleteOrganization, byID(child.ID))
		require.Equal(t, []string{"parentId"}, fields(refused(w.asOther, w, apperr.Validation, people.CreateOrganization, people.CreateOrganizationInput{Name: "X", ParentID: &root.ID})))
		theirs := must(w.asOther, w, people.CreateOrganization, people.CreateOrganizationInput{Name: "X"})
		require.Equal(t, []string{"parentId"}, fields(refused(w.asOther, w, apperr.Validation, people.UpdateOrganization, under(theirs, root))))
	})
}

func TestOrganizationIsNotItsOwnAncestor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.organization("A", nil)
		b := w.organization("B", a)
		c := w.organization("C", b)
		d := w.organization("D", nil)
		for _, in := range []people.UpdateOrganizationInput{under(a, a), under(a, b), under(a, c), under(b, c)} {
			require.Equal(t, []string{"parentId"}, fields(refused(w.asAdmin, w, apperr.Validation, people.UpdateOrganization, in)))
		}
		must(w.asAdmin, w, people.UpdateOrganization, under(c, a))
		must(w.asAdmin, w, people.UpdateOrganization, under(a, d))
		refused(w.asAdmin, w, apperr.Validation, people.UpdateOrganization, under(d, c))
	})
}

// Every organization moves below the next one at once: each move is fine alone, together they would close a circle.
func TestMovesAtOnceCloseNoCircle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var orgs []*ent.Organization
		for i := range 6 {
			orgs = append(orgs, w.organization(fmt.Sprintf("O%d", i), nil))
		}
		var wg sync.WaitGroup
		errs := make([]error, len(orgs))
		for i := range orgs {
			wg.Go(func() {
				_, errs[i] = run(w.asAdmin, w, people.UpdateOrganization, under(orgs[i], orgs[(i+1)%len(orgs)]))
			})
		}
		wg.Wait()
		var refusals int
		for _, err := range errs {
			if err != nil {
				require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%v", err)
				refusals++
			}
		}
		require.Equal(t, 1, refusals)
	})
}

func TestDeleteOrganization(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		root := w.organization("Root", nil)
		child := w.organization("Child", root)
		refused(w.asAdmin, w, apperr.Conflict, people.DeleteOrganization, byID(root.ID))
		team := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "T", OrganizationID: &child.ID})
		refused(w.asAdmin, w, apperr.Conflict, people.DeleteOrganization, byID(child.ID))
		must(w.asAdmin, w, people.DeleteTeam, byID(team.ID))
		svc := must(w.asAdmin, w, catalog.CreateService, catalog.CreateServiceInput{Name: "S", OrganizationID: &child.ID})
		refused(w.asAdmin, w, apperr.Conflict, people.DeleteOrganization, byID(child.ID))
		must(w.asAdmin, w, catalog.DeleteService, byID(svc.ID))
		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.DeleteOrganization, byID(child.ID))
		must(w.asAdmin, w, people.DeleteOrganization, byID(child.ID))
		must(w.asAdmin, w, people.DeleteOrganization, byID(root.ID))
		require.Equal(t, []string{"failed", "failed", "failed", "denied", "allowed", "allowed"}, w.audited("organization.deleted"))
	})
}
