package request_test

import (
	"context"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// A request that was filed against the wrong offering moves to another one, of any service, with answers that fit its form.
func TestMove(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Agent)
		owner := w.As(w.A, principal.Owner)
		_, laptop := offer(t, w, owner)
		badges := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Facilities"})
		badge := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: badges.ID}, Name: "Badge", Form: &form.Definition{
			Fields: []form.Field{{Key: "site", Label: "Site", Type: "text", Required: true}},
		}})
		r := testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: laptop.ServiceID, OfferingID: laptop.ID, Title: "A badge", Fields: strictjson.Object{"site": "Bern"}})
		move := func(ctx context.Context, in request.MoveInput) (*ent.Request, error) {
			in.ID = r.ID
			out, _, err := op.Run(ctx, w.Engine, request.Move, in, nil)
			return out, err
		}

		_, err := move(ctx, request.MoveInput{OfferingID: badge.ID, Fields: strictjson.Object{"site": 4}})
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		require.Equal(t, "fields.site", apperr.From(err).Details[0].Field)
		_, err = move(ctx, request.MoveInput{OfferingID: "off_01k9ye4ryzf7stj6dqnm8x2v3b"})
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		require.Equal(t, "offeringId", apperr.From(err).Details[0].Field)
		same, err := move(ctx, request.MoveInput{OfferingID: laptop.ID})
		require.NoError(t, err)
		require.True(t, r.UpdatedAt.Equal(same.UpdatedAt), "it is there already")
		_, err = move(w.As(w.A, principal.Member), request.MoveInput{OfferingID: badge.ID})
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
		_, err = move(w.As(w.B, principal.Owner), request.MoveInput{OfferingID: badge.ID})
		require.Equal(t, apperr.NotFound, apperr.CodeOf(err))

		moved, err := move(ctx, request.MoveInput{OfferingID: badge.ID})
		require.NoError(t, err)
		require.Equal(t, badge.ID, moved.OfferingID)
		require.Equal(t, badges.ID, moved.ServiceID)
		require.JSONEq(t, `{"site":"Bern"}`, string(moved.Fields), "the answers fit the form")
		n, err := w.Store.Reader().Event.Query().Where(event.SubjectID(r.ID), event.Type("request.moved")).Count(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(r.ID), auditentry.Action("request.moved"), auditentry.OutcomeEQ("allowed")).
			Order(auditentry.ByID(sql.OrderDesc())).First(owner)
		require.NoError(t, err)
		require.Contains(t, string(entry.Changes), badge.ID)
		require.Contains(t, string(entry.Changes), laptop.ID)

		moved, err = move(ctx, request.MoveInput{OfferingID: laptop.ID, Fields: strictjson.Object{}})
		require.NoError(t, err)
		require.Empty(t, moved.Fields, "the given answers replace all")
		testkit.Run(t, w, owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: badge.ID}, Status: op.SetTo("inactive")})
		_, err = move(ctx, request.MoveInput{OfferingID: badge.ID, Fields: strictjson.Object{"site": "Bern"}})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "the offering is not active")
		testkit.Run(t, w, owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: badge.ID}, Status: op.SetTo("active")})
		testkit.Run(t, w, ctx, request.Accept, op.ByID{ID: r.ID})
		_, err = move(ctx, request.MoveInput{OfferingID: badge.ID, Fields: strictjson.Object{"site": "Bern"}})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "somebody works on it")
	})
}

// Whoever may not file against an offering cannot move a request there either.
func TestMoveIsNoWayAroundAPolicyOnFiling(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		s, laptop := offer(t, w, owner)
		secret := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Server room"})
		r := testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: laptop.ID, Title: "A door"})
		c := policy.NewCondition([]byte(`{"resource.offeringId": "` + secret.ID + `", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "No", Effect: "Deny", Action: "create", Resource: "Request", Condition: &c})
		in := request.MoveInput{ByID: op.ByID{ID: r.ID}, OfferingID: secret.ID}
		testkit.Refused(t, w, w.As(w.A, principal.Agent), request.Move, in, apperr.Forbidden)
		require.Equal(t, laptop.ID, testkit.Run(t, w, owner, request.Get, op.ByID{ID: r.ID}).OfferingID)
		testkit.Run(t, w, owner, request.Move, in)
	})
}

// The service levels of the new offering count from when the request was filed.
func TestMoveChangesTheServiceLevels(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		slow := w.offer(catalog.SLA{})
		fast := testkit.Run(t, world, w.owner, catalog.CreateOffering, catalog.CreateOfferingInput{
			ByID: op.ByID{ID: slow.ServiceID}, Name: "Loan", SLA: &catalog.SLA{ResolutionMinutes: new(60), WarnAtPercent: op.SetTo(80)},
		})
		r := w.file(w.owner, slow)
		require.Nil(t, r.SLAState)
		w.later(50 * time.Minute)
		moved := testkit.Run(t, world, w.owner, request.Move, request.MoveInput{ByID: op.ByID{ID: r.ID}, OfferingID: fast.ID})
		require.Equal(t, entrequest.SLAStateWARNING, *moved.SLAState)
		require.WithinDuration(t, r.CreatedAt.Add(time.Hour), *moved.ResolutionDueAt, time.Millisecond)
		require.Equal(t, map[string]int{"sla.warning": 1}, w.told(r.ID))
		moved = testkit.Run(t, world, w.owner, request.Move, request.MoveInput{ByID: op.ByID{ID: r.ID}, OfferingID: slow.ID})
		require.Nil(t, moved.SLAState)
		require.Nil(t, moved.ResolutionDueAt)
		require.Nil(t, moved.SLANextAt)
	})
}
