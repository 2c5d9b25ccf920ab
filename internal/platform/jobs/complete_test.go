package jobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// completer is a worker that completes its own jobs. It snoozes the first time, then fails the transaction with fail if that is
// set.
type completer struct {
	river.WorkerDefaults[noteArgs]
	store *store.Store
	queue *jobs.Queue
	done  chan string

	mu   sync.Mutex
	seen map[string]int
	fail error // error that the transaction returns
}

func (w *completer) Work(ctx context.Context, job *river.Job[noteArgs]) error {
	w.mu.Lock()
	w.seen[job.Args.Text]++
	n := w.seen[job.Args.Text]
	w.mu.Unlock()
	if n == 1 {
		return river.JobSnooze(10 * time.Millisecond)
	}
	err := w.store.Write(principal.System(ctx, "test"), func(ctx context.Context, tx *store.Tx) error {
		return errors.Join(w.queue.CompleteTx(ctx, tx, job.JobRow), w.fail)
	})
	if err == nil {
		w.done <- job.Args.Text
	}
	return err
}

func completing(t *testing.T, w *testkit.World, fail error) *completer {
	t.Helper()
	c := &completer{store: w.Store, queue: w.Queue, done: make(chan string, 1000), seen: map[string]int{}, fail: fail}
	w.WorkJobs(t, jobs.Work(c), jobs.NamedQueue("notes", 50))
	return c
}

// Jobs that their worker completes in its own transaction are completed for good: none is lost, and none runs again.
func TestJobsThatEndInATransaction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := completing(t, w, nil)
		const n = 100
		for i := range n {
			insert(t, w.Store, w.Queue, string(rune('a'+i/26))+string(rune('a'+i%26)))
		}
		for range n {
			select {
			case <-c.done:
			case <-time.After(60 * time.Second):
				require.FailNow(t, "jobs are missing")
			}
		}
		require.Zero(t, queued(t, w, "kind = 'note' AND state <> 'completed'"))
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Len(t, c.seen, n)
		for text, times := range c.seen {
			require.Equal(t, 2, times, text)
		}
	})
}

// When the transaction that completes a job is rolled back, River tries the job again.
func TestJobWhoseEndIsRolledBack(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := completing(t, w, errors.New("undo"))
		insert(t, w.Store, w.Queue, "x")
		require.Eventually(t, func() bool {
			return queued(t, w, "kind = 'note' AND state IN ('retryable', 'available') AND errors IS NOT NULL") == 1
		}, 60*time.Second, 20*time.Millisecond)
		require.Empty(t, c.done)
	})
}
