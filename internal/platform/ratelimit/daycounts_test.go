package ratelimit_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestDayCountsSurviveARestart(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		limit := ratelimit.Limit{PerMinute: 1000, PerDay: 5}
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		// run is one run of the server: it allows n calls and stops.
		run := func(key string, want int) {
			m := ratelimit.NewMemory()
			d, err := ratelimit.NewDayCounts(t.Context(), w.Store, m)
			require.NoError(t, err)
			for range 3 {
				r, err := m.Take(t.Context(), key, limit, w.Clock.Now())
				require.NoError(t, err)
				require.Equal(t, want > 0, r.Allowed)
				want--
			}
			require.NoError(t, d.Run(stopped, slog.New(slog.DiscardHandler)))
		}
		run("key_1", 5)
		run("key_1", 2)
		run("key_1", 0)
		run("key_2", 5)
		w.Clock.SetOffset(24 * time.Hour)
		run("key_1", 5)
		w.Clock.SetOffset(48 * time.Hour)
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			n, err := ratelimit.DeleteDayCounts(ctx, tx.Client, w.Clock.Now().Add(-24*time.Hour), 100)
			require.Equal(t, 1, n, "that of key_2, two days ago")
			return err
		}))
	})
}
