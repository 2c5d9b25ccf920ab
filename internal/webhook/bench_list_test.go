package webhook_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
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

// historyVariable sets how many deliveries BenchmarkHistory reads among; the default is 200,000. Ten million take some minutes
// and gigabytes on each database.
const historyVariable = "ATRIUM_BENCH_HISTORY_ROWS"

const (
	historyWeeks = 5  // the deliveries are spread over so many weeks
	historySubs  = 10 // subscriptions, each of which gets every event; one delivery in 1,000 failed, one in 10,000 is pending
)

// longHistory is a company with a history of a number of rows, in the weeks from begins on.
type longHistory struct {
	*testkit.World
	rows          int
	begins        time.Time
	subscriptions []string
}

// BenchmarkHistory reads pages of a long history: the first, one deep inside, and by each filter. Then it looks for changes, as
// feeds do, and sweeps: a batch of rows, a batch of events, and on PostgreSQL a whole week.
func BenchmarkHistory(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		h := fillHistory(b, w)
		h.pages(b)
		h.changes(b)
		h.sweeps(b)
	})
}

func (h *longHistory) pages(b *testing.B) {
	ctx := h.As(h.A, principal.Owner)
	page := func(in webhook.ListDeliveriesInput, counted bool) paging.List[*ent.WebhookDelivery] {
		in.Window = &paging.Window{After: in.Sort, Uncounted: !counted}
		in.Sort = ""
		return testkit.Run(b, h.World, ctx, webhook.ListDeliveries, in)
	}
	one := &h.subscriptions[3]
	for _, c := range []struct {
		name string
		in   webhook.ListDeliveriesInput
	}{
		{"all", webhook.ListDeliveriesInput{}},
		{"subscription", webhook.ListDeliveriesInput{SubscriptionID: one}},
		{"success", webhook.ListDeliveriesInput{Outcome: []string{"SUCCESS"}}},
		{"failed", webhook.ListDeliveriesInput{Outcome: []string{"FAILED"}}},
		{"pending", webhook.ListDeliveriesInput{Outcome: []string{"PENDING"}}},
		{"failed or pending", webhook.ListDeliveriesInput{Outcome: []string{"FAILED", "PENDING"}}},
		{"settled", webhook.ListDeliveriesInput{Outcome: []string{"FAILED", "SUCCESS"}}},
		{"success of one", webhook.ListDeliveriesInput{SubscriptionID: one, Outcome: []string{"SUCCESS"}}},
		{"failed of one", webhook.ListDeliveriesInput{SubscriptionID: one, Outcome: []string{"FAILED"}}},
		{"pending of one", webhook.ListDeliveriesInput{SubscriptionID: one, Outcome: []string{"PENDING"}}},
		{"failed or pending of one", webhook.ListDeliveriesInput{SubscriptionID: one, Outcome: []string{"FAILED", "PENDING"}}},
	} {
		deep := c.in
		deep.Size = 100
		for range 50 {
			l := page(deep, false)
			if !l.More {
				break
			}
			deep.Sort = l.Cursor(l.Rows[len(l.Rows)-1])
		}
		deep.Size = 20
		for name, in := range map[string]webhook.ListDeliveriesInput{"first": c.in, "deep": deep} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for range b.N {
					page(in, false)
				}
			})
		}
		b.Run(c.name+"/first counted", func(b *testing.B) {
			for range b.N {
				page(c.in, true)
			}
		})
	}
}

// changes looks for deliveries of all companies that have changed since a moment, as a feed does several times a second.
func (h *longHistory) changes(b *testing.B) {
	ctx, since := principal.System(context.Background(), "benchmark"), h.begins.Add(historyWeeks*webhook.Week-time.Minute)
	b.Run("changed of late", func(b *testing.B) {
		for range b.N {
			_, err := h.Store.Reader().WebhookDelivery.Query().Where(webhookdelivery.UpdatedAtGTE(since)).
				Order(webhookdelivery.ByUpdatedAt(), webhookdelivery.ByID()).Limit(500).IDs(ctx)
			require.NoError(b, err)
		}
	})
}

// sweeps drops the oldest week where there are partitions. Then it deletes rows of the following weeks one by one, and events
// that have no deliveries left. The history and a development clock lie ahead of the machine's time, so that PostgreSQL deletes
// rows one by one as well.
func (h *longHistory) sweeps(b *testing.B) {
	ctx := principal.System(context.Background(), "benchmark")
	now := h.begins.Add(webhook.Week + webhook.KeptFor)
	h.Clock.SetOffset(time.Until(now))
	require.NoError(b, h.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { // not by Ent, which would set updatedAt
		settle, args := sql.Dialect(tx.Dialect()).Update(webhookdelivery.Table).Set(webhookdelivery.FieldOutcome, "FAILED").
			Where(sql.And(sql.EQ(webhookdelivery.FieldOutcome, "PENDING"), sql.LT(webhookdelivery.FieldCreatedAt, h.begins.Add(webhook.Week)))).Query()
		return ent.DriverOf(tx.Client).Exec(ctx, settle, args, nil)
	}))
	if h.Store.Dialect() == dialect.Postgres {
		b.Run("drop a week", func(b *testing.B) {
			for i := range b.N { // the first run drops the week, the others find nothing
				began := time.Now()
				require.NoError(b, webhook.Tend(h.Store, slog.New(slog.DiscardHandler), now, now.Add(-webhook.KeptFor)))
				if b.N == 1 && i == 0 {
					b.Logf("%d rows in %v", h.rows/historyWeeks, time.Since(began))
				}
			}
		})
	}
	rows := func(b *testing.B, sweep func() (int, error)) {
		for range b.N {
			began := time.Now()
			n, err := sweep()
			require.NoError(b, err)
			if b.N == 1 {
				b.Logf("%d rows in %v", n, time.Since(began))
			}
		}
	}
	b.Run("sweep deliveries", func(b *testing.B) {
		rows(b, func() (int, error) { return webhook.SweepDeliveries(h.Store, h.begins.Add(4*webhook.Week)) })
	})
	oldest, err := h.Store.Reader().WebhookDelivery.Query().Order(webhookdelivery.ByUpdatedAt()).First(ctx)
	require.NoError(b, err)
	b.Run("sweep events", func(b *testing.B) {
		rows(b, func() (int, error) { return webhook.SweepEvents(h.Store, h.A.Company.ID, oldest.CreatedAt) })
	})
}

