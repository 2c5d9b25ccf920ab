package webhook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/desk/request"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/people"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

// A receiver that fails gets five retries with the same id and body; then the delivery has failed.
func TestFiveRetries(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, receiver.Status(http.StatusInternalServerError, "oops"))
		s := o.subscribe(t, r.URL)
		o.file(t, o.offering(t))
		d, attempts := o.await(t, outcome(webhookdelivery.OutcomeFAILED))
		require.Len(t, attempts, 6)
		require.Equal(t, 5, d.RetryCount)
		require.Nil(t, d.NextAttemptAt)
		for i, a := range attempts {
			require.Equal(t, 500, *a.StatusCode)
			require.Equal(t, "oops", *a.ResponseBody)
			require.Nil(t, a.Error)
			require.False(t, i > 0 && a.At.Before(attempts[i-1].At))
		}
		got := r.Got()
		require.Len(t, got, 6)
		for _, g := range got {
			require.Equal(t, d.EventID, g.Header.Get("webhook-id"))
			require.Equal(t, string(got[0].Body), string(g.Body))
		}
		require.NotNil(t, o.subscription(t, s.ID).FailingSince)
		require.True(t, o.subscription(t, s.ID).Enabled)
	})
}

// A retry follows each of these answers.
func TestAnswersThatAreRetried(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		codes := []int{301, 302, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503}
		var calls atomic.Int64
		r := receiver.New(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n := int(calls.Add(1)) - 1
			if n >= len(codes) {
				w.WriteHeader(http.StatusCreated)
				return
			}
			w.Header().Set("Location", "https://127.0.0.1:1/")
			w.WriteHeader(codes[n])
		}))
		o.subscribe(t, r.URL)
		o.file(t, o.offering(t))
		d, attempts := o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))
		require.Equal(t, len(codes), d.RetryCount)
		for i, code := range codes {
			require.Equal(t, code, *attempts[i].StatusCode)
		}
		require.Equal(t, http.StatusCreated, *attempts[len(codes)].StatusCode)
	}, schedule(repeated(12, 5*time.Millisecond)...))
}

func repeated(n int, d time.Duration) []time.Duration {
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = d
	}
	return list
}

// Until its retry is due, the delivery says when that is: after the schedule's wait, or later if the receiver asked for it.
func TestNextAttempt(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		for after, want := range map[string]time.Duration{"": 30 * time.Second, "60": time.Minute, "5": 30 * time.Second, "86400": 2 * time.Minute} {
			h := receiver.Status(http.StatusTooManyRequests, "slow down")
			if after != "" {
				h = receiver.RetryAfter(http.StatusTooManyRequests, after)
			}
			s := o.subscribe(t, receiver.New(t, h).URL, events.RequestAccepted)
			before := o.Clock.Now()
			d := testkit.Run(t, o.World, o.asOwner(), webhook.SendTestEvent,
				webhook.SendTestEventInput{BySubscription: webhook.BySubscription{SubscriptionID: s.ID}, Event: events.RequestAccepted})
			require.Eventually(t, func() bool {
				var err error
				d, err = o.Store.Reader().WebhookDelivery.Get(o.asOwner(), d.ID)
				return err == nil && len(d.Attempts) > 0
			}, patience, 5*time.Millisecond)
			require.Equal(t, webhookdelivery.OutcomePENDING, d.Outcome)
			require.Zero(t, d.RetryCount)
			wait := d.NextAttemptAt.Sub(before)
			require.GreaterOrEqual(t, wait, want, after)
			require.LessOrEqual(t, wait, want+o.Clock.Now().Sub(before), after)
		}
	}, schedule(webhook.DefaultRetries...))
}

