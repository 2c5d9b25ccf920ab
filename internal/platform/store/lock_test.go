package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// When two transactions insert the same row, the second one runs again and finds it. A violation that persists is returned.
func TestWriteOrRetry(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		runs := 0
		insert := func(ctx context.Context, tx *store.Tx) error {
			return tx.Setting.Create().SetID("once").SetValue("other").Exec(ctx)
		}
		require.NoError(t, w.Store.WriteOrRetry(system(), func(ctx context.Context, tx *store.Tx) error {
			if runs++; runs == 1 {
				if err := insert(ctx, tx); err != nil {
					return err
				}
				return insert(ctx, tx) // stands for another transaction that was faster
			}
			return tx.Setting.Create().SetID("once").SetValue("mine").Exec(ctx)
		}))
		require.Equal(t, 2, runs)
		err := w.Store.WriteOrRetry(system(), insert)
		require.True(t, store.IsUnique(err))
		row, err := w.Store.Reader().Setting.Get(system(), "once")
		require.NoError(t, err)
		require.Equal(t, "mine", row.Value)
	})
}

// A second holder of the same name waits for the first; other names do not wait.
func TestLockName(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		held, proceed, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			first <- w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				if err := tx.LockName(ctx, "a"); err != nil {
					return err
				}
				close(held)
				<-proceed
				return tx.Setting.Create().SetID("order").SetValue("first").Exec(ctx)
			})
		}()
		<-held
		second := make(chan error, 1)
		go func() {
			second <- w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				if err := tx.LockName(ctx, "a"); err != nil {
					return err
				}
				return tx.Setting.UpdateOneID("order").SetValue("second").Exec(ctx)
			})
		}()
		if pool := w.Store.Pool(); pool != nil {
			require.Eventually(t, func() bool {
				var waiting int
				err := pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&waiting)
				return err == nil && waiting > 0
			}, time.Minute, time.Millisecond)
		}
		close(proceed)
		require.NoError(t, <-first)
		require.NoError(t, <-second, "it found what the first has made")
	})
}
