package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/ratelimit"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// setup returns a limiter for one conformance test alone.
type setup func(t *testing.T) ratelimit.Limiter

// conformance checks what every Limiter guarantees.
func conformance(t *testing.T, setup setup) {
	tests := map[string]func(*testing.T, ratelimit.Limiter){
		"first call":                   firstCall,
		"the window slides":            windowSlides,
		"burst across a minute's turn": burstAcrossTurn,
		"refused calls use up nothing": refusalsAreFree,
		"the day turns at midnight":    dayTurns,
		"a plan changes":               planChanges,
		"nothing allowed":              nothingAllowed,
		"keys are apart":               keysApart,
		"several calls at once":        severalAtOnce,
		"a caller that is behind":      callerBehind,
		"invalid calls":                invalidCalls,
		"concurrent, minute":           concurrentMinute,
		"concurrent, day":              concurrentDay,
		"concurrent, moving clock":     concurrentMovingClock,
		"like the model":               likeModel,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t))
		})
	}
}

func take(tb testing.TB, l ratelimit.Limiter, key string, limit ratelimit.Limit, now time.Time) ratelimit.Result {
	tb.Helper()
	res, err := l.Take(tb.Context(), key, limit, now)
	require.NoError(tb, err)
	return res
}

func firstCall(t *testing.T, l ratelimit.Limiter) {
	require.Equal(t, ratelimit.Result{
		Allowed: true, Limit: ratelimit.Free(), MinuteRemaining: 59, DayRemaining: 9_999,
		MinuteReset: time.Minute, DayReset: 12 * time.Hour,
	}, take(t, l, "k", ratelimit.Free(), noon))
}

// Several calls at once are counted together or not at all, and the wait lasts until enough earlier calls have left the window.
func severalAtOnce(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 5, PerDay: 8}
	many := func(n int, now time.Time) ratelimit.Result {
		res, err := l.TakeMany(t.Context(), "k", limit, now, n)
		require.NoError(t, err)
		return res
	}
	require.True(t, many(2, noon).Allowed)
	res := many(2, noon.Add(10*time.Second))
	require.True(t, res.Allowed)
	require.Equal(t, 1, res.MinuteRemaining)
	require.Equal(t, 4, res.DayRemaining)

	res = many(2, noon.Add(20*time.Second))
	require.False(t, res.Allowed, "one is left, and half of two is none")
	require.Equal(t, 1, res.MinuteRemaining)
	require.Equal(t, 40*time.Second, res.RetryAfter, "for one of the first two to leave")
	require.Equal(t, 50*time.Second, many(4, noon.Add(20*time.Second)).RetryAfter, "for the third")
	require.True(t, many(1, noon.Add(20*time.Second)).Allowed, "the refused ones used up nothing")

	res = many(4, noon.Add(2*time.Minute))
	require.False(t, res.Allowed, "the day has three left")
	require.Equal(t, 12*time.Hour-2*time.Minute, res.RetryAfter)
	require.True(t, many(3, noon.Add(2*time.Minute)).Allowed)

	limit.PerDay = 1000
	require.Equal(t, time.Minute, many(6, noon.Add(5*time.Minute)).RetryAfter, "never: the length of the window")
	_, err := l.TakeMany(t.Context(), "k", limit, noon, 0)
	require.Error(t, err)
}

func windowSlides(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 2, PerDay: 100}
	require.True(t, take(t, l, "k", limit, noon).Allowed)
	require.True(t, take(t, l, "k", limit, noon.Add(20*time.Second)).Allowed)

	last := noon.Add(time.Minute - time.Microsecond)
	require.Equal(t, ratelimit.Result{
		Limit: limit, DayRemaining: 98, MinuteReset: time.Microsecond,
		DayReset: 12*time.Hour - time.Minute + time.Microsecond, RetryAfter: time.Second,
	}, take(t, l, "k", limit, last))
	require.Equal(t, ratelimit.Result{
		Limit: limit, Allowed: true, DayRemaining: 97, MinuteReset: 20 * time.Second,
		DayReset: 12*time.Hour - time.Minute,
	}, take(t, l, "k", limit, noon.Add(time.Minute)))
	require.Equal(t, 20*time.Second, take(t, l, "k", limit, noon.Add(time.Minute)).RetryAfter)
}

