package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook"
)

// history is a world on PostgreSQL with a subscription and an event in each company, for which tests make deliveries.
type history struct {
	*testkit.World
	log bytes.Buffer
}

func openHistory(t *testing.T) *history {
	t.Helper()
	h := &history{World: testkit.PostgresWorld(t)}
	for _, c := range []*testkit.Tenant{h.A, h.B} {
		require.NoError(t, h.Store.Write(h.As(c, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			err := tx.WebhookSubscription.Create().SetID("whs_" + c.Company.ID).SetURL("https://example.org").SetEvents(events.Names()).
				SetSecretSealed([]byte("x")).SetCreatedBy(c.Owner.ID).Exec(ctx)
			if err != nil {
				return err
			}
			return tx.Event.Create().SetID("evt_" + c.Company.ID).SetType(events.RequestCreated).SetSubjectID("req_1").SetPayload([]byte("{}")).Exec(ctx)
		}))
	}
	return h
}

// tend makes and drops weeks as a node does at a moment.
func (h *history) tend(t *testing.T, now time.Time) {
	t.Helper()
	require.NoError(t, h.tendOn(h.Store, now))
}

func (h *history) tendOn(s *store.Store, now time.Time) error {
	return webhook.Tend(s, slog.New(slog.NewTextHandler(&h.log, nil)), now, now.Add(-webhook.KeptFor))
}

// put makes a delivery of a company at a moment and returns its id.
func (h *history) put(t *testing.T, of *testkit.Tenant, at time.Time, outcome webhookdelivery.Outcome) string {
	t.Helper()
	made := strings.TrimRight(id.From("whd", at), "0") + "zzz"
	driver := func(tx *store.Tx) error {
		return ent.DriverOf(tx.Client).Exec(context.Background(), `INSERT INTO webhook_deliveries (id, created_at, updated_at, company_id, subscription_id, event_id, event, outcome)
			VALUES ($1, $2, $2, $3, $4, $5, 'request.created', $6)`, []any{made, at, of.Company.ID, "whs_" + of.Company.ID, "evt_" + of.Company.ID, string(outcome)}, nil)
	}
	require.NoError(t, h.Store.Write(h.As(of, principal.Owner), func(_ context.Context, tx *store.Tx) error { return driver(tx) }))
	return made
}

// where returns the partition that each delivery is in, by its id.
func (h *history) where(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, h.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.PGX().Query(ctx, "SELECT id, replace(tableoid::regclass::text, 'webhook_deliveries_', '') FROM webhook_deliveries")
		if err != nil {
			return err
		}
		var delivery, part string
		_, err = pgx.ForEachRow(rows, []any{&delivery, &part}, func() error { out[delivery] = part; return nil })
		return err
	}))
	return out
}

// partitions returns the names of the partitions, without the prefix of the table's name.
func (h *history) partitions(t *testing.T) []string {
	t.Helper()
	rows, err := h.Store.Pool().Query(t.Context(), `SELECT replace(c.relname, 'webhook_deliveries_', '') FROM pg_inherits i
		JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'webhook_deliveries'::regclass ORDER BY 1`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}

// weekOf returns the name of the partition of a moment's week.
func weekOf(at time.Time) string { return "w" + webhook.Monday(at).Format("20060102") }

// Weeks begin on Monday in UTC.
func TestMonday(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{
		"2026-11-23T00:00:00Z": "2026-11-23", "2026-11-29T23:59:59Z": "2026-11-23", "2026-11-30T00:30:00+01:00": "2026-11-23", "2027-01-01T12:00:00Z": "2026-12-28",
	} {
		moment, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, want, webhook.Monday(moment).Format(time.DateOnly), at)
	}
}

