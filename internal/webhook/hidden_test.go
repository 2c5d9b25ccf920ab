package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/op"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

// deny hides requests that meet a condition.
func (o *office) deny(t testing.TB, condition string) {
	t.Helper()
	c := policy.NewCondition([]byte(condition))
	testkit.Run(t, o.World, o.asOwner(), policy.Create, policy.CreateInput{Name: "D", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
}

const textHidden = "hidden: access policies hide from the subscription what the event is about, no call was made"

// Rows that policies hide from a subscription are not sent to it, whether they hide the rows from everybody but owners, from all
// webhooks, or from one subscription.
func TestHiddenRowsAreNotSent(t *testing.T) {
	for name, condition := range map[string]string{
		"by the row":     `{"resource.tags.level": "secret", "principal.role": {"ne": "owner"}}`,
		"by the kind":    `{"resource.tags.level": "secret", "principal.type": "webhook", "principal.role": "admin"}`,
		"by one of them": `{"resource.tags.level": "secret", "principal.id": "%s"}`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, o *office) {
				r, other := receiver.New(t, receiver.Status(http.StatusOK, "")), receiver.New(t, receiver.Status(http.StatusOK, ""))
				s, in, condition := o.subscribe(t, r.URL), o.offering(t), condition
				if strings.Contains(condition, "%s") {
					o.subscribe(t, other.URL)
					condition = fmt.Sprintf(condition, s.ID)
				}
				o.deny(t, condition)
				in.Tags = map[string]string{"level": "secret"}
				o.file(t, in)
				in.Tags = nil
				shown := o.file(t, in)
				for _, d := range o.deliveries(t) {
					e, err := d.QuerySource().Only(o.asOwner())
					require.NoError(t, err)
					require.True(t, d.SubscriptionID != s.ID || e.SubjectID == shown.ID)
				}
				require.Eventually(t, func() bool { return len(r.Got()) == 1 }, patience, 5*time.Millisecond)
				require.Contains(t, string(r.Got()[0].Body), shown.ID)
			})
		})
	}
}

// A retry about a row that was hidden meanwhile is dropped, and so is a replay, and the history says why. It does not count as a
// failure of the subscription.
func TestRetriesAboutHiddenRowsAreDropped(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		answer := make(chan struct{})
		r := receiver.New(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-answer
			w.WriteHeader(http.StatusInternalServerError)
		}))
		s, in := o.subscribe(t, r.URL), o.offering(t)
		row := o.file(t, in)
		require.Eventually(t, func() bool { return len(r.Got()) == 1 }, patience, 5*time.Millisecond)
		o.deny(t, `{"resource.title": "Hidden"}`)
		require.NoError(t, o.Store.Write(o.asOwner(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Request.UpdateOneID(row.ID).SetTitle("Hidden").Exec(ctx)
		}))
		close(answer)
		d, attempts := o.await(t, outcome(webhookdelivery.OutcomeFAILED))
		require.Equal(t, textHidden, *attempts[len(attempts)-1].Error)
		require.Nil(t, attempts[len(attempts)-1].StatusCode)
		require.Nil(t, d.NextAttemptAt)
		require.True(t, o.subscription(t, s.ID).Enabled)
		calls := len(r.Got())

		testkit.Run(t, o.World, o.asOwner(), webhook.ReplayDelivery, op.ByID{ID: d.ID})
		_, attempts = o.await(t, attempted(len(attempts)+1))
		require.Equal(t, textHidden, *attempts[len(attempts)-1].Error)
		require.Len(t, r.Got(), calls)
	})
}

// Policies that are too many to be evaluated in the event's transaction are evaluated before the first attempt. For a test event
// they are evaluated on the example data.
func TestManyPoliciesAndTrials(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, receiver.Status(http.StatusOK, ""))
		s, in := o.subscribe(t, r.URL), o.offering(t)
		in.Title = "Hidden"
		conditions := []string{`"resource.title": {"glob": "Hidden*"}`, `"principal.role": {"ne": "owner"}`}
		for i := range 8 {
			conditions = append(conditions, fmt.Sprintf(`"resource.tags.t%d": {"glob": "x*"}`, i))
		}
		in.Tags = map[string]string{}
		for i := range 8 {
			in.Tags[fmt.Sprintf("t%d", i)] = "xy"
		}
		o.deny(t, "{"+strings.Join(conditions, ", ")+"}")
		o.file(t, in)
		_, attempts := o.await(t, outcome(webhookdelivery.OutcomeFAILED))
		require.Len(t, attempts, 1)
		require.Equal(t, textHidden, *attempts[0].Error)
		require.Nil(t, o.subscription(t, s.ID).FailingSince)

		trial := func(want webhookdelivery.Outcome) {
			d := testkit.Run(t, o.World, o.asOwner(), webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: webhook.BySubscription{SubscriptionID: s.ID}, Event: "task.assigned"})
			require.Eventually(t, func() bool {
				now, err := o.Store.Reader().WebhookDelivery.Get(o.asOwner(), d.ID)
				return err == nil && now.Outcome == want
			}, patience, 5*time.Millisecond)
		}
		trial(webhookdelivery.OutcomeSUCCESS)
		o.deny(t, `{"principal.type": "webhook"}`)
		trial(webhookdelivery.OutcomeFAILED)
		require.Len(t, r.Got(), 1)
	})
}
