package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/store"
	"atrium/internal/testkit"
)

// What follows a commit follows a commit: not a transaction that is undone, and not before others can see its rows.
func TestAfterCommit(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var woken atomic.Value
		cancel := w.Store.OnWake(func(queue string) { woken.Store(queue) })
		write := func(id string, end error) error {
			return w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
				tx.WakeQueue(id)
				if err := setting(id)(ctx, tx); err != nil {
					return err
				}
				return end
			})
		}
		require.ErrorIs(t, write("undone", errFails), errFails)
		require.Panics(t, func() {
			_ = w.Store.Write(system(), func(_ context.Context, tx *store.Tx) error {
				tx.WakeQueue("panicked")
				panic("boom")
			})
		})
		require.Nil(t, woken.Load())
		require.NoError(t, write("kept", nil))
		require.Equal(t, "kept", woken.Load(), "known when Write has returned")
		require.Error(t, write("kept", nil), "the row is there already")

		seen := make(chan []string, 1)
		require.NoError(t, w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			tx.AfterCommit(func() {
				ids, _ := w.Store.Reader().Setting.Query().Order(ent.Asc("id")).IDs(system())
				seen <- ids
			})
			return setting("visible")(ctx, tx)
		}))
		require.Contains(t, <-seen, "visible")

		cancel()
		require.NoError(t, write("later", nil))
		require.Equal(t, "kept", woken.Load(), "who has stopped listening hears nothing")
	})
}

// A function that fails in a group of writers keeps the others' calls, and loses its own.
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

// A statement that nobody waits for tells at the commit how many rows it affected, wherever it stands among the others.
func TestLater(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var first, second, third, last store.Later
		exec := func(ctx context.Context, tx *store.Tx, value string, l *store.Later) error {
			return ent.DriverOf(tx.Client).Exec(ctx, "UPDATE settings SET value = '"+value+"' WHERE id LIKE 'x%'", []any{}, l)
		}
		require.NoError(t, w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			if err := exec(ctx, tx, "a", &first); err != nil {
				return err
			}
			for _, id := range []string{"x1", "x2"} {
				if err := setting(id)(ctx, tx); err != nil {
					return err
				}
			}
			if err := exec(ctx, tx, "b", &second); err != nil {
				return err
			}
			if _, err := tx.Setting.Query().Count(ctx); err != nil { // sends what waits
				return err
			}
			if err := setting("x3")(ctx, tx); err != nil {
				return err
			}
			if err := exec(ctx, tx, "c", &third); err != nil {
				return err
			}
			if _, err := tx.Setting.Delete().Where(entsql.FieldEQ("id", "x1")).Exec(ctx); err != nil {
				return err
			}
			return exec(ctx, tx, "d", &last)
		}))
		require.Equal(t, []int64{0, 2, 3, 2}, []int64{first.Rows(), second.Rows(), third.Rows(), last.Rows()})
	})
}