// The coming weeks are made before they begin, without gaps; every delivery goes into the partition of its week.
func TestWeeksAreMadeAhead(t *testing.T) {
	t.Parallel()
	h := openHistory(t)
	now := time.Now()
	h.tend(t, now)
	require.Equal(t, []string{"default", "first"}, h.partitions(t), "the migration has seen to this week and the next")
	inFirst := h.put(t, h.A, webhook.Monday(now).Add(2*webhook.Week-time.Millisecond), webhookdelivery.OutcomeSUCCESS)
	later := now.Add(webhook.Week)
	h.tend(t, later)
	h.tend(t, later)
	ahead := weekOf(later.Add(webhook.Week))
	require.Equal(t, []string{"default", "first", ahead}, h.partitions(t))
	h.tend(t, later.Add(3*webhook.Week)) // no node ran for a while
	begins := webhook.Monday(later.Add(webhook.Week))
	want := map[string]string{inFirst: "first"}
	want[h.put(t, h.A, begins, webhookdelivery.OutcomeSUCCESS)] = ahead
	want[h.put(t, h.A, begins.Add(webhook.Week-time.Millisecond), webhookdelivery.OutcomeSUCCESS)] = ahead
	want[h.put(t, h.A, begins.Add(webhook.Week), webhookdelivery.OutcomeSUCCESS)] = "default"
	want[h.put(t, h.A, later.Add(3*webhook.Week), webhookdelivery.OutcomeSUCCESS)] = weekOf(later.Add(3 * webhook.Week))
	want[h.put(t, h.A, later.Add(4*webhook.Week), webhookdelivery.OutcomeSUCCESS)] = weekOf(later.Add(4 * webhook.Week))
	want[h.put(t, h.A, now.Add(-10*webhook.Week), webhookdelivery.OutcomeSUCCESS)] = "first"
	require.Equal(t, want, h.where(t))
}

// A week of which the default partition has rows gets no partition, and the log says so; the next week gets one.
func TestCaughtWeekIsLeft(t *testing.T) {
	t.Parallel()
	h := openHistory(t)
	now := time.Now()
	caught := h.put(t, h.A, now.Add(2*webhook.Week), webhookdelivery.OutcomeSUCCESS)
	h.tend(t, now.Add(webhook.Week))
	require.Equal(t, []string{"default", "first"}, h.partitions(t))
	require.Contains(t, h.log.String(), "default partition")
	h.tend(t, now.Add(2*webhook.Week))
	require.Equal(t, []string{"default", "first", weekOf(now.Add(3 * webhook.Week))}, h.partitions(t))
	require.Equal(t, map[string]string{caught: "default"}, h.where(t))
}

// Row security separates the companies even for statements that name a partition, and foreign keys hold in partitions.
func TestWeeksAreGuarded(t *testing.T) {
	t.Parallel()
	h := openHistory(t)
	now := time.Now().Add(2 * webhook.Week)
	h.tend(t, now)
	of := map[string]*testkit.Tenant{h.put(t, h.A, now, webhookdelivery.OutcomeSUCCESS): h.A, h.put(t, h.B, now.Add(time.Second), webhookdelivery.OutcomeSUCCESS): h.B}
	for _, table := range []string{"webhook_deliveries", "webhook_deliveries_" + weekOf(now)} {
		for delivery, c := range of {
			require.NoError(t, h.Store.Write(h.As(c, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				rows, err := tx.PGX().Query(ctx, "SELECT id FROM "+table)
				if err != nil {
					return err
				}
				ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err == nil && (len(ids) != 1 || ids[0] != delivery) {
					err = fmt.Errorf("%s shows %v", table, ids)
				}
				return err
			}))
		}
		var n int
		require.NoError(t, h.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		require.Zero(t, n, "%s without a company", table)
	}
	err := h.Store.Write(h.As(h.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error { // the partition has a policy of its own, besides the table's
		_, err := tx.PGX().Exec(ctx, "UPDATE webhook_deliveries_"+weekOf(now)+" SET company_id = $1", h.B.Company.ID)
		return err
	})
	require.ErrorContains(t, err, "row-level security")
	var v *store.Violation
	err = h.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return ent.DriverOf(tx.Client).Exec(ctx, "UPDATE webhook_deliveries SET event_id = 'evt_none'", []any{}, nil)
	})
	require.ErrorAs(t, err, &v)
	require.Equal(t, store.ForeignKey, v.Kind)
	require.Equal(t, "webhook_deliveries", v.Table)
	require.NoError(t, h.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.WebhookSubscription.Delete().Exec(ctx) // deletes their deliveries in all weeks
		return err
	}))
	require.Empty(t, h.where(t))
}

