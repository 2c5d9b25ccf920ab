package catalog_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// service makes a service with a name.
func service(t *testing.T, w *testkit.World, ctx context.Context, name string) *ent.Service {
	t.Helper()
	return testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: name})
}

// offering makes an offering of a service.
func offering(t *testing.T, w *testkit.World, ctx context.Context, s *ent.Service, name string) *ent.Offering {
	t.Helper()
	return testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: name})
}

func TestSlugIsMadeFromTheNameAndUniquePerCompany(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, b := w.As(w.A, principal.Admin), w.As(w.B, principal.Admin)
		s := service(t, w, a, "IT Support")
		require.Equal(t, "it-support", s.Slug)
		require.EqualValues(t, "active", s.Status)

		testkit.Refused(t, w, a, catalog.CreateService, catalog.CreateServiceInput{Name: "it support"}, apperr.Conflict)
		require.Equal(t, "it-support", service(t, w, b, "IT Support").Slug, "another company has slugs of its own")

		testkit.Run(t, w, a, catalog.DeleteService, op.ByID{ID: s.ID})
		require.Equal(t, "it-support", service(t, w, a, "IT Support").Slug, "the slug of a deleted service is free again")
	})
}

func TestOfferingSlugIsUniquePerService(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		one, other := service(t, w, ctx, "One"), service(t, w, ctx, "Other")
		require.Equal(t, "laptop", offering(t, w, ctx, one, "Laptop").Slug)
		require.Equal(t, "laptop", offering(t, w, ctx, other, "Laptop").Slug)
		again := catalog.CreateOfferingInput{ByID: op.ByID{ID: one.ID}, Name: "Laptop"}
		testkit.Refused(t, w, ctx, catalog.CreateOffering, again, apperr.Conflict)
	})
}

func TestServiceInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		used, unused := service(t, w, ctx, "Used"), service(t, w, ctx, "Unused")
		o, spare := offering(t, w, ctx, used, "Laptop"), offering(t, w, ctx, used, "Desk")
		along := offering(t, w, ctx, unused, "Chair")
		testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: used.ID, OfferingID: o.ID, Title: "One, please"})

		testkit.Refused(t, w, ctx, catalog.DeleteService, op.ByID{ID: used.ID}, apperr.Conflict)
		testkit.Refused(t, w, ctx, catalog.DeleteOffering, op.ByID{ID: o.ID}, apperr.Conflict)
		testkit.Run(t, w, ctx, catalog.DeleteOffering, op.ByID{ID: spare.ID})
		testkit.Run(t, w, ctx, catalog.DeleteService, op.ByID{ID: unused.ID})
		testkit.Refused(t, w, ctx, catalog.GetOffering, op.ByID{ID: along.ID}, apperr.NotFound, "a service takes its offerings along")
		testkit.Run(t, w, ctx, catalog.GetOffering, op.ByID{ID: o.ID})
	})
}

func TestServiceNamesOnlyTheCompanysOwnTeams(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		foreign := testkit.Run(t, w, w.As(w.B, principal.Admin), people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		in := catalog.CreateServiceInput{Name: "S", OwnerTeamID: &foreign.ID}
		e := testkit.Refused(t, w, w.As(w.A, principal.Admin), catalog.CreateService, in, apperr.Validation)
		require.Equal(t, "ownerTeamId", e.Details[0].Field)
	})
}

func TestFaultyFormIsNamedFieldByField(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		s := service(t, w, ctx, "IT")
		e := testkit.Refused(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{
			ByID: op.ByID{ID: s.ID}, Name: "Laptop",
			Form: &form.Definition{Fields: []form.Field{{Key: "model", Label: "Model", Type: form.Text, Pattern: "("}}},
		}, apperr.Validation)
		require.Len(t, e.Details, 1)
		require.Contains(t, e.Details[0].Field, "form")
	})
}

func TestUpdateChangesWhatItNamesAndNothingElse(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		text := "Everything with a plug."
		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT", Description: &text, Tags: map[string]string{"env": "prod"}})
		after := testkit.Run(t, w, ctx, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: s.ID}, Status: op.SetTo("archived")})
		require.EqualValues(t, "archived", after.Status)
		require.Equal(t, text, after.Description)
		require.Equal(t, map[string]string{"env": "prod"}, after.Tags)

		e, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(s.ID), auditentry.Action("service.updated")).Only(w.As(w.A, principal.Owner))
		require.NoError(t, err)
		require.JSONEq(t, `{"status": {"from": "active", "to": "archived"}}`, string(e.Changes))
	})
}

// One statement pages the offerings of many services, each with its own total.
func TestOfferingsOfSeveralServices(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		full, empty := service(t, w, ctx, "Full"), service(t, w, ctx, "Empty")
		for _, name := range []string{"A", "B", "C"} {
			offering(t, w, ctx, full, name)
		}
		foreign := service(t, w, w.As(w.B, principal.Admin), "Foreign")
		offering(t, w, w.As(w.B, principal.Admin), foreign, "A")

		in := catalog.OfferingsOfInput{OfParents: paging.OfParents{IDs: []string{full.ID, empty.ID, foreign.ID}}}
		in.SetWindow(2, "", "name", true)
		lists := testkit.Run(t, w, ctx, catalog.OfferingsOf, in)
		require.Equal(t, 3, lists[full.ID].Total)
		require.Len(t, lists[full.ID].Rows, 2)
		require.True(t, lists[full.ID].More)
		require.Equal(t, "A", lists[full.ID].Rows[0].Name)
		require.Zero(t, lists[empty.ID].Total)
		require.Empty(t, lists[foreign.ID].Rows, "another company's service has none to show")
	})
}

// An offering with targets warns at 80 percent unless it says otherwise: null says nothing, 0 warns nobody. One without targets has nothing to warn of.
func TestOfferingsWarn(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		s := service(t, w, ctx, "IT")
		for name, one := range map[string]struct {
			levels catalog.SLA
			want   *int
		}{
			"not given":   {catalog.SLA{ResponseMinutes: new(60)}, new(80)},
			"null":        {catalog.SLA{ResponseMinutes: new(60), WarnAtPercent: op.Clear[int]()}, new(80)},
			"zero":        {catalog.SLA{ResponseMinutes: new(60), WarnAtPercent: op.SetTo(0)}, new(0)},
			"given":       {catalog.SLA{ResponseMinutes: new(60), WarnAtPercent: op.SetTo(50)}, new(50)},
			"no targets":  {catalog.SLA{}, nil},
			"by priority": {catalog.SLA{ByPriority: &sla.ByPriority{URGENT: &sla.Targets{ResponseMinutes: new(5)}}}, new(80)},
		} {
			o := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: name, SLA: &one.levels})
			require.Equal(t, one.want, o.WarnAtPercent, name)
			o = testkit.Run(t, w, ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, SLA: op.SetTo(one.levels)})
			require.Equal(t, one.want, o.WarnAtPercent, name)
		}
	})
}
