package ratelimit_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func system() context.Context { return principal.System(context.Background(), "test") }

// counting counts an attempt in the counters and returns how long to wait.
func counting(t *testing.T, w *testkit.World, counters ...ratelimit.Counter) (wait time.Duration) {
	t.Helper()
	require.NoError(t, w.Store.WriteOrRetry(system(), func(ctx context.Context, tx *store.Tx) (err error) {
		wait, err = ratelimit.Count(ctx, tx, counters...)
		return err
	}))
	return wait
}

// A counter without pauses is closed from its last allowed attempt until its window ends, and then starts again.
func TestCounterWindow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := ratelimit.Counter{Key: "k", Limit: ratelimit.Attempts{Max: 3, Window: time.Hour}}
		later := func(d time.Duration) { w.Clock.SetOffset(w.Clock.Offset() + d) }
		for range 2 {
			for range 3 {
				require.Zero(t, counting(t, w, c))
				later(10 * time.Minute)
			}
			wait := counting(t, w, c)
			require.InDelta(t, 30*time.Minute, wait, float64(time.Minute))
			later(wait)
		}
	})
}

// A counter with pauses is closed longer with each further attempt, and starts again after its window.
func TestCounterPauses(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := ratelimit.Counter{Key: "k", Limit: ratelimit.Attempts{Max: 2, Window: time.Hour, FirstPause: time.Minute, MostPause: 3 * time.Minute}}
		later := func(d time.Duration) { w.Clock.SetOffset(w.Clock.Offset() + d) }
		require.Zero(t, counting(t, w, c))
		for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute, 3 * time.Minute} {
			require.Zero(t, counting(t, w, c))
			wait := counting(t, w, c)
			require.InDelta(t, pause, wait, float64(time.Second))
			later(wait)
		}
		later(61 * time.Minute)
		require.Zero(t, counting(t, w, c))
		require.Zero(t, counting(t, w, c), "the first of the two was forgotten with the rest")
		require.NoError(t, w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error { return ratelimit.Uncount(ctx, tx, c) }))
		require.Zero(t, counting(t, w, c), "the attempt that closed it was taken back")
		require.NoError(t, w.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error { return ratelimit.Forget(ctx, tx, c.Key) }))
		wait, err := ratelimit.Wait(system(), w.Store.Reader(), c)
		require.NoError(t, err)
		require.Zero(t, wait)
	})
}

// When one counter is closed, the others do not count. Of many concurrent attempts, no more are accepted than the limit allows.
func TestCountersTogether(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		one := ratelimit.Counter{Key: "one", Limit: ratelimit.Attempts{Max: 3, Window: time.Hour}}
		many := ratelimit.Counter{Key: "many", Limit: ratelimit.Attempts{Max: 100, Window: time.Hour}}
		var mu sync.Mutex
		var wg sync.WaitGroup
		taken := 0
		for range 12 {
			wg.Go(func() {
				if counting(t, w, many, one) == 0 {
					mu.Lock()
					taken++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		require.Equal(t, 3, taken)
		row, err := w.Store.Reader().Throttle.Get(system(), "many")
		require.NoError(t, err)
		require.Equal(t, 3, row.Failures)
	})
}
