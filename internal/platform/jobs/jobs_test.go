package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/service"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func queue(t *testing.T, w *testkit.World, work bool, options ...jobs.Option) *jobs.Queue {
	t.Helper()
	q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), work, options...)
	require.NoError(t, err)
	return q
}

// queued counts the jobs that match a condition.
func queued(t *testing.T, w *testkit.World, where string) int {
	t.Helper()
	return len(w.Query(t, "SELECT kind FROM river_job WHERE "+where))
}

// A row and its job are inserted in one transaction: both exist or neither does.
func TestRowAndJobAreOneTransaction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		q := queue(t, w, false)
		defer func() { require.NoError(t, q.Close()) }()
		ctx := w.As(w.A, principal.Owner)
		undo := errors.New("undo")
		both := func(slug string, rowFirst bool, end error) error {
			return w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				row := func() error { return tx.Service.Create().SetName("S").SetSlug(slug).Exec(ctx) }
				if rowFirst {
					if err := row(); err != nil {
						return err
					}
				}
				if err := q.InsertTx(ctx, tx, jobs.SweepArgs{}, time.Time{}); err != nil {
					return err
				}
				if !rowFirst {
					if err := row(); err != nil {
						return err
					}
				}
				return end
			})
		}
		there := func() (rows, waiting int) {
			rows, err := w.Store.Reader().Service.Query().Where(service.SlugHasPrefix("x")).Count(ctx)
			require.NoError(t, err)
			return rows, queued(t, w, "kind = 'sweep'")
		}
		for i, first := range []bool{true, false} {
			slug := "x" + string(rune('a'+i))
			require.ErrorIs(t, both(slug, first, undo), undo)
			rows, waiting := there()
			require.Equal(t, []int{i, i}, []int{rows, waiting}, "rolled back together")
			require.NoError(t, both(slug, first, nil))
			rows, waiting = there()
			require.Equal(t, []int{i + 1, i + 1}, []int{rows, waiting}, "committed together")
			var v *store.Violation
			require.ErrorAs(t, both(slug, first, nil), &v, "the row is refused")
			_, waiting = there()
			require.Equal(t, i+1, waiting, "and its job with it")
		}
	})
}

// A job that is due later gets its time in the machine's clock, however far ahead the product's clock is.
func TestDueFollowsTheProductsClock(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		q := queue(t, w, false)
		defer func() { require.NoError(t, q.Close()) }()
		w.Clock.SetOffset(10 * 24 * time.Hour)
		require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return q.InsertTx(ctx, tx, jobs.SweepArgs{}, w.Clock.Now().Add(time.Hour))
		}))
		soon := map[string]string{
			dialect.SQLite:   "datetime(scheduled_at) BETWEEN datetime('now', '+50 minutes') AND datetime('now', '+61 minutes')",
			dialect.Postgres: "scheduled_at BETWEEN now() + interval '50 minutes' AND now() + interval '61 minutes'",
		}[w.Store.Dialect()]
		require.Equal(t, 1, queued(t, w, soon))
	})
}

// A working queue runs the registered sweeps when it starts, for all companies, keeps rows that have not expired, and stops when
// it is told to. A sweep that fails does not stop the others.
func TestSweep(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		make1 := func(tenant *testkit.Tenant, key string, at time.Time) {
			require.NoError(t, w.Store.Write(w.As(tenant, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				return tx.IdempotencyKey.Create().SetCallerID("c").SetKey(key).SetFingerprint([]byte("f")).SetStatus(201).SetBody([]byte("b")).SetCreatedAt(at).Exec(ctx)
			}))
		}
		now := w.Clock.Now()
		for _, tenant := range []*testkit.Tenant{w.A, w.B} {
			make1(tenant, "old", now.Add(-op.IdempotencyWindow-time.Minute))
			make1(tenant, "young", now.Add(-op.IdempotencyWindow+time.Hour))
		}
		broken := func(context.Context, *ent.Client, time.Time, int) (int, error) { return 0, errors.New("broken") }
		stop := w.WorkJobs(t, jobs.Sweeps(
			jobs.Sweep{Rows: "nothing", Delete: broken},
			jobs.Sweep{Rows: "idempotency keys", Kept: op.IdempotencyWindow, Delete: op.DeleteIdempotencyKeys}),
		)
		var keys []string
		require.Eventually(t, func() bool {
			rows, err := w.Store.Reader().IdempotencyKey.Query().All(principal.System(context.Background(), "test"))
			keys = nil
			for _, r := range rows {
				keys = append(keys, r.Key)
			}
			return err == nil && len(rows) <= 2
		}, 30*time.Second, 20*time.Millisecond)
		stop()
		require.Equal(t, []string{"young", "young"}, keys)
	})
}