// A week is dropped once all its deliveries have been settled for thirty days: not while one is pending, or was sent again
// recently.
func TestOldWeeksAreDropped(t *testing.T) {
	t.Parallel()
	h := openHistory(t)
	first := time.Now().Add(2 * webhook.Week) // the first week with a partition of its own
	for i := range 5 {
		h.tend(t, first.Add(time.Duration(i)*webhook.Week))
	}
	h.put(t, h.A, first, webhookdelivery.OutcomeFAILED)
	h.put(t, h.B, first.Add(time.Millisecond), webhookdelivery.OutcomeSUCCESS)
	waits := h.put(t, h.B, first.Add(webhook.Week), webhookdelivery.OutcomePENDING)
	again := h.put(t, h.A, first.Add(2*webhook.Week), webhookdelivery.OutcomeSUCCESS)
	young := h.put(t, h.A, first.Add(3*webhook.Week), webhookdelivery.OutcomeSUCCESS)
	over := webhook.Monday(first).Add(webhook.Week + webhook.KeptFor) // when the first of them may be dropped
	h.tend(t, over.Add(-time.Minute))
	require.Contains(t, h.partitions(t), weekOf(first))
	h.tend(t, over)
	require.NotContains(t, h.partitions(t), weekOf(first))

	set := func(id string, at time.Time, outcome webhookdelivery.Outcome) {
		require.NoError(t, h.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
			return ent.DriverOf(tx.Client).Exec(ctx, "UPDATE webhook_deliveries SET updated_at = $1, outcome = $2 WHERE id = $3", []any{at, string(outcome), id}, nil)
		}))
	}
	all := over.Add(2 * webhook.Week) // when the first three may be dropped
	set(again, all.Add(-webhook.KeptFor), webhookdelivery.OutcomeSUCCESS)
	h.tend(t, all)
	require.Equal(t, map[string]string{waits: weekOf(first.Add(webhook.Week)), again: weekOf(first.Add(2 * webhook.Week)), young: weekOf(first.Add(3 * webhook.Week))}, h.where(t))
	set(waits, first.Add(webhook.Week), webhookdelivery.OutcomeSUCCESS)
	h.tend(t, all.Add(time.Minute))
	require.Equal(t, map[string]string{young: weekOf(first.Add(3 * webhook.Week))}, h.where(t))
}

// Rows that are not dropped with a partition are deleted one by one: rows that were pending, or sent again, when their week was
// dropped, and rows of the default partition. Rows of the week that contains the moment thirty days ago stay until it is over.
func TestRemainderIsSwept(t *testing.T) {
	t.Parallel()
	h := openHistory(t)
	o := open(t, h.World)
	now := time.Now()
	long, kept := now.Add(-40*24*time.Hour), now.Add(-webhook.KeptFor)
	h.put(t, h.A, long, webhookdelivery.OutcomeSUCCESS)
	pending := h.put(t, h.B, long.Add(time.Millisecond), webhookdelivery.OutcomePENDING)
	waits := h.put(t, h.A, kept.Add(-kept.Sub(webhook.Monday(kept))/2), webhookdelivery.OutcomeFAILED)
	young := h.put(t, h.A, now, webhookdelivery.OutcomeSUCCESS)
	o.sweep(t)
	require.Equal(t, map[string]string{pending: "first", waits: "first", young: "first"}, h.where(t))
}

// Nodes that run at the same time make one partition, and none of them fails.
func TestNodesMakeWeeksTogether(t *testing.T) {
	t.Parallel()
	h := openHistory(t)
	later := time.Now().Add(5 * webhook.Week)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		s := h.Node(t).Store
		wg.Go(func() { errs[i] = webhook.Tend(s, slog.New(slog.DiscardHandler), later, later.Add(-webhook.KeptFor)) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, []string{"default", "first", weekOf(later), weekOf(later.Add(webhook.Week))}, h.partitions(t))
}

// A transaction that holds a lock delays the making of weeks, but not deliveries: they wait only as long as the making waits for
// its lock.
func TestWeeksStandBack(t *testing.T) {
	t.Parallel()
	h := openHistory(t)
	held, err := h.Store.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), "LOCK TABLE events IN ROW EXCLUSIVE MODE") // as a transaction that has written an event and does not end
	require.NoError(t, err)
	done := make(chan error, 1)
	later := time.Now().Add(2 * webhook.Week)
	go func() { done <- h.tendOn(h.Store, later) }()
	asked := func() (n int) {
		require.NoError(t, h.Store.Pool().QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'events'::regclass`).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return asked() > 0 }, patience, time.Millisecond)
	h.put(t, h.A, time.Now(), webhookdelivery.OutcomeSUCCESS) // waits behind the making of the week
	require.Equal(t, []string{"default", "first"}, h.partitions(t))
	require.NoError(t, held.Rollback(t.Context()))
	require.NoError(t, <-done)
	require.Contains(t, h.partitions(t), weekOf(later))
}
