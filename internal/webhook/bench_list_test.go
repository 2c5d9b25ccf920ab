package webhook_test

import (
	"context"
	"fmt"
	"testing"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/events"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
	"atrium/internal/webhook"
)

const manyDeliveries = 1_000_000 // one in 1,000 failed, one in 10,000 pending

// BenchmarkHistory reads pages of a long history: its first, one deep inside it, and by each filter.
func BenchmarkHistory(b *testing.B) {
	eachBench(b, func(b *testing.B, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		subscriptions := make([]string, 10)
		for i := range subscriptions {
			subscriptions[i] = testkit.Run(b, w, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://example.org", Events: events.Names()}).ID
		}
		fillHistory(b, w, subscriptions)
		page := func(in webhook.ListDeliveriesInput) op.List[*ent.WebhookDelivery] {
			in.Window = &op.Window{After: in.Sort}
			in.Sort = ""
			return testkit.Run(b, w, ctx, webhook.ListDeliveries, in)
		}
		deep := ""
		for range 50 {
			l := page(webhook.ListDeliveriesInput{Page: op.Page{Size: 100, Sort: deep}})
			deep = l.Cursor(l.Rows[len(l.Rows)-1])
		}
		for name, in := range map[string]webhook.ListDeliveriesInput{
			"first":          {},
			"deep":           {Page: op.Page{Sort: deep}},
			"subscription":   {SubscriptionID: &subscriptions[3]},
			"failed":         {Outcome: []string{"FAILED"}},
			"pending":        {Outcome: []string{"PENDING"}},
			"failed of one":  {SubscriptionID: &subscriptions[3], Outcome: []string{"FAILED"}},
			"pending of one": {SubscriptionID: &subscriptions[3], Outcome: []string{"PENDING"}},
			"success of one": {SubscriptionID: &subscriptions[3], Outcome: []string{"SUCCESS"}},
		} {
			b.Run(name, func(b *testing.B) {
				for range b.N {
					page(in)
				}
			})
		}
	})
}

func fillHistory(b *testing.B, w *testkit.World, subscriptions []string) {
	b.Helper()
	ctx := w.As(w.A, principal.Owner)
	require.NoError(b, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Event.Create().SetID("evt_1").SetType(events.RequestCreated).SetSubjectID("req_1").SetPayload([]byte("{}")).Exec(ctx)
	}))
	const per = 100_000 // rows a statement
	for from := 0; from < manyDeliveries; from += per {
		require.NoError(b, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return ent.DriverOf(tx.Client).Exec(ctx, historyRows(w.Store.Dialect(), from, from+per-1, subscriptions), []any{w.A.Company.ID}, nil)
		}))
	}
	if w.Store.Dialect() == dialect.Postgres {
		_, err := w.Store.Pool().Exec(context.Background(), "ANALYZE webhook_deliveries") // as autovacuum does
		require.NoError(b, err)
	}
}

// historyRows is the statement that makes deliveries of the numbers from first to last, a second apart.
func historyRows(d string, first, last int, subscriptions []string) string {
	numbers := fmt.Sprintf("WITH RECURSIVE numbers(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)", first, last)
	at, one := "datetime('2027-01-01', '+' || n || ' seconds') || '+00:00'", "?1"
	if d == dialect.Postgres {
		numbers = fmt.Sprintf("WITH numbers AS (SELECT generate_series(%d, %d) AS n)", first, last)
		at, one = "'2027-01-01'::timestamptz + make_interval(secs => n)", "$1"
	}
	subscription := "CASE n % 10"
	for i, id := range subscriptions {
		subscription += fmt.Sprintf(" WHEN %d THEN '%s'", i, id)
	}
	return numbers + ` INSERT INTO webhook_deliveries (id, created_at, updated_at, company_id, subscription_id, event_id, event, outcome, retry_count, attempts)
		SELECT 'whd_' || n, ` + at + ", " + at + ", " + one + ", " + subscription + ` END, 'evt_1', 'request.created',
		CASE WHEN n % 10000 = 3 THEN 'PENDING' WHEN n % 1000 = 13 THEN 'FAILED' ELSE 'SUCCESS' END, 0, '[]' FROM numbers`
}
