package webhook_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// subscribed makes a subscription of a company.
func subscribed(t *testing.T, w *testkit.World, tenant *testkit.Tenant, enabled bool, names ...string) *ent.WebhookSubscription {
	t.Helper()
	var s *ent.WebhookSubscription
	require.NoError(t, w.Store.Write(w.As(tenant, principal.Owner), func(ctx context.Context, tx *store.Tx) (err error) {
		s, err = tx.WebhookSubscription.Create().SetURL("https://example.org").SetEvents(names).SetSecretSealed([]byte("s")).
			SetEnabled(enabled).SetCreatedBy(tenant.Owner.ID).Save(ctx)
		return err
	}))
	return s
}

func emitIn(w *testkit.World, tenant *testkit.Tenant, name, subject string, end error) error {
	return w.Store.Write(w.As(tenant, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		err := w.Engine.Events.Emit(ctx, tx, events.Event{Name: name, SubjectID: subject, At: w.Clock.Now(), Data: events.Request{ID: subject}})
		return errors.Join(err, end)
	})
}

// queued counts the jobs of deliveries.
func queued(t *testing.T, w *testkit.World) int {
	t.Helper()
	return len(w.Query(t, "SELECT kind FROM river_job WHERE queue = 'webhooks'"))
}

func deliveriesOf(t *testing.T, w *testkit.World, tenant *testkit.Tenant) []*ent.WebhookDelivery {
	t.Helper()
	rows, err := w.Store.Reader().WebhookDelivery.Query().Order(webhookdelivery.ByID()).All(w.As(tenant, principal.Owner))
	require.NoError(t, err)
	return rows
}

// An event is sent to exactly the enabled subscriptions of its company that ask for it.
func TestEventGoesToThoseWhoAsk(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		wants := map[string]bool{}
		for range 40 {
			wants[subscribed(t, w, w.A, true, events.RequestCreated, events.TaskAssigned).ID] = true
		}
		subscribed(t, w, w.A, true, events.RequestAccepted)
		subscribed(t, w, w.A, false, events.RequestCreated)
		subscribed(t, w, w.B, true, events.RequestCreated)
		require.NoError(t, emitIn(w, w.A, events.RequestCreated, "req_1", nil))

		made := deliveriesOf(t, w, w.A)
		require.Len(t, made, 40)
		e, err := w.Store.Reader().Event.Query().Where(event.SubjectID("req_1")).Only(w.As(w.A, principal.Owner))
		require.NoError(t, err)
		for _, d := range made {
			require.True(t, wants[d.SubscriptionID])
			delete(wants, d.SubscriptionID)
			require.True(t, id.Valid("whd", d.ID), d.ID)
			require.Equal(t, e.ID, d.EventID)
			require.Equal(t, events.RequestCreated, d.Event)
			require.Equal(t, webhookdelivery.OutcomePENDING, d.Outcome)
			require.Zero(t, d.RetryCount)
			require.Empty(t, d.Attempts)
			require.True(t, d.CreatedAt.Equal(e.CreatedAt) && d.NextAttemptAt.Equal(e.CreatedAt), "%v %v %v", d.CreatedAt, d.NextAttemptAt, e.CreatedAt)
		}
		require.Equal(t, 40, queued(t, w))
		require.Empty(t, deliveriesOf(t, w, w.B))

		require.NoError(t, emitIn(w, w.A, events.RequestCompleted, "req_1", nil))
		require.Len(t, deliveriesOf(t, w, w.A), 40, "nobody asked")
	})
}

// A rollback leaves no delivery and no job.
func TestRolledBackEventLeavesNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		subscribed(t, w, w.A, true, events.RequestCreated)
		undo := errors.New("undo")
		require.ErrorIs(t, emitIn(w, w.A, events.RequestCreated, "req_1", undo), undo)
		require.Empty(t, deliveriesOf(t, w, w.A))
		require.Zero(t, queued(t, w))
		require.NoError(t, emitIn(w, w.A, events.RequestAccepted, "req_1", nil))
		require.NoError(t, emitIn(w, w.A, events.RequestCreated, "req_1", nil))
		require.Len(t, deliveriesOf(t, w, w.A), 1)
	})
}
