package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

// After thirty days settled deliveries are deleted, and events without deliveries; pending deliveries stay.
func TestHistoryIsKeptForThirtyDays(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r, never := receiver.New(t, nil), receiver.Closed(t)
		o.subscribe(t, r.URL)
		silent := o.emit(t, events.TaskAssigned, "nobody asked for it")
		old := o.emit(t, events.RequestCreated, "old")
		r.Await(t, 1)
		require.Eventually(t, func() bool { return o.pending(t) == 0 }, patience, 5*time.Millisecond)
		o.subscribe(t, never, events.RequestAccepted)
		waiting := o.emit(t, events.RequestAccepted, "waiting")
		require.NoError(t, o.Store.Write(o.asOwner(), func(ctx context.Context, tx *store.Tx) error { // an old delivery that a longer schedule keeps pending
			return tx.WebhookDelivery.Update().Where(webhookdelivery.EventID(waiting)).SetOutcome(webhookdelivery.OutcomePENDING).Exec(ctx)
		}))
		o.later(29 * 24 * time.Hour)
		young := o.emit(t, events.RequestCreated, "young")
		r.Await(t, 2)
		o.sweep(t)
		require.ElementsMatch(t, []string{silent, old, waiting, young}, o.events(t))
		o.later(2 * 24 * time.Hour)
		o.sweep(t)
		require.ElementsMatch(t, []string{waiting, young}, o.events(t))
		list := o.deliveries(t)
		require.Len(t, list, 2)
		require.Equal(t, waiting, list[0].EventID)
		require.Equal(t, young, list[1].EventID)
	}, schedule(6*time.Hour))
}

// sweep runs the sweep to its end.
func (o *office) sweep(t testing.TB) {
	t.Helper()
	require.NoError(t, o.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return o.Queue.InsertTx(ctx, tx, webhook.SweepArgs{}, time.Time{})
	}))
	require.Eventually(t, func() bool {
		due, err := o.queue.Due(context.Background())
		return err == nil && due == 0
	}, patience, 5*time.Millisecond)
}

// events returns the ids of company A's events.
func (o *office) events(t testing.TB) []string {
	t.Helper()
	ids, err := o.Store.Reader().Event.Query().Where(event.CompanyID(o.A.Company.ID)).IDs(o.asOwner())
	require.NoError(t, err)
	return ids
}

// The metrics count deliveries, and no label holds a name or an address.
func TestMetrics(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		good, bad := o.subscribe(t, receiver.New(t, nil).URL), o.subscribe(t, receiver.Closed(t))
		o.emit(t, events.RequestCreated, "req_1")
		require.Eventually(t, func() bool {
			m := o.gather(t)
			return m["atrium_webhook_deliveries_total{SUCCESS}"] == 1 && m["atrium_webhook_deliveries_total{FAILED}"] == 1
		}, patience, 10*time.Millisecond)
		m := o.gather(t)
		require.EqualValues(t, 1, m["atrium_webhook_attempt_duration_seconds{2xx}"])
		require.EqualValues(t, 6, m["atrium_webhook_attempt_duration_seconds{connect}"])
		require.EqualValues(t, 2, m["atrium_webhook_first_attempt_delay_seconds"])
		require.Contains(t, m, "atrium_webhook_calls_underway")
		require.Contains(t, m, "atrium_webhook_snoozed_total")
		for name := range m {
			for _, secret := range []string{good.ID, bad.ID, o.A.Company.ID, "127.0.0.1"} {
				require.NotContains(t, name, secret)
			}
		}
		_, err := webhook.New(o.options)
		require.ErrorContains(t, err, "metrics", "registered twice")
	})
}

// gather returns the values of all metrics, by name and label.
func (o *office) gather(t testing.TB) map[string]float64 {
	t.Helper()
	families, err := o.registry.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "{" + l.GetValue() + "}"
			}
			switch {
			case m.GetHistogram() != nil:
				out[name] = float64(m.GetHistogram().GetSampleCount())
			case m.GetCounter() != nil:
				out[name] = m.GetCounter().GetValue()
			default:
				out[name] = m.GetGauge().GetValue()
			}
		}
	}
	return out
}

// The notice about a sandbox's subscription goes to the owners of its live company, and a name or URL in it cannot add lines.
func TestNoticeAboutASandbox(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		p, _ := principal.From(o.asOwner())
		q := *p
		q.CompanyID, q.Sandbox = o.A.Sandbox.ID, true
		ctx := principal.With(context.Background(), &q)
		r := receiver.New(t, receiver.Status(410, ""))
		s := testkit.Run(t, o.World, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: r.URL + "/hook", Events: events.Names()})
		testkit.Run(t, o.World, ctx, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: by(s), Event: events.TaskAssigned})
		m := <-o.options.Mail.(letters).sent
		require.Equal(t, o.A.Owner.Email, m.To)
		require.Contains(t, m.Subject, "(sandbox)")
		require.Contains(t, m.Text, r.URL+"/hook")
		require.Contains(t, m.Text, "410")
		require.Eventually(t, func() bool { // the mail is part of a transaction that may not have ended yet
			return !testkit.Run(t, o.World, ctx, webhook.GetSubscription, op.ByID{ID: s.ID}).Enabled
		}, patience, 5*time.Millisecond)
	}, func(o *webhook.Options, _ *egress.Options) { o.Mail = letters{make(chan mail.Message, 10)} })
}
