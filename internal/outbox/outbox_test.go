package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/events"
	"atrium/internal/id"
	"atrium/internal/jobs"
	"atrium/internal/outbox"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// subscribe makes a subscription of a company.
func subscribe(t *testing.T, w *testkit.World, tenant *testkit.Tenant, enabled bool, names ...string) *ent.WebhookSubscription {
	t.Helper()
	var s *ent.WebhookSubscription
	require.NoError(t, w.Store.Write(w.As(tenant, principal.Owner), func(ctx context.Context, tx *store.Tx) (err error) {
		s, err = tx.WebhookSubscription.Create().SetURL("https://example.org").SetEvents(names).SetSecretSealed([]byte("s")).
			SetEnabled(enabled).SetCreatedBy(tenant.Owner.ID).Save(ctx)
		return err
	}))
	return s
}

func emit(w *testkit.World, tenant *testkit.Tenant, name, subject string, end error) error {
	return w.Store.Write(w.As(tenant, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		err := outbox.Emit(ctx, tx, outbox.Event{
			CompanyID: tenant.Company.ID, Name: name, SubjectID: subject, At: w.Clock.Now(), Data: events.Request{ID: subject},
		})
		if err != nil {
			return err
		}
		return end
	})
}

// job is a row of River's.
type job struct {
	args, state, errors, metadata, tags, attemptedBy *string
	attempt, maxAttempts, priority, uniqueStates     *int64
	attemptedAt, finalizedAt, uniqueKey, kind, queue *string
	scheduledInSeconds, createdAgo                   float64
}

// jobsOf returns River's rows, the oldest first.
func jobsOf(t *testing.T, w *testkit.World) []job {
	t.Helper()
	query := `SELECT json(args), state, json(errors), json(metadata), json(tags), json(attempted_by), attempt, max_attempts, priority, unique_states,
		attempted_at, finalized_at, unique_key, kind, queue,
		(julianday(scheduled_at) - julianday('now')) * 86400, (julianday('now') - julianday(created_at)) * 86400 FROM river_job ORDER BY id`
	if w.Store.Dialect() == dialect.Postgres {
		query = `SELECT args::text, state::text, errors::text, metadata::text, to_json(tags)::text, attempted_by::text, attempt::bigint, max_attempts::bigint, priority::bigint, unique_states::bigint,
			attempted_at::text, finalized_at::text, unique_key::text, kind, queue,
			extract(epoch FROM scheduled_at - clock_timestamp())::float8, extract(epoch FROM clock_timestamp() - created_at)::float8 FROM river_job ORDER BY id`
	}
	var out []job
	require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		out = nil
		var rows entsql.Rows
		if err := ent.DriverOf(tx.Client).Query(ctx, query, []any{}, &rows); err != nil {
			return err
		}
		for rows.Next() {
			var j job
			if err := rows.Scan(&j.args, &j.state, &j.errors, &j.metadata, &j.tags, &j.attemptedBy, &j.attempt, &j.maxAttempts, &j.priority, &j.uniqueStates,
				&j.attemptedAt, &j.finalizedAt, &j.uniqueKey, &j.kind, &j.queue, &j.scheduledInSeconds, &j.createdAgo); err != nil {
				return err
			}
			out = append(out, j)
		}
		return errors.Join(rows.Err(), rows.Close())
	}))
	return out
}

func deliveries(t *testing.T, w *testkit.World, tenant *testkit.Tenant) []*ent.WebhookDelivery {
	t.Helper()
	rows, err := w.Store.Reader().WebhookDelivery.Query().Order(webhookdelivery.ByID()).All(w.As(tenant, principal.Owner))
	require.NoError(t, err)
	return rows
}

// An event goes to the enabled subscriptions of its company that ask for it, and to no other.
func TestEventGoesToThoseWhoAsk(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		wants := map[string]bool{}
		for range 40 {
			wants[subscribe(t, w, w.A, true, events.RequestCreated, events.TaskAssigned).ID] = true
		}
		subscribe(t, w, w.A, true, events.RequestAccepted)
		subscribe(t, w, w.A, false, events.RequestCreated)
		subscribe(t, w, w.B, true, events.RequestCreated)
		require.NoError(t, emit(w, w.A, events.RequestCreated, "req_1", nil))

		made := deliveries(t, w, w.A)
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
		require.Len(t, jobsOf(t, w), 40)
		require.Empty(t, deliveries(t, w, w.B))

		require.NoError(t, emit(w, w.A, events.RequestCompleted, "req_1", nil))
		require.Len(t, deliveries(t, w, w.A), 40, "nobody asked")
	})
}

