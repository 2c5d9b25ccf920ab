package store_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	entsetting "atrium/ent/setting"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A listener is called when the commit's rows can be read, not for failed transactions, and not after cancel.
func TestOnCommit(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := principal.System(t.Context(), "test")
		write := func(fail error) error {
			return w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				if err := tx.Setting.Create().SetID("heard").SetValue("yes").Exec(ctx); err != nil {
					return err
				}
				return fail
			})
		}
		var heard atomic.Int64
		cancel := w.Store.OnCommit(func() {
			n, err := w.Store.Reader().Setting.Query().Where(entsetting.ID("heard")).Count(ctx)
			if err != nil || n == 0 {
				t.Errorf("heard of a commit that cannot be read: %d, %v", n, err)
			}
			heard.Add(1)
		})
		require.Error(t, write(errors.New("no")))
		require.Zero(t, heard.Load())
		require.NoError(t, write(nil))
		require.EqualValues(t, 1, heard.Load())
		cancel()
		require.Error(t, write(nil), "the row is there")
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Setting.UpdateOneID("heard").SetValue("no").Exec(ctx)
		}))
		require.EqualValues(t, 1, heard.Load())
	})
}
