package request_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/test/testkit"
)

// file files a request with a title.
func file(t *testing.T, w *testkit.World, ctx context.Context, o *ent.Offering, title string) *ent.Request {
	t.Helper()
	return testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: title})
}

// move requests a transition.
func move(w *testkit.World, ctx context.Context, id, status string) (*ent.Request, error) {
	r, _, err := op.Run(ctx, w.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Status: op.SetTo(status)}, nil)
	return r, err
}

func TestNothingIsFiledAgainstWhatIsNotActive(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		s, o := offer(t, w, ctx)
		try := func() apperr.Code {
			_, _, err := op.Run(ctx, w.Engine, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"}, nil)
			return apperr.CodeOf(err)
		}
		testkit.Run(t, w, ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, Status: op.SetTo("inactive")})
		require.Equal(t, apperr.Conflict, try())
		testkit.Run(t, w, ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, Status: op.SetTo("active")})
		testkit.Run(t, w, ctx, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: s.ID}, Status: op.SetTo("archived")})
		require.Equal(t, apperr.Conflict, try())
	})
}

// The ids in an input must be the company's own and belong together; each fault names its field.
func TestReferencesAreHeldAgainstTheCompany(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, b := w.As(w.A, principal.Admin), w.As(w.B, principal.Admin)
		s, o := offer(t, w, a)
		foreignService, foreignOffering := offer(t, w, b)
		team := testkit.Run(t, w, b, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		other := testkit.Run(t, w, a, catalog.CreateService, catalog.CreateServiceInput{Name: "Other"})
		outsider := w.B.Users[principal.Agent].ID

		for field, in := range map[string]request.CreateInput{
			"serviceId":  {ServiceID: foreignService.ID, OfferingID: foreignOffering.ID},
			"offeringId": {ServiceID: other.ID, OfferingID: o.ID},
			"assigneeId": {ServiceID: s.ID, OfferingID: o.ID, AssigneeID: &outsider},
			"teamId":     {ServiceID: s.ID, OfferingID: o.ID, TeamID: &team.ID},
		} {
			in.Title = "A laptop"
			require.Equal(t, field, testkit.Refused(t, w, a, request.Create, in, apperr.Validation, field).Details[0].Field)
		}
	})
}

// Nobody can assign work to a person who has left; work assigned before stays with that person until somebody
// reassigns it.
func TestWorkIsGivenToThoseWhoAreThere(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, agent := w.As(w.A, principal.Admin), w.A.Users[principal.Agent].ID
		s, o := offer(t, w, ctx)
		in := request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop", AssigneeID: &agent}
		held, free := testkit.Run(t, w, ctx, request.Create, in), file(t, w, ctx, o, "Free")
		testkit.Run(t, w, ctx, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: agent}})

		given := func(err error) {
			t.Helper()
			e := apperr.From(err)
			require.Equal(t, apperr.Validation, e.Code, "%v", err)
			require.Equal(t, []apperr.Detail{{Field: "assigneeId", Message: "Is a user who was deactivated or erased."}}, e.Details)
		}
		_, _, err := op.Run(ctx, w.Engine, request.Create, in, nil)
		given(err)
		_, _, err = op.Run(ctx, w.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: free.ID}, AssigneeID: op.SetTo(agent)}, nil)
		given(err)
		same := testkit.Run(t, w, ctx, request.Update, request.UpdateInput{ByID: op.ByID{ID: held.ID}, AssigneeID: op.SetTo(agent), Title: op.SetTo("New")})
		require.Equal(t, agent, *same.AssigneeID)

		invited := testkit.Run(t, w, ctx, people.InviteUser, people.InviteUserInput{Email: "new@a.test"})
		in.AssigneeID = &invited.ID
		require.Equal(t, invited.ID, *testkit.Run(t, w, ctx, request.Create, in).AssigneeID)
	})
}

func TestAnswersAreHeldAgainstTheForm(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", Form: &form.Definition{Fields: []form.Field{
			{Key: "model", Label: "Model", Type: form.Select, Options: []string{"13 inch", "14 inch"}, Required: true},
		}}})
		create := func(fields map[string]any) (*ent.Request, error) {
			r, _, err := op.Run(ctx, w.Engine, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop", Fields: fields}, nil)
			return r, err
		}
		for name, fields := range map[string]map[string]any{"fields.model": {}, "fields.colour": {"model": "13 inch", "colour": "red"}} {
			_, err := create(fields)
			require.Equal(t, name, apperr.From(err).Details[0].Field)
		}
		r, err := create(map[string]any{"model": "14 inch"})
		require.NoError(t, err)
		require.JSONEq(t, `{"model": "14 inch"}`, string(r.Fields))

		_, _, err = op.Run(ctx, w.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Fields: op.SetTo(strictjson.Object{"model": "17 inch"})}, nil)
		require.Equal(t, "fields.model", apperr.From(err).Details[0].Field)

		// The form changes: what stays as it was filed stands, what a change makes wrong does not.
		reform := func(fields ...form.Field) {
			testkit.Run(t, w, ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, Form: op.SetTo(form.Definition{Fields: fields})})
		}
		set := func(fields strictjson.Object) []apperr.Detail {
			_, _, err := op.Run(ctx, w.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Fields: op.SetTo(fields)}, nil)
			if err == nil {
				return nil
			}
			return apperr.From(err).Details
		}
		model := form.Field{Key: "model", Label: "Model", Type: form.Select, Options: []string{"15 inch", "17 inch"}, Required: true}
		colour := form.Field{Key: "colour", Label: "Colour", Type: form.Text}
		reform(model, colour)
		require.Empty(t, set(strictjson.Object{"model": "14 inch", "colour": "red"}))
		require.Equal(t, "fields.model", set(strictjson.Object{"model": "13 inch", "colour": "red"})[0].Field)
		require.Equal(t, "fields.model", set(strictjson.Object{"colour": "red"})[0].Field)
		colour.VisibleWhen = map[string]any{"model": "15 inch"}
		reform(model, colour)
		require.Equal(t, "fields.colour", set(strictjson.Object{"model": "17 inch", "colour": "red"})[0].Field, "hidden by this very change")
	})
}