// A counter per calendar minute would allow twice the limit here.
func burstAcrossTurn(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 60, PerDay: 1000}
	for i := range 60 {
		require.True(t, take(t, l, "k", limit, noon.Add(59*time.Second+time.Duration(i)*time.Millisecond)).Allowed)
	}
	for i := range 60 {
		require.False(t, take(t, l, "k", limit, noon.Add(61*time.Second+time.Duration(i)*time.Millisecond)).Allowed)
	}
	res := take(t, l, "k", limit, noon.Add(119*time.Second))
	require.True(t, res.Allowed, "the first of the burst is 60 s old")
	require.False(t, take(t, l, "k", limit, noon.Add(119*time.Second)).Allowed, "the second is not")
}

func refusalsAreFree(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 1, PerDay: 2}
	require.True(t, take(t, l, "k", limit, noon).Allowed)
	for i := range 59 {
		res := take(t, l, "k", limit, noon.Add(time.Duration(i+1)*time.Second))
		require.False(t, res.Allowed)
		require.Equal(t, 1, res.DayRemaining)
		require.Equal(t, time.Duration(59-i)*time.Second, res.RetryAfter)
	}
	require.True(t, take(t, l, "k", limit, noon.Add(time.Minute)).Allowed)
}

func dayTurns(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 2, PerDay: 3}
	midnight := time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
	require.True(t, take(t, l, "k", limit, noon).Allowed)
	require.True(t, take(t, l, "k", limit, noon.Add(time.Hour)).Allowed)
	require.True(t, take(t, l, "k", limit, midnight.Add(-10*time.Second)).Allowed)

	// In another time zone it is the next day already; the day is the UTC day.
	elsewhere := midnight.Add(-5 * time.Second).In(time.FixedZone("east", 3600))
	res := take(t, l, "k", limit, elsewhere)
	require.False(t, res.Allowed)
	require.Equal(t, 5*time.Second, res.RetryAfter)
	require.Equal(t, 1, res.MinuteRemaining)

	res = take(t, l, "k", limit, midnight)
	require.True(t, res.Allowed)
	require.Equal(t, 2, res.DayRemaining)
	require.Equal(t, 24*time.Hour, res.DayReset)
	res = take(t, l, "k", limit, midnight)
	require.False(t, res.Allowed, "the minute reaches across midnight")
	require.Equal(t, 50*time.Second, res.RetryAfter)
}

func planChanges(t *testing.T, l ratelimit.Limiter) {
	big, small := ratelimit.Limit{PerMinute: 20, PerDay: 100}, ratelimit.Limit{PerMinute: 5, PerDay: 10}
	for i := range 20 {
		require.True(t, take(t, l, "k", big, noon.Add(time.Duration(i)*time.Second)).Allowed)
	}
	res := take(t, l, "k", small, noon.Add(20*time.Second))
	require.Zero(t, res.MinuteRemaining)
	require.Zero(t, res.DayRemaining)
	require.Equal(t, 12*time.Hour-20*time.Second, res.RetryAfter)

	small.PerDay = 100
	res = take(t, l, "k", small, noon.Add(20*time.Second))
	require.False(t, res.Allowed)
	require.Equal(t, 40*time.Second, res.MinuteReset, "the oldest leaves")
	require.Equal(t, 55*time.Second, res.RetryAfter, "only four are left when the 16th leaves")
	require.False(t, take(t, l, "k", small, noon.Add(75*time.Second-time.Microsecond)).Allowed)
	require.True(t, take(t, l, "k", small, noon.Add(75*time.Second)).Allowed)
	require.Equal(t, 14, take(t, l, "k", big, noon.Add(75*time.Second)).MinuteRemaining)
}

func nothingAllowed(t *testing.T, l ratelimit.Limiter) {
	res := take(t, l, "k", ratelimit.Limit{}, noon)
	require.Equal(t, ratelimit.Result{
		MinuteReset: time.Minute, DayReset: 12 * time.Hour, RetryAfter: 12 * time.Hour,
	}, res)
	res = take(t, l, "k", ratelimit.Limit{PerMinute: -1, PerDay: 5}, noon)
	require.False(t, res.Allowed)
	require.Equal(t, time.Minute, res.RetryAfter)
	require.True(t, take(t, l, "k", ratelimit.Free(), noon).Allowed)
}

func keysApart(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 1, PerDay: 1}
	for _, key := range []string{"k", "K", "k ", "{k}", "}", "{", "k:minute", "ключ", "a\x00b", "a\x00c"} {
		require.True(t, take(t, l, key, limit, noon).Allowed, "%q", key)
		require.False(t, take(t, l, key, limit, noon).Allowed, "%q", key)
	}
}

