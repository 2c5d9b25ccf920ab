package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/jobs"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
)

// finisher is a worker that puts an end to its jobs itself: back into the queue the first time, then for good.
type finisher struct {
	river.WorkerDefaults[noteArgs]
	store *store.Store
	f     *jobs.Finisher
	done  chan string

	mu   sync.Mutex
	seen map[string]int
	fail error // of the transaction
}

func (w *finisher) Work(ctx context.Context, job *river.Job[noteArgs]) error {
	w.mu.Lock()
	w.seen[job.Args.Text]++
	n := w.seen[job.Args.Text]
	w.mu.Unlock()
	err := w.store.Write(principal.System(ctx, "test"), func(ctx context.Context, tx *store.Tx) error {
		var err error
		if n == 1 {
			err = w.f.PutBack(ctx, tx, []jobs.Back{{ID: job.JobRow.ID, After: 500 * time.Millisecond}})
		} else {
			err = errors.Join(w.f.Finish(ctx, tx, []int64{job.JobRow.ID}), w.fail)
		}
		return err
	})
	if err == nil && n > 1 {
		w.done <- job.Args.Text
	}
	return err
}

func working(t *testing.T, w *testkit.World, fail error) (*jobs.Queue, *finisher) {
	t.Helper()
	worker := &finisher{store: w.Store, done: make(chan string, 1000), seen: map[string]int{}, fail: fail}
	q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, jobs.Work(worker), jobs.Prompt("notes", 50),
		jobs.Finishing(func(f *jobs.Finisher) { worker.f = f }))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return q, worker
}

// Jobs that end in their worker's own transaction end once and for all: none is lost, none runs again, and River has
// nothing more to say to them, nor to those that come after them.
func TestJobsThatEndInATransaction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		q, worker := working(t, w, nil)
		const rounds, each = 4, 50
		for round := range rounds { // later rounds would get the earlier ones' ids on SQLite
			for i := range each {
				insert(t, w.Store, q, string(rune('a'+round))+string(rune('A'+i)))
			}
			seen := map[string]bool{}
			for range each {
				select {
				case text := <-worker.done:
					seen[text] = true
				case <-time.After(60 * time.Second):
					require.FailNow(t, "jobs are missing", "round %d: %d", round, len(seen))
				}
			}
			require.Len(t, seen, each)
		}
		require.Zero(t, queued(t, w, "kind = 'note' AND state <> 'completed'"))
		worker.mu.Lock()
		defer worker.mu.Unlock()
		for text, n := range worker.seen {
			require.Equal(t, 2, n, text)
		}
	})
}

// A transaction that is rolled back leaves its job to River, which tries it again.
func TestJobWhoseEndIsRolledBack(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		undo := errors.New("undo")
		q, worker := working(t, w, undo)
		insert(t, w.Store, q, "x")
		require.Eventually(t, func() bool {
			return queued(t, w, "kind = 'note' AND state IN ('retryable', 'available') AND errors IS NOT NULL") == 1
		}, 60*time.Second, 20*time.Millisecond)
		require.Empty(t, worker.done)
	})
}

// What SQLite keeps of finished jobs is deleted after a while.
func TestFinishedJobsAreForgotten(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	q, worker := working(t, w, nil)
	for _, text := range []string{"a", "b", "c"} {
		insert(t, w.Store, q, text)
	}
	for range 3 {
		<-worker.done
	}
	forget := func(most int) {
		require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
			return worker.f.Forget(ctx, tx, "note", most)
		}))
	}
	forget(100)
	require.Equal(t, 3, queued(t, w, "kind = 'note'"), "River may still have them in mind")
	require.NoError(t, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return ent.DriverOf(tx.Client).Exec(ctx, "UPDATE river_job SET finalized_at = datetime('now', '-2 minutes') WHERE kind = 'note'", []any{}, nil)
	}))
	forget(2)
	require.Equal(t, 1, queued(t, w, "kind = 'note'"))
	forget(2)
	require.Zero(t, queued(t, w, "kind = 'note'"))
	require.Equal(t, dialect.SQLite, w.Store.Dialect())
}