func fillHistory(b *testing.B, w *testkit.World) *longHistory {
	b.Helper()
	h := &longHistory{World: w, rows: 200_000, begins: webhook.Monday(time.Now()).Add(3 * webhook.Week)}
	if v := os.Getenv(historyVariable); v != "" {
		var err error
		h.rows, err = strconv.Atoi(v)
		require.NoError(b, err, historyVariable)
	}
	ctx := w.As(w.A, principal.Owner)
	for range historySubs {
		s := testkit.Run(b, w, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://example.org", Events: events.Names()})
		h.subscriptions = append(h.subscriptions, s.Subscription.ID)
	}
	for i := range historyWeeks + 1 {
		require.NoError(b, webhook.Tend(w.Store, slog.New(slog.DiscardHandler), h.begins.Add(time.Duration(i)*webhook.Week), time.Now()))
	}
	const per = 5_000 // events per transaction
	for from := 0; from < h.rows/historySubs; from += per {
		require.NoError(b, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			for _, statement := range h.statements(from, from+per-1) {
				if err := ent.DriverOf(tx.Client).Exec(ctx, statement, []any{w.A.Company.ID}, nil); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if w.Store.Dialect() == dialect.Postgres {
		_, err := w.Store.Pool().Exec(context.Background(), "VACUUM ANALYZE webhook_deliveries, events") // as autovacuum would
		require.NoError(b, err)
	}
	return h
}

// statements returns the statements that make the events first to last, and their deliveries.
func (h *longHistory) statements(first, last int) []string {
	apart := historyWeeks * webhook.Week.Milliseconds() / int64(h.rows/historySubs)
	ms := fmt.Sprintf("(%d + n * %d)", h.begins.UnixMilli(), apart)
	at, one, small, padded := "strftime('%Y-%m-%d %H:%M:%f+00:00', "+ms+" / 1000.0, 'unixepoch')", "?1", "", "printf('%013d', n)"
	numbers := fmt.Sprintf("WITH RECURSIVE numbers(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)", first, last)
	if h.Store.Dialect() == dialect.Postgres {
		at, one, small, padded = "to_timestamp("+ms+" / 1000.0)", "$1", "::int", "lpad(n::text, 13, '0')"
		numbers = fmt.Sprintf("WITH numbers AS (SELECT generate_series(%d::bigint, %d) AS n)", first, last)
	}
	made := "''" // the time as package id encodes it
	for shift := 45; shift >= 0; shift -= 5 {
		made += fmt.Sprintf(" || substr('0123456789abcdefghjkmnpqrstvwxyz', (1 + ((%s >> %d) & 31))%s, 1)", ms, shift, small)
	}
	made += " || " + padded
	subs := "SELECT 0 AS k, '" + h.subscriptions[0] + "' AS subscription"
	for k, id := range h.subscriptions[1:] {
		subs += fmt.Sprintf(" UNION ALL SELECT %d, '%s'", k+1, id)
	}
	return []string{
		numbers + ` INSERT INTO events (id, created_at, updated_at, company_id, type, subject_id, payload)
			SELECT 'evt_' || ` + made + " || '000', " + at + ", " + at + ", " + one + `, 'request.created', 'req_1', '{"type": "request.created", "data": {"title": "A new laptop"}}' FROM numbers`,
		numbers + `, subs AS (` + subs + `) INSERT INTO webhook_deliveries (id, created_at, updated_at, company_id, subscription_id, event_id, event, outcome, retry_count, attempts)
			SELECT 'whd_' || ` + made + " || '00' || k, " + at + ", " + at + ", " + one + ", subscription, 'evt_' || " + made + ` || '000', 'request.created',
			CASE WHEN (n * 10 + k) % 10000 IN (3, 5003) THEN CASE WHEN n % 2 = 0 THEN 'PENDING' ELSE 'FAILED' END WHEN (n * 7 + k) % 1000 = 13 THEN 'FAILED' ELSE 'SUCCESS' END, 0,
			'[{"at": "2027-01-01T00:00:00Z", "statusCode": 204, "responseBody": "", "latencyMs": 12, "error": null}]' FROM numbers, subs`,
	}
}