// 410 ends the deliveries: no retry and no further event, until somebody enables the subscription again.
func TestGone(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var gone atomic.Bool
		gone.Store(true)
		r := receiver.New(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if gone.Load() {
				w.WriteHeader(http.StatusGone)
			}
		}))
		s := o.subscribe(t, r.URL)
		in := o.offering(t)
		o.file(t, in)
		d, attempts := o.await(t, outcome(webhookdelivery.OutcomeFAILED))
		require.Len(t, attempts, 1)
		require.Equal(t, 410, *attempts[0].StatusCode)
		require.Nil(t, d.NextAttemptAt)
		after := o.subscription(t, s.ID)
		require.False(t, after.Enabled)
		require.Equal(t, "The receiver answered 410 Gone.", *after.DisabledReason)
		entries := audited(t, o.World, "webhooksubscription.disabled")
		require.Len(t, entries, 1)
		require.Equal(t, s.ID, *entries[0].ResourceID)
		require.Equal(t, "system", entries[0].ActorType)
		require.JSONEq(t, `{"enabled":{"from":true,"to":false},"disabledReason":{"from":null,"to":"The receiver answered 410 Gone."}}`, string(entries[0].Changes))

		o.file(t, in)
		require.Len(t, o.deliveries(t), 1, "a disabled subscription gets no deliveries")
		for _, err := range []error{
			call(o.asOwner(), o.World, webhook.ReplayDelivery, op.ByID{ID: d.ID}),
			call(o.asOwner(), o.World, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: webhook.BySubscription{SubscriptionID: s.ID}, Event: events.TaskAssigned}),
			call(o.asOwner(), o.World, webhook.ReplayEvents, webhook.ReplayEventsInput{BySubscription: webhook.BySubscription{SubscriptionID: s.ID}, Since: d.CreatedAt}),
		} {
			require.ErrorContains(t, err, "disabled")
		}

		gone.Store(false)
		resumed := testkit.Run(t, o.World, o.asOwner(), webhook.UpdateSubscription, webhook.UpdateSubscriptionInput{ByID: op.ByID{ID: s.ID}, Enabled: op.SetTo(true)})
		require.True(t, resumed.Enabled)
		require.Nil(t, resumed.DisabledReason)
		testkit.Run(t, o.World, o.asOwner(), webhook.ReplayEvents, webhook.ReplayEventsInput{BySubscription: webhook.BySubscription{SubscriptionID: s.ID}, Since: d.CreatedAt})
		r.Await(t, 3)
		require.Eventually(t, func() bool {
			list := o.deliveries(t)
			return len(list) == 2 && list[0].Outcome == webhookdelivery.OutcomeSUCCESS && list[1].Outcome == webhookdelivery.OutcomeSUCCESS
		}, patience, 5*time.Millisecond, "what was refused and what was missed")
	})
}

// letters collects the mails that are sent.
type letters struct{ sent chan mail.Message }

func (l letters) Enqueue(_ context.Context, _ *store.Tx, m mail.Message) error {
	l.sent <- m
	return nil
}

// awaitEnded waits until no delivery waits for a retry.
func (o *office) awaitEnded(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(o.deliveries(t), func(d *delivery) bool { return d.Outcome == webhookdelivery.OutcomePENDING })
	}, patience, 5*time.Millisecond)
}

// A receiver that has failed for five days without a single success is disabled, and the owners are notified.
func TestDeadReceiver(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, receiver.Status(http.StatusBadGateway, ""))
		s := o.subscribe(t, r.URL)
		in := o.offering(t)
		testkit.Run(t, o.World, o.asOwner(), people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de")})
		o.file(t, in)
		require.Eventually(t, func() bool { return o.subscription(t, s.ID).FailingSince != nil }, patience, 5*time.Millisecond)
		o.Clock.SetOffset(5*24*time.Hour - time.Minute)
		o.file(t, in)
		o.awaitEnded(t) // a retry of one of these would disable it, too
		require.True(t, o.subscription(t, s.ID).Enabled, "not yet")
		o.Clock.SetOffset(5*24*time.Hour + time.Minute)
		o.file(t, in)
		require.Eventually(t, func() bool { return !o.subscription(t, s.ID).Enabled }, patience, 5*time.Millisecond)
		require.Equal(t, "No delivery has succeeded for 5 days.", *o.subscription(t, s.ID).DisabledReason)
		require.Len(t, audited(t, o.World, "webhooksubscription.disabled"), 1)
		o.awaitEnded(t) // what waited for its retry has failed
		all := o.deliveries(t)
		require.Len(t, all, 3)
		attempts, err := webhook.AttemptsOf(all[2])
		require.NoError(t, err)
		require.Len(t, attempts, 2)
		end := attempts[1]
		require.Nil(t, end.StatusCode)
		require.True(t, strings.HasPrefix(*end.Error, "disabled: "), *end.Error)

		m := <-o.options.Mail.(letters).sent
		require.Equal(t, o.A.Owner.Email, m.To)
		require.Contains(t, m.Text, r.URL)
		require.Equal(t, "Ein Webhook von "+o.A.Company.Name+" wurde abgeschaltet", m.Subject, "in the owner's language")
		require.Contains(t, m.Text, "Seit 5 Tagen ist keine Zustellung gelungen.")
	}, func(o *webhook.Options, _ *egress.Options) { o.Mail = letters{make(chan mail.Message, 10)} })
}

