package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// The function runs after the commit and when other readers can see the rows. It does not run when the transaction is rolled
// back.
func TestAfterCommit(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var told atomic.Value
		write := func(id string, end error) error {
			return w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				tx.AfterCommit(func() { told.Store(id) })
				if err := setting(id)(ctx, tx); err != nil {
					return err
				}
				return end
			})
		}
		require.ErrorIs(t, write("undone", errFails), errFails)
		require.Panics(t, func() {
			_ = w.Store.Write(system(), func(_ context.Context, tx *store.Tx) error {
				tx.AfterCommit(func() { told.Store("panicked") })
				panic("boom")
			})
		})
		require.Nil(t, told.Load())
		require.NoError(t, write("kept", nil))
		require.Equal(t, "kept", told.Load(), "known when Write has returned")
		told.Store("")
		require.Error(t, write("kept", nil), "the row is there already")
		require.Empty(t, told.Load())

		seen := make(chan []string, 1)
		require.NoError(t, w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			tx.AfterCommit(func() {
				ids, _ := w.Store.Reader().Setting.Query().Order(ent.Asc("id")).IDs(system())
				seen <- ids
			})
			return setting("visible")(ctx, tx)
		}))
		require.Contains(t, <-seen, "visible")
	})
}

// When one function of a group fails, only its own AfterCommit calls are dropped.
func TestAfterCommitOfAGroup(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var called sync.Map
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				_ = w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
					tx.AfterCommit(func() { called.Store(i, true) })
					if i%3 == 0 {
						return errFails
					}
					return nil
				})
			})
		}
		wg.Wait()
		for i := range 40 {
			_, ok := called.Load(i)
			require.Equal(t, i%3 != 0, ok, i)
		}
	})
}
