package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook"
)

// The figures count the deliveries of events that happened in a period, with their present outcomes, and only what the caller may
// see: by day and week in UTC on both databases, or by subscription.
func TestStats(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		monday := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
		const pending, success, failed = webhookdelivery.OutcomePENDING, webhookdelivery.OutcomeSUCCESS, webhookdelivery.OutcomeFAILED
		delivered := func(ctx context.Context, rows map[string]map[time.Duration]webhookdelivery.Outcome) {
			require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				event := tx.Event.Create().SetType(events.RequestCreated).SetSubjectID("req_1").SetPayload([]byte("{}")).SaveX(ctx)
				for id, of := range rows {
					tx.WebhookSubscription.Create().SetID(id).SetURL("https://example.org").SetEvents(events.Names()).SetSecretSealed([]byte("x")).SetCreatedBy("usr_1").SaveX(ctx)
					for after, outcome := range of {
						tx.WebhookDelivery.Create().SetSubscriptionID(id).SetEventID(event.ID).SetEvent(events.RequestCreated).SetOutcome(outcome).SetCreatedAt(monday.Add(after)).SaveX(ctx)
					}
				}
				return nil
			}))
		}
		const day, last = 24 * time.Hour, 24*time.Hour - time.Millisecond
		delivered(owner, map[string]map[time.Duration]webhookdelivery.Outcome{
			"whs_1": {0: success, last: success, day: failed, 6*day + last: success, 7 * day: pending, -time.Millisecond: failed},
			"whs_2": {0: failed, time.Hour: failed, 8 * day: success, 9 * day: failed},
		})
		delivered(w.As(w.B, principal.Owner), map[string]map[time.Duration]webhookdelivery.Outcome{"whs_3": {0: failed}})

		in := webhook.StatsInput{Input: period.Input{From: monday, To: monday.Add(9 * day)}}
		ask := func(by string) []*webhook.Stat {
			t.Helper()
			in.By = by
			return testkit.Run(t, w, w.As(w.A, principal.Admin), webhook.Stats, in)
		}
		require.Equal(t, []*webhook.Stat{
			{Key: "2026-11-16", Succeeded: 2, Failed: 2}, {Key: "2026-11-17", Failed: 1}, {Key: "2026-11-22", Succeeded: 1},
			{Key: "2026-11-23", Pending: 1}, {Key: "2026-11-24", Succeeded: 1},
		}, ask("day"))
		require.Equal(t, []*webhook.Stat{{Key: "2026-11-16", Succeeded: 3, Failed: 3}, {Key: "2026-11-23", Succeeded: 1, Pending: 1}}, ask("week"))
		require.Equal(t, []*webhook.Stat{{Key: "whs_2", Succeeded: 1, Failed: 2}, {Key: "whs_1", Succeeded: 3, Failed: 1, Pending: 1}}, ask("subscription"))

		hidden := policy.NewCondition([]byte(`{"resource.outcome": "FAILED"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "D", Effect: "Deny", Action: "read", Resource: "WebhookDelivery", Condition: &hidden})
		require.Equal(t, []*webhook.Stat{{Key: "2026-11-16", Succeeded: 3}, {Key: "2026-11-23", Succeeded: 1, Pending: 1}}, ask("week"))
		require.Equal(t, []*webhook.Stat{{Key: "whs_1", Succeeded: 3, Pending: 1}, {Key: "whs_2", Succeeded: 1}}, ask("subscription"))

		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			testkit.Refused(t, w, w.As(w.A, role), webhook.Stats, in, apperr.Forbidden, role)
		}
		in.To = in.From
		testkit.Refused(t, w, owner, webhook.Stats, in, apperr.Validation)
	})
}
