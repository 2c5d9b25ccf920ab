package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

const patience = 20 * time.Second

// All callers wait at the same time and so share a group; every third fails and every fourth panics. No failure affects the work
// of others, and the writes of failed functions are undone.
func TestGroupCommitKeepsCallersApart(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	h := hold(t, w.Store)
	const n = 300
	var wg sync.WaitGroup
	outcome := make([]any, n)
	for i := range n {
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					outcome[i] = v
				}
			}()
			err := w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				if err := setting(fmt.Sprintf("s%03d", i))(ctx, tx); err != nil {
					return err
				}
				switch {
				case i%4 == 0:
					panic(fmt.Sprint("panic of ", i))
				case i%3 == 0:
					return errFails
				}
				return nil
			})
			if err != nil {
				outcome[i] = err
			}
		})
	}
	require.Eventually(t, func() bool { return store.Waiting(w.Store) == n }, patience, time.Millisecond)
	h.release()
	wg.Wait()
	require.NoError(t, <-h.done)
	var want []string
	for i := range n {
		switch {
		case i%4 == 0:
			require.Equal(t, fmt.Sprint("panic of ", i), outcome[i], "a panic belongs to its own caller")
		case i%3 == 0:
			require.Equal(t, errFails, outcome[i])
		default:
			require.Nil(t, outcome[i])
			want = append(want, fmt.Sprintf("s%03d", i))
		}
	}
	require.Equal(t, want, settings(t, w.Store))
}

// A statement that violates a constraint ends only its own function.
func TestGroupCommitSurvivesViolations(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	h := hold(t, w.Store)
	errs := make(chan error, 3)
	for range 3 { // the same row three times: one of them succeeds
		go func() { errs <- w.Store.Write(system(), setting("same")) }()
	}
	require.Eventually(t, func() bool { return store.Waiting(w.Store) == 3 }, patience, time.Millisecond)
	h.release()
	refused := 0
	for range 3 {
		if err := <-errs; err != nil {
			var v *store.Violation
			require.ErrorAs(t, err, &v)
			refused++
		}
	}
	require.Equal(t, 2, refused)
	require.Equal(t, []string{"same"}, settings(t, w.Store))
}

// When the commit itself fails, every caller of the group gets the error, nothing is stored, and the writer continues. A group
// accepts others for only a few milliseconds, so the test retries until two share one.
func TestFailedCommitReachesTheWholeGroup(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	var want []string
	for try := 0; ; try++ {
		require.Less(t, try, 100, "no two writes ever shared a group")
		h := hold(t, w.Store)
		name := fmt.Sprintf("innocent%02d", try)
		faulty, innocent := make(chan error, 1), make(chan error, 1)
		go func() {
			faulty <- w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				if _, err := tx.SQL().ExecContext(ctx, "PRAGMA defer_foreign_keys = ON"); err != nil {
					return err
				}
				return tx.Service.Create().SetCompanyID("co_of_nobody").SetName("x").SetSlug("x").Exec(ctx)
			})
		}()
		go func() { innocent <- w.Store.Write(system(), setting(name)) }()
		require.Eventually(t, func() bool { return store.Waiting(w.Store) == 2 }, patience, time.Millisecond)
		h.release()
		require.ErrorContains(t, <-faulty, "commit the group")
		<-h.done
		err := <-innocent
		if err == nil {
			want = append(want, name)
		}
		require.Equal(t, want, settings(t, w.Store), "who was told of success has its row, who was not has none")
		if err != nil {
			require.ErrorContains(t, err, "commit the group")
			break
		}
	}
	require.NoError(t, w.Store.Write(system(), setting("next")))
	require.Equal(t, append(want, "next"), settings(t, w.Store))
}

// A company takes at most half of the places, whoever else waits; when all are taken, everybody is refused.
func TestBusyWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	h := hold(t, w.Store)
	errs := make(chan error, store.MaxWaitingWrites)
	fill := func(ctx context.Context, waiting int) {
		for range store.MaxWaitingWrites / 2 {
			go func() { errs <- w.Store.Write(ctx, func(context.Context, *store.Tx) error { return nil }) }()
		}
		require.Eventually(t, func() bool { return store.Waiting(w.Store) == waiting }, patience, time.Millisecond)
		require.ErrorIs(t, w.Store.Write(ctx, setting("one_too_many")), store.ErrBusy)
	}
	fill(w.As(w.A, principal.Owner), store.MaxWaitingWrites/2)
	fill(w.As(w.B, principal.Owner), store.MaxWaitingWrites)
	require.ErrorIs(t, w.Store.Write(system(), setting("one_too_many")), store.ErrBusy)
	h.release()
	for range store.MaxWaitingWrites {
		require.NoError(t, <-errs)
	}
	require.NoError(t, w.Store.Write(system(), setting("after")))
	require.Equal(t, []string{"after"}, settings(t, w.Store))
}