// What is rolled back never happened: no delivery, no job, no waking.
func TestRolledBackEventLeavesNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		subscribe(t, w, w.A, true, events.RequestCreated)
		woken := make(chan string, 10)
		defer w.Store.OnWake(func(queue string) { woken <- queue })()
		undo := errors.New("undo")
		require.ErrorIs(t, emit(w, w.A, events.RequestCreated, "req_1", undo), undo)
		require.Empty(t, deliveries(t, w, w.A))
		require.Empty(t, jobsOf(t, w))
		require.NoError(t, emit(w, w.A, events.RequestAccepted, "req_1", nil))
		require.Empty(t, woken, "there is nothing to do")
		require.NoError(t, emit(w, w.A, events.RequestCreated, "req_1", nil))
		require.Equal(t, outbox.Queue, <-woken)
		require.Empty(t, woken)
		require.Len(t, deliveries(t, w, w.A), 1)
	})
}

// Jobs that are written in SQL are those that River writes itself.
func TestJobsAreRivers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := subscribe(t, w, w.A, true, events.RequestCreated)
		require.NoError(t, emit(w, w.A, events.RequestCreated, "req_1", nil))
		d := deliveries(t, w, w.A)[0]
		args := outbox.Args{Delivery: d.ID, Subscription: s.ID, Company: w.A.Company.ID, Attempt: 1, Step: 1}
		q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), false)
		require.NoError(t, err)
		defer func() { require.NoError(t, q.Close()) }()
		require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
			if err := q.InsertTx(ctx, tx, args, time.Time{}); err != nil {
				return err
			}
			return outbox.Insert(ctx, tx, []outbox.Job{{Args: args}, {Args: args, After: time.Hour, Priority: outbox.Relaxed}})
		}))
		all := jobsOf(t, w)
		require.Len(t, all, 4)
		emitted, rivers, inserted, later := all[0], all[1], all[2], all[3]
		for _, j := range all[:3] {
			require.InDelta(t, 0, j.scheduledInSeconds, 5)
			require.InDelta(t, 0, j.createdAgo, 5)
		}
		require.InDelta(t, 3600, later.scheduledInSeconds, 5)
		require.InDelta(t, 0, later.createdAgo, 5)
		require.EqualValues(t, outbox.Relaxed, *later.priority)
		later.priority = rivers.priority
		if strings.Contains(*rivers.metadata, "unique_nonce") { // by which River tells its own insert from one that was there, on SQLite
			rivers.metadata = new("{}")
		}
		for _, j := range []*job{&emitted, &rivers, &inserted, &later} {
			j.scheduledInSeconds, j.createdAgo = 0, 0
			require.JSONEq(t, *rivers.args, *j.args)
			j.args = rivers.args
		}
		require.Equal(t, rivers, emitted)
		require.Equal(t, rivers, inserted)
		require.Equal(t, rivers, later)
	})
}

func TestHurry(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		write := func(fn func(context.Context, *store.Tx) error) {
			t.Helper()
			require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), fn))
		}
		write(func(ctx context.Context, tx *store.Tx) error {
			var list []outbox.Job
			for _, d := range []string{"whd_1", "whd_2", "whd_3"} {
				list = append(list, outbox.Job{Args: outbox.Args{Delivery: d}, After: time.Hour})
			}
			return errors.Join(outbox.Insert(ctx, tx, list), outbox.Insert(ctx, tx, nil), outbox.Hurry(ctx, tx, nil))
		})
		write(func(ctx context.Context, tx *store.Tx) error { return outbox.Hurry(ctx, tx, []string{"whd_2"}) })
		for _, j := range jobsOf(t, w) {
			require.Equal(t, strings.Contains(*j.args, "whd_2"), j.scheduledInSeconds < 60, *j.args)
		}
	})
}
