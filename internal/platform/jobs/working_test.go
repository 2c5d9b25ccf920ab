package jobs_test

import (
	"context"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

type deafArgs struct{}

func (deafArgs) Kind() string { return "deaf" }

// deaf works until it is told to end.
type deaf struct {
	river.WorkerDefaults[deafArgs]
	began, end chan struct{}
}

func (*deaf) Timeout(*river.Job[deafArgs]) time.Duration { return 2 * time.Hour } // so that River's rescuer leaves it alone during the test

func (d *deaf) Work(context.Context, *river.Job[deafArgs]) error {
	d.began <- struct{}{}
	<-d.end
	return nil
}

// River's rescuer would begin a second attempt beside a worker that goes on after its limit. While the node works the job, it counts as
// just begun; afterwards it does not.
func TestJobsThatStillRunAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := &deaf{began: make(chan struct{}), end: make(chan struct{})}
		q := queue(t, w, true, jobs.Work(d))
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- q.Run(ctx) }()
		require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return q.InsertTx(ctx, tx, deafArgs{}, time.Time{})
		}))
		<-d.began
		old := map[string]string{
			dialect.SQLite: "datetime('now', '-1 hour', 'subsec')", dialect.Postgres: "now() - interval '1 hour'",
		}[w.Store.Dialect()]
		stuck := map[string]string{
			dialect.SQLite: "datetime('now', '-90 seconds', 'subsec')", dialect.Postgres: "now() - interval '90 seconds'",
		}[w.Store.Dialect()]
		system := principal.System(t.Context(), "a test")
		age := func() {
			require.NoError(t, w.Store.Write(system, func(ctx context.Context, tx *store.Tx) (err error) {
				statement := "UPDATE river_job SET attempted_at = " + old + " WHERE kind = 'deaf'"
				if tx.Dialect() == dialect.Postgres {
					_, err = tx.PGX().Exec(ctx, statement)
				} else {
					_, err = tx.SQL().ExecContext(ctx, statement)
				}
				return err
			}))
			require.Equal(t, 1, queued(t, w, "kind = 'deaf' AND state = 'running' AND attempted_at < "+stuck), "River takes it for stuck")
		}
		age()
		require.NoError(t, q.Keep(system, time.Now().Add(-time.Hour)))
		require.Equal(t, 1, queued(t, w, "kind = 'deaf' AND attempted_at < "+stuck), "it was begun after the moment")
		require.NoError(t, q.Keep(system, time.Now()))
		require.Equal(t, 0, queued(t, w, "kind = 'deaf' AND attempted_at < "+stuck))
		require.Equal(t, 1, queued(t, w, "kind = 'deaf' AND state = 'running'"))
		close(d.end)
		require.Eventually(t, func() bool { return queued(t, w, "kind = 'deaf' AND state = 'completed'") == 1 }, time.Minute, 10*time.Millisecond)
		cancel()
		require.NoError(t, <-stopped)
	})
}
