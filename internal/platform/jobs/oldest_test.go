package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Where no node works jobs, the oldest job is still found when its time comes, although nothing makes it available. Jobs that are not
// due, and those of queues that nobody is to work, do not count.
func TestOldest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		q := queue(t, w, false)
		defer func() { require.NoError(t, q.Close()) }()
		ctx := principal.System(t.Context(), "test")
		oldest := func(but ...string) (kind string) {
			require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				kind, _, err = q.Oldest(ctx, tx, but...)
				return err
			}))
			return kind
		}
		insert := func(at time.Time) {
			require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return q.InsertTx(ctx, tx, jobs.SweepArgs{}, at)
			}))
		}
		require.Empty(t, oldest())
		insert(time.Now().Add(time.Hour))
		require.Empty(t, oldest())
		insert(time.Now().Add(time.Second))
		require.Eventually(t, func() bool { return oldest() == "sweep" }, 30*time.Second, 50*time.Millisecond)
		require.Empty(t, oldest("agents", river.QueueDefault))
		require.Equal(t, "sweep", oldest("agents"))
	})
}
