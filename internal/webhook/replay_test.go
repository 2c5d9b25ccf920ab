package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

func by(s webhook.IssuedSubscription) webhook.BySubscription {
	return webhook.BySubscription{SubscriptionID: s.ID}
}

// A failed delivery that is replayed starts its schedule again, with the same webhook-id, and keeps its history.
func TestReplayOfADelivery(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var well atomic.Bool
		r := receiver.New(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !well.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		o.subscribe(t, r.URL)
		o.file(t, o.offering(t))
		d, _ := o.await(t, outcome(webhookdelivery.OutcomeFAILED))
		again := testkit.Run(t, o.World, o.asOwner(), webhook.ReplayDelivery, op.ByID{ID: d.ID})
		require.Equal(t, d.ID, again.ID)
		require.Equal(t, webhookdelivery.OutcomePENDING, again.Outcome)
		require.NotNil(t, again.NextAttemptAt)
		d, _ = o.await(t, func(d *delivery, attempts []webhook.Attempt) bool {
			return d.Outcome == webhookdelivery.OutcomeFAILED && len(attempts) == 6
		})
		require.Equal(t, 5, d.RetryCount)
		well.Store(true)
		testkit.Run(t, o.World, o.asOwner(), webhook.ReplayDelivery, op.ByID{ID: d.ID})
		d, attempts := o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))
		require.Len(t, attempts, 7)
		require.Equal(t, 6, d.RetryCount)
		require.Nil(t, d.NextAttemptAt)
		testkit.Run(t, o.World, o.asOwner(), webhook.ReplayDelivery, op.ByID{ID: d.ID}) // a replay of a success
		o.await(t, func(d *delivery, attempts []webhook.Attempt) bool {
			return d.Outcome == webhookdelivery.OutcomeSUCCESS && len(attempts) == 8
		})
		for _, g := range r.Got() {
			require.Equal(t, d.EventID, g.Header.Get("webhook-id"))
		}
		require.Len(t, audited(t, o.World, "webhookdelivery.replayed"), 3)
	}, schedule(10*time.Millisecond, 10*time.Millisecond))
}

// A delivery that waits hours for its retry is attempted at once, and then continues in its schedule.
func TestReplayOfAWaitingDelivery(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, receiver.Status(500, ""))
		o.subscribe(t, r.URL)
		o.file(t, o.offering(t))
		d, _ := o.await(t, attempted(1))
		for n := 2; n <= 3; n++ {
			testkit.Run(t, o.World, o.asOwner(), webhook.ReplayDelivery, op.ByID{ID: d.ID})
			d, _ = o.await(t, attempted(n))
		}
		require.Equal(t, webhookdelivery.OutcomeFAILED, d.Outcome, "two retries were all it had")
		require.Len(t, r.Got(), 3)
	}, schedule(6*time.Hour, 6*time.Hour))
}

// A range is sent again in order of time: delivered, failed and missed events, each once, and no test events.
func TestReplayOfARange(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, nil)
		before := o.emit(t, events.RequestCreated, "before") // nobody is subscribed
		o.later(time.Minute)
		since := o.Clock.Now()
		missed := o.emit(t, events.RequestCreated, "missed")
		s := o.subscribe(t, r.URL, events.RequestCreated)
		sent := o.emit(t, events.RequestCreated, "sent")
		other := o.emit(t, events.RequestAccepted, "of another kind")
		other2 := o.subscribe(t, receiver.New(t, nil).URL)
		testkit.Run(t, o.World, o.asOwner(), webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: by(other2), Event: events.RequestCreated})
		r.Await(t, 1)
		require.Eventually(t, func() bool { return o.pending(t) == 0 }, patience, 5*time.Millisecond)

		replay := testkit.Run(t, o.World, o.asOwner(), webhook.ReplayEvents, webhook.ReplayEventsInput{BySubscription: by(s), Since: since})
		require.Equal(t, 2, replay.Events)
		r.Await(t, 3)
		require.Eventually(t, func() bool { return o.pending(t) == 0 }, patience, 5*time.Millisecond)
		count := map[string]int{}
		for _, g := range r.Got() {
			count[g.Header.Get("webhook-id")]++
		}
		require.Equal(t, map[string]int{missed: 1, sent: 2}, count, "before: %s, of another kind: %s", before, other)
		require.Len(t, audited(t, o.World, "webhooksubscription.replayed"), 1)
	})
}