// A success starts the five days again.
func TestFlakyReceiverIsKept(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var status atomic.Int64
		status.Store(500)
		r := receiver.New(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
		s := o.subscribe(t, r.URL)
		in := o.offering(t)
		o.file(t, in)
		require.Eventually(t, func() bool { return o.subscription(t, s.ID).FailingSince != nil }, patience, 5*time.Millisecond)
		status.Store(200)
		o.file(t, in)
		require.Eventually(t, func() bool { // a failure of before that is taken down only now would count from there
			list := o.deliveries(t)
			return len(list) == 2 && list[0].Outcome == webhookdelivery.OutcomeSUCCESS && list[1].Outcome == webhookdelivery.OutcomeSUCCESS
		}, patience, 5*time.Millisecond)
		require.Nil(t, o.subscription(t, s.ID).FailingSince)
		status.Store(500)
		o.Clock.SetOffset(6 * 24 * time.Hour)
		n := len(r.Got())
		o.file(t, in)
		r.Await(t, n+6)
		require.Eventually(t, func() bool { return o.deliveries(t)[2].Outcome == webhookdelivery.OutcomeFAILED }, patience, 5*time.Millisecond)
		require.True(t, o.subscription(t, s.ID).Enabled)
	})
}

// An attempt uses the subscription's URL and secret of that moment; a delivery whose subscription is deleted is not sent.
func TestChangesBetweenAttempts(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		broken, whole := receiver.New(t, receiver.Status(500, "")), receiver.New(t, nil)
		s := o.subscribe(t, broken.URL)
		o.file(t, o.offering(t))
		broken.Await(t, 1)
		testkit.Run(t, o.World, o.asOwner(), webhook.UpdateSubscription, webhook.UpdateSubscriptionInput{ByID: op.ByID{ID: s.ID}, URL: op.SetTo(whole.URL)})
		d, _ := o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))
		require.Equal(t, d.EventID, whole.Await(t, 1)[0].Header.Get("webhook-id"))
	}, schedule(repeated(20, 100*time.Millisecond)...))
}

func TestDeletedSubscription(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, receiver.Status(500, ""))
		s := o.subscribe(t, r.URL)
		in := o.offering(t)
		o.file(t, in)
		r.Await(t, 1)
		testkit.Run(t, o.World, o.asOwner(), webhook.DeleteSubscription, op.ByID{ID: s.ID})
		require.Empty(t, o.deliveries(t), "its history goes with it")
		other := receiver.New(t, nil)
		o.subscribe(t, other.URL)
		o.file(t, in)
		other.Await(t, 1)
		o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))
	})
}

// Every transition of a request is sent once and in order to the subscriptions that ask for it.
func TestEventsOfARequestsLife(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, nil)
		o.subscribe(t, r.URL, events.RequestCreated, events.RequestAccepted, events.RequestCompleted, events.RequestCancelled)
		in := o.offering(t)
		first, second := o.file(t, in), o.file(t, in)
		to := func(id, status string) {
			testkit.Run(t, o.World, o.asOwner(), request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Status: op.SetTo(status)})
		}
		to(first.ID, "IN_PROGRESS")
		to(first.ID, "COMPLETED")
		to(second.ID, "CANCELLED")
		require.Error(t, call(o.asOwner(), o.World, request.Update, request.UpdateInput{ByID: op.ByID{ID: second.ID}, Status: op.SetTo("COMPLETED")}))
		r.Await(t, 5)
		o.stop()
		seen := map[string]string{}
		for _, g := range r.Got() {
			var body struct {
				Event string
				Data  events.Request
			}
			require.NoError(t, json.Unmarshal(g.Body, &body))
			seen[body.Event+" "+body.Data.ID] = body.Data.Status
		}
		require.Equal(t, map[string]string{
			events.RequestCreated + " " + first.ID: "PENDING", events.RequestCreated + " " + second.ID: "PENDING",
			events.RequestAccepted + " " + first.ID: "IN_PROGRESS", events.RequestCompleted + " " + first.ID: "COMPLETED",
			events.RequestCancelled + " " + second.ID: "CANCELLED",
		}, seen)
		require.Len(t, r.Got(), 5)
	})
}

// The events of one company are never sent to another's subscriptions.
func TestEventsStayInTheirCompany(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, nil)
		theirs := testkit.Run(t, o.World, o.As(o.B, principal.Owner), webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: r.URL, Events: events.Names()})
		mine := receiver.New(t, nil)
		o.subscribe(t, mine.URL)
		o.file(t, o.offering(t))
		mine.Await(t, 1)
		o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))
		require.Empty(t, r.Got())
		n, err := o.Store.Reader().WebhookDelivery.Query().Where(webhookdelivery.SubscriptionID(theirs.ID)).Count(o.As(o.B, principal.Owner))
		require.NoError(t, err)
		require.Zero(t, n)
	})
}
