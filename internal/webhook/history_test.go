package webhook_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook"
)

// For any set of outcomes, pages by number and by cursor follow one another in order, without gaps or repetitions, and the total
// counts all of them.
func TestPagesOfSomeOutcomes(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			for _, id := range []string{"whs_1", "whs_2"} {
				err := tx.WebhookSubscription.Create().SetID(id).SetURL("https://example.org").SetEvents(events.Names()).SetSecretSealed([]byte("x")).SetCreatedBy("usr_1").Exec(ctx)
				if err != nil {
					return err
				}
			}
			if err := tx.Event.Create().SetID("evt_1").SetType(events.RequestCreated).SetSubjectID("req_1").SetPayload([]byte("{}")).Exec(ctx); err != nil {
				return err
			}
			for i := range 30 {
				outcome := []webhookdelivery.Outcome{webhookdelivery.OutcomePENDING, webhookdelivery.OutcomeSUCCESS, webhookdelivery.OutcomeFAILED}[i*i%7%3]
				at := w.Clock.Now().Add(time.Duration(i/4) * time.Second) // some at the same time
				of := fmt.Sprint("whs_", 1+i%2)
				err := tx.WebhookDelivery.Create().SetSubscriptionID(of).SetEventID("evt_1").SetEvent(events.RequestCreated).SetOutcome(outcome).SetCreatedAt(at).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		}))
		for _, outcomes := range [][]string{nil, {"PENDING"}, {"FAILED", "PENDING"}, {"SUCCESS", "FAILED"}, {"FAILED", "PENDING", "SUCCESS", "FAILED"}} {
			for _, sort := range []string{"", "createdAt", "-createdAt"} {
				var want []string // the expected ids, in the order in which the database sorts all rows
				order := ent.Desc(webhookdelivery.FieldCreatedAt, webhookdelivery.FieldID)
				if sort == "createdAt" {
					order = ent.Asc(webhookdelivery.FieldCreatedAt, webhookdelivery.FieldID)
				}
				all, err := w.Store.Reader().WebhookDelivery.Query().Order(order).All(ctx)
				require.NoError(t, err)
				for _, d := range all {
					if outcomes == nil || slices.Contains(outcomes, string(d.Outcome)) {
						want = append(want, d.ID)
					}
				}
				var byNumber, byCursor []string
				in := webhook.ListDeliveriesInput{Page: paging.Page{Size: 4, Sort: sort}, Outcome: outcomes}
				for in.Number = 1; ; in.Number++ {
					l := testkit.Run(t, w, ctx, webhook.ListDeliveries, in)
					require.Equal(t, len(want), l.Total)
					if len(l.Rows) == 0 {
						break
					}
					byNumber = append(byNumber, idsOf(l.Rows)...)
				}
				require.Equal(t, want, byNumber, "%v by %q", outcomes, sort)
				in.SetWindow(4, "", sort, true)
				for {
					l := testkit.Run(t, w, ctx, webhook.ListDeliveries, in)
					require.Equal(t, len(want), l.Total)
					byCursor = append(byCursor, idsOf(l.Rows)...)
					if !l.More {
						break
					}
					in.SetWindow(4, l.Cursor(l.Rows[len(l.Rows)-1]), sort, true)
				}
				require.Equal(t, want, byCursor, "%v by %q", outcomes, sort)
			}
		}
	})
}

func idsOf(rows []*ent.WebhookDelivery) []string {
	out := make([]string, len(rows))
	for i, d := range rows {
		out[i] = d.ID
	}
	return out
}