func callerBehind(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 2, PerDay: 100}
	require.True(t, take(t, l, "k", limit, noon).Allowed)
	res := take(t, l, "k", limit, noon.Add(-time.Second))
	require.True(t, res.Allowed)
	require.Equal(t, time.Minute, res.MinuteReset, "never more than the window")
	res = take(t, l, "k", limit, noon.Add(-time.Second))
	require.False(t, res.Allowed)
	require.Equal(t, 61*time.Second, res.RetryAfter)
	require.False(t, take(t, l, "k", limit, noon.Add(time.Minute-time.Millisecond)).Allowed)
	require.True(t, take(t, l, "k", limit, noon.Add(time.Minute)).Allowed)
}

func invalidCalls(t *testing.T, l ratelimit.Limiter) {
	_, err := l.Take(t.Context(), "", ratelimit.Free(), noon)
	require.ErrorContains(t, err, "without a key")
	_, err = l.Take(t.Context(), "k", ratelimit.Free(), time.Time{})
	require.ErrorContains(t, err, "without a time")
}

// together makes 1000 concurrent calls and returns how many were allowed.
func together(t *testing.T, call func(i int) (ratelimit.Result, error)) int {
	t.Helper()
	var wg sync.WaitGroup
	var allowed atomic.Int64
	errs := make(chan error, 1000)
	for i := range 1000 {
		wg.Go(func() {
			res, err := call(i)
			errs <- err
			if res.Allowed {
				allowed.Add(1)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	return int(allowed.Load())
}

func concurrentMinute(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 300, PerDay: 10_000}
	require.Equal(t, 300, together(t, func(int) (ratelimit.Result, error) {
		return l.Take(t.Context(), "k", limit, noon)
	}))
	res := take(t, l, "k", limit, noon.Add(time.Minute))
	require.Equal(t, 10_000-301, res.DayRemaining)
	require.Equal(t, 299, res.MinuteRemaining)
}

func concurrentDay(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 10_000, PerDay: 300}
	require.Equal(t, 300, together(t, func(int) (ratelimit.Result, error) {
		return l.Take(t.Context(), "k", limit, noon)
	}))
}

// The callers' clocks differ by up to a second, so calls arrive out of order.
func concurrentMovingClock(t *testing.T, l ratelimit.Limiter) {
	limit := ratelimit.Limit{PerMinute: 300, PerDay: 10_000}
	require.Equal(t, 300, together(t, func(i int) (ratelimit.Result, error) {
		return l.Take(t.Context(), "k", limit, noon.Add(time.Duration(i)*time.Millisecond))
	}))
}

// likeModel makes random calls of three keys, with changing limits, clocks that are behind by up to 30 s, and steps near the
// edges of the windows.
func likeModel(t *testing.T, l ratelimit.Limiter) {
	var run atomic.Int64
	step := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{
			0, 0, time.Microsecond, time.Millisecond, time.Second, time.Minute - time.Microsecond, time.Minute,
			time.Minute + time.Microsecond, 2 * time.Minute, 6 * time.Hour, 24 * time.Hour, 50 * time.Hour,
		}),
		rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 20_000_000).Draw(t, "µs")) * time.Microsecond
		}),
	)
	behind := rapid.OneOf(rapid.Just(time.Duration(0)), rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, 30_000).Draw(t, "ms")) * time.Millisecond
	}))
	rapid.Check(t, func(rt *rapid.T) {
		prefix := fmt.Sprintf("run%d:", run.Add(1))
		models := map[string]*model{"a": {}, "b": {}, "c": {}}
		limit := ratelimit.Limit{PerMinute: 3, PerDay: 8}
		now := noon.Add(11*time.Hour + 58*time.Minute)
		for range rapid.IntRange(1, 60).Draw(rt, "calls") {
			if rapid.IntRange(0, 7).Draw(rt, "change") == 0 {
				limit.PerMinute = rapid.IntRange(1, 20).Draw(rt, "perMinute")
				limit.PerDay = rapid.IntRange(1, 40).Draw(rt, "perDay")
			}
			now = now.Add(step.Draw(rt, "step"))
			at := now.Add(-behind.Draw(rt, "behind"))
			key := rapid.SampledFrom([]string{"a", "a", "a", "b", "c"}).Draw(rt, "key")
			got, err := l.Take(t.Context(), prefix+key, limit, at)
			require.NoError(rt, err)
			require.Equal(rt, models[key].take(limit, at), got)
		}
	})
}
