package testkit

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Unfinished returns the unfinished jobs of one or two companies, in the order of insertion. The keys of their arguments are sorted.
func (w *World) Unfinished(tb testing.TB, companies ...string) (list []jobs.Moved) {
	tb.Helper()
	of := [2]string{}
	require.LessOrEqual(tb, len(companies), len(of))
	copy(of[:], companies)
	ctx := principal.System(tb.Context(), "test")
	require.NoError(tb, w.Store.Snapshot(ctx, func(rows store.Rows) error {
		return jobs.Unfinished(ctx, w.Store, rows, of, func(j jobs.Moved) (err error) {
			var args map[string]any
			if err = json.Unmarshal(j.Args, &args); err == nil {
				j.Args, err = json.Marshal(args)
			}
			list = append(list, j)
			return err
		})
	}))
	return list
}

// RunQueue works a queue until stop is called or the test ends.
func RunQueue(tb testing.TB, q *jobs.Queue) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(tb, <-done)
	})
	tb.Cleanup(stop)
	return stop
}

// deadSoon has a node on PostgreSQL look for dead ones often: none of them loses its connection in tests but by dying.
var deadSoon = jobs.Reap(200*time.Millisecond, 500*time.Millisecond)

// WorkJobs works jobs on the world's database until stop is called or the test ends.
func (w *World) WorkJobs(tb testing.TB, work ...jobs.Option) (stop func()) {
	tb.Helper()
	q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, append(work, deadSoon)...)
	require.NoError(tb, err)
	return RunQueue(tb, q)
}

// Later moves the product's time forward, and the jobs with it, as the development clock does.
func (w *World) Later(tb testing.TB, by time.Duration) {
	tb.Helper()
	w.Clock.SetOffset(w.Clock.Offset() + by)
	require.NoError(tb, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return w.Queue.Advance(ctx, tx, by)
	}))
}