// Members see and cancel only what they filed themselves.
func TestMembersReachTheirOwnRequests(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Member)
		_, o := offer(t, w, owner)
		own, others := file(t, w, member, o, "Mine"), file(t, w, owner, o, "Theirs")

		l := testkit.Run(t, w, member, request.List, request.ListInput{})
		require.Equal(t, 1, l.Total)
		require.Equal(t, own.ID, l.Rows[0].ID)
		for _, ask := range []func() error{
			func() error {
				_, _, err := op.Run(member, w.Engine, request.Get, op.ByID{ID: others.ID}, nil)
				return err
			},
			func() error { _, err := move(w, member, others.ID, "CANCELLED"); return err },
			func() error { _, err := move(w, member, own.ID, "IN_PROGRESS"); return err },
		} {
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(ask()))
		}
		_, err := move(w, member, own.ID, "CANCELLED")
		require.NoError(t, err)
	})
}

// Filters combine; a filter with several values matches any of them.
func TestListFilters(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Agent)
		s, o := offer(t, w, w.As(w.A, principal.Owner))
		create := func(title, priority string, tags map[string]string) *ent.Request {
			return testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: title, Priority: &priority, Tags: tags})
		}
		create("Laptop for Zoë", "LOW", map[string]string{"env": "prod"})
		create("Desk", "HIGH", map[string]string{"env": "test"})
		taken := create("LAPTOP stand", "URGENT", nil)
		_, err := move(w, ctx, taken.ID, "IN_PROGRESS")
		require.NoError(t, err)

		for name, c := range map[string]struct {
			in   request.ListInput
			want []string
		}{
			"all":             {request.ListInput{}, []string{"Desk", "LAPTOP stand", "Laptop for Zoë"}},
			"status":          {request.ListInput{Status: []string{"IN_PROGRESS"}}, []string{"LAPTOP stand"}},
			"any priority":    {request.ListInput{Priority: []string{"LOW", "HIGH"}}, []string{"Desk", "Laptop for Zoë"}},
			"both must match": {request.ListInput{Status: []string{"PENDING"}, Priority: []string{"URGENT"}}, nil},
			"title, any case": {request.ListInput{Q: "title:laptop"}, []string{"LAPTOP stand", "Laptop for Zoë"}},
			"offering's name": {request.ListInput{Q: "laptop -stand"}, []string{"Desk", "Laptop for Zoë"}},
			"no wildcards":    {request.ListInput{Q: "%"}, nil},
			"accents":         {request.ListInput{Q: "ZOË"}, []string{"Laptop for Zoë"}},
			"and a filter":    {request.ListInput{Q: "laptop", Priority: []string{"HIGH"}}, []string{"Desk"}},
			"tag":             {request.ListInput{Tags: map[string][]string{"env": {"prod"}}}, []string{"Laptop for Zoë"}},
			"tag, any value":  {request.ListInput{Tags: map[string][]string{"env": {"prod", "test"}}}, []string{"Desk", "Laptop for Zoë"}},
			"service":         {request.ListInput{ServiceID: []string{s.ID}, Status: []string{"PENDING"}}, []string{"Desk", "Laptop for Zoë"}},
			"later":           {request.ListInput{CreatedAfter: new(w.Clock.Now().Add(time.Hour))}, nil},
		} {
			l := testkit.Run(t, w, ctx, request.List, c.in)
			var titles []string
			for _, r := range l.Rows {
				titles = append(titles, r.Title)
			}
			require.ElementsMatch(t, c.want, titles, name)
			require.Equal(t, len(c.want), l.Total, name)
		}
	})
}

func TestLookUpLeavesOutWhatTheCallerDoesNotSee(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.As(w.A, principal.Member)
		_, o := offer(t, w, w.As(w.A, principal.Owner))
		_, foreign := offer(t, w, w.As(w.B, principal.Owner))
		own, others := file(t, w, member, o, "Mine"), file(t, w, w.As(w.A, principal.Owner), o, "Theirs")
		b := file(t, w, w.As(w.B, principal.Owner), foreign, "Elsewhere")
		found := testkit.Run(t, w, member, request.LookUp, request.LookUpInput{IDs: []string{own.ID, others.ID, b.ID}})
		require.Len(t, found, 1)
		require.Contains(t, found, own.ID)
	})
}
