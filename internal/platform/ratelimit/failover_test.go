package ratelimit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
)

// cable is a Limiter that can be disconnected.
type cable struct {
	ratelimit.Limiter
	cut   atomic.Bool
	asked atomic.Int64
}

func (c *cable) TakeMany(ctx context.Context, key string, l ratelimit.Limit, now time.Time, n int) (ratelimit.Result, error) {
	c.asked.Add(1)
	if c.cut.Load() {
		return ratelimit.Result{}, errors.New("cut off")
	}
	return c.Limiter.TakeMany(ctx, key, l, now, n)
}

func TestFailoverConforms(t *testing.T) {
	t.Parallel()
	t.Run("together", func(t *testing.T) {
		conformance(t, func(t *testing.T) ratelimit.Limiter {
			return ratelimit.NewFailover(ratelimit.NewRedis(openRedis(t, testkit.Redis(t))), slog.New(slog.DiscardHandler))
		})
	})
	t.Run("alone", func(t *testing.T) {
		conformance(t, func(t *testing.T) ratelimit.Limiter {
			c := &cable{}
			c.cut.Store(true)
			return ratelimit.NewFailover(c, slog.New(slog.DiscardHandler))
		})
	})
}

// A node that loses Redis continues with the counts of its own calls, logs it once, and tries Redis at most once a second.
func TestFailoverGoesOnAlone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := &cable{Limiter: ratelimit.NewMemory()}
	l := ratelimit.NewFailover(c, slog.New(slog.NewJSONHandler(&log, nil)))
	for range 40 {
		require.True(t, take(t, l, "k", ratelimit.Free(), noon).Allowed)
	}
	c.cut.Store(true)
	c.asked.Store(0)
	for range 20 {
		require.True(t, take(t, l, "k", ratelimit.Free(), noon).Allowed)
	}
	require.False(t, take(t, l, "k", ratelimit.Free(), noon).Allowed, "the 61st of the minute")
	require.LessOrEqual(t, c.asked.Load(), int64(3), "the others did not wait for it")

	c.cut.Store(false)
	require.Eventually(t, func() bool { return take(t, l, "k", ratelimit.Free(), noon).Allowed }, 5*time.Second, 20*time.Millisecond,
		"together there are 20 left")
	require.Equal(t, 1, strings.Count(log.String(), "does not answer"))
	require.Equal(t, 1, strings.Count(log.String(), "answers again"))
}

// A Redis that hangs delays calls for a moment, not for its client's timeouts.
func TestFailoverDoesNotWaitForARedisThatHangs(t *testing.T) {
	t.Parallel()
	l := ratelimit.NewFailover(ratelimit.NewRedis(openRedis(t, silent(t))), slog.New(slog.DiscardHandler))
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		res, err := l.Take(ctx, "k", ratelimit.Limit{PerMinute: 100, PerDay: 100}, noon)
		cancel()
		require.NoError(t, err)
		require.True(t, res.Allowed)
	}
}