// Many events are replayed in batches, each event once.
func TestReplayOfManyEvents(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		const n = 2*webhook.ReplayBatch + 50
		require.NoError(t, o.Store.Write(o.asOwner(), func(ctx context.Context, tx *store.Tx) error {
			for i := range n {
				err := o.Engine.Events.Emit(ctx, tx, events.Event{Name: events.TaskCompleted, SubjectID: fmt.Sprint("task_", i), At: o.Clock.Now(), Data: events.Task{}})
				if err != nil {
					return err
				}
			}
			return nil
		}))
		r := receiver.New(t, nil)
		s := o.subscribe(t, r.URL, events.TaskCompleted)
		replay := testkit.Run(t, o.World, o.asOwner(), webhook.ReplayEvents, webhook.ReplayEventsInput{BySubscription: by(s), Since: o.Clock.Now().Add(-time.Hour)})
		require.Equal(t, n, replay.Events)
		got := r.Await(t, n)
		seen := map[string]bool{}
		for _, g := range got {
			seen[g.Header.Get("webhook-id")] = true
		}
		require.Len(t, seen, n)
		require.Eventually(t, func() bool { return o.pending(t) == 0 }, patience, 5*time.Millisecond)
		require.Len(t, r.Got(), n)
	})
}

func TestReplaysThatAreRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		s := create(t, w, ctx)
		for _, since := range []time.Time{w.Clock.Now().Add(time.Hour), w.Clock.Now().Add(-31 * 24 * time.Hour), {}} {
			err := testkit.Refused(t, w, ctx, webhook.ReplayEvents, webhook.ReplayEventsInput{BySubscription: by(s), Since: since}, apperr.Validation)
			require.Equal(t, "since", err.Details[0].Field)
		}
		err := testkit.Refused(t, w, ctx, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: by(s), Event: "request.deleted"}, apperr.Validation)
		require.Equal(t, "event", err.Details[0].Field)

		// A delivery with the most attempts that it may have is not replayed.
		d := testkit.Run(t, w, ctx, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: by(s), Event: events.SLABreached})
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			attempts := []byte("[" + repeat(`{"at":"2027-01-15T10:00:00Z","statusCode":500,"responseBody":"","latencyMs":1,"error":null}`, 100) + "]")
			return tx.WebhookDelivery.UpdateOneID(d.ID).SetAttempts(attempts).SetOutcome(webhookdelivery.OutcomeFAILED).Exec(ctx)
		}))
		testkit.Refused(t, w, ctx, webhook.ReplayDelivery, op.ByID{ID: d.ID}, apperr.Conflict)
	})
}

func repeat(s string, n int) string {
	out := s
	for range n - 1 {
		out += "," + s
	}
	return out
}

// A test event is sent to one subscription, looks like any other event and is about no row.
func TestTestEvent(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, nil)
		s := o.subscribe(t, r.URL, events.TaskAssigned)
		o.subscribe(t, receiver.New(t, nil).URL, events.Names()...)
		for i, k := range events.All {
			d := testkit.Run(t, o.World, o.asOwner(), webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: by(s), Event: k.Name})
			require.Equal(t, k.Name, d.Event)
			require.Equal(t, s.ID, d.SubscriptionID)
			got := r.Await(t, i+1)[i]
			require.Equal(t, d.EventID, got.Header.Get("webhook-id"))
			e, err := o.Store.Reader().Event.Get(o.asOwner(), d.EventID)
			require.NoError(t, err)
			want, err := events.Payload(k.Name, e.CreatedAt, k.Example)
			require.NoError(t, err)
			want, err = events.Canonical(want, int64(i+1))
			require.NoError(t, err)
			require.Equal(t, string(want), string(got.Body))
		}
		require.Len(t, o.deliveries(t), len(events.All))
	})
}

// emit makes an event of company A and returns its id.
func (o *office) emit(t testing.TB, name, subject string) string {
	t.Helper()
	require.NoError(t, o.Store.Write(o.asOwner(), func(ctx context.Context, tx *store.Tx) error {
		return o.Engine.Events.Emit(ctx, tx, events.Event{Name: name, SubjectID: subject, At: o.Clock.Now(), Data: events.Request{ID: subject}})
	}))
	id, err := o.Store.Reader().Event.Query().Where(event.SubjectID(subject)).OnlyID(o.asOwner())
	require.NoError(t, err)
	return id
}

// later moves the product's clock forward.
func (o *office) later(by time.Duration) { o.Clock.SetOffset(o.Clock.Offset() + by) }

// pending counts company A's deliveries that are not settled.
func (o *office) pending(t testing.TB) int {
	t.Helper()
	n, err := o.Store.Reader().WebhookDelivery.Query().Where(webhookdelivery.OutcomeEQ(webhookdelivery.OutcomePENDING)).Count(o.asOwner())
	require.NoError(t, err)
	return n
}