// However many writes of a company wait, another one's next comes after one of them, and each company's come in their order.
func TestCompaniesTakeTurns(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	h := hold(t, w.Store)
	var wg sync.WaitGroup
	var order []string
	queue := func(tenant *testkit.Tenant, name string) {
		waiting := store.Waiting(w.Store)
		wg.Go(func() {
			err := w.Store.Write(w.As(tenant, principal.Owner), func(context.Context, *store.Tx) error {
				order = append(order, name) // only the writer's goroutine runs functions
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		require.Eventually(t, func() bool { return store.Waiting(w.Store) == waiting+1 }, patience, time.Millisecond)
	}
	for i := range 10 {
		queue(w.A, fmt.Sprint("A", i))
	}
	for i := range 3 {
		queue(w.B, fmt.Sprint("B", i))
	}
	h.release()
	wg.Wait()
	require.Equal(t, []string{"A0", "B0", "A1", "B1", "A2", "B2", "A3", "A4", "A5", "A6", "A7", "A8", "A9"}, order)
}

// The write of a caller that gives up while it waits is not run. A caller that gives up while its function runs still gets the
// outcome.
func TestCancelledCaller(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)

	ctx, cancel := context.WithCancel(system())
	cancel()
	require.ErrorIs(t, w.Store.Write(ctx, setting("before")), context.Canceled)

	h := hold(t, w.Store)
	ctx, cancel = context.WithCancel(system())
	gone := make(chan error, 1)
	go func() { gone <- w.Store.Write(ctx, setting("waiting")) }()
	require.Eventually(t, func() bool { return store.Waiting(w.Store) == 1 }, patience, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	h.release()
	require.NoError(t, <-h.done)

	ctx, cancel = context.WithCancel(system())
	err := w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		cancel()
		return setting("running")(ctx, tx)
	})
	require.NoError(t, err)
	require.Equal(t, []string{"running"}, settings(t, w.Store))
}

func TestCloseServesWhatIsQueued(t *testing.T) {
	t.Parallel()
	o := store.Options{DataDir: t.TempDir()}
	s, err := store.Open(t.Context(), o)
	require.NoError(t, err)
	_, err = s.Migrate(t.Context())
	require.NoError(t, err)
	h := hold(t, s)
	const n = 50
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- s.Write(system(), setting(fmt.Sprintf("q%02d", i))) }()
	}
	require.Eventually(t, func() bool { return store.Waiting(s) == n }, patience, time.Millisecond)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	h.release()
	require.NoError(t, <-closed)
	for range n {
		require.NoError(t, <-errs)
	}
	require.ErrorContains(t, s.Write(system(), setting("late")), "closed")
	require.Len(t, settings(t, open(t, o)), n)
}

// No call made while the store closes waits forever: each is served or refused.
func TestCloseLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	for range 20 {
		s, err := store.Open(t.Context(), store.Options{DataDir: t.TempDir()})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for s.Write(system(), func(context.Context, *store.Tx) error { return nil }) == nil {
				}
			})
		}
		require.NoError(t, s.Ping(t.Context()))
		require.NoError(t, s.Close())
		wg.Wait()
	}
}

// The jobs' connection gets its turn between two groups of a writer that is never idle. Without turns it would retry after pauses
// in which the writer commits hundreds.
func TestJobsTakeTurnsWithTheWriter(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	db := w.Store.OpenForJobs()
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	ctx, stop := context.WithCancel(t.Context())
	var written atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				require.NoError(t, w.Store.Write(system(), setting(fmt.Sprint("s", written.Add(1)))))
			}
		})
	}
	require.Eventually(t, func() bool { return written.Load() > 20 }, patience, time.Millisecond)
	before := written.Load()
	const turns = 50
	for i := range turns {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		if i%2 == 0 {
			require.NoError(t, tx.Rollback())
		} else {
			require.NoError(t, tx.Commit())
		}
		var first int
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT 1 UNION SELECT 2").Scan(&first), "which leaves the rows before their end")
	}
	meanwhile := written.Load() - before
	stop()
	wg.Wait()
	require.Less(t, meanwhile, int64(2*turns*16))
}
