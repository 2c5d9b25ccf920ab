package request_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// offer makes a service with one offering.
func offer(t *testing.T, w *testkit.World, ctx context.Context) (*ent.Service, *ent.Offering) {
	t.Helper()
	s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT Support"})
	o := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "New laptop"})
	return s, o
}

func TestFiledRequestIsPendingWithItsEventAndAuditEntry(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		s, o := offer(t, w, ctx)
		r := testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"})
		require.EqualValues(t, "PENDING", r.Status)
		require.EqualValues(t, "MEDIUM", r.Priority)
		require.Equal(t, w.A.Owner.ID, r.CreatedBy)

		events, err := w.Store.Reader().Event.Query().Where(event.SubjectID(r.ID)).All(ctx)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, "request.created", events[0].Type)
		entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(r.ID)).All(ctx)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, "request.created", entries[0].Action)
		require.EqualValues(t, "allowed", entries[0].Outcome)

		l := testkit.Run(t, w, ctx, request.List, request.ListInput{})
		require.Equal(t, 1, l.Total)
		require.Len(t, l.Rows, 1)
		testkit.Refused(t, w, w.As(w.B, principal.Owner), request.Get, op.ByID{ID: r.ID}, apperr.NotFound)
	})
}
