package ratelimit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/ratelimit"
)

// A company sends as many bytes as its plan allows in a minute and in a day, whatever the size of its bodies; another company's count
// apart. What is refused does not count.
func TestBytes(t *testing.T) {
	t.Parallel()
	const MB = ratelimit.MB
	for _, body := range []int{MB, 100_000, 700} {
		b, now := ratelimit.NewBytes(ratelimit.NewMemory()), time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
		limit := ratelimit.Limit{BytesPerMinute: 20 * MB, BytesPerDay: 30 * MB}
		take := func(company string, n int) ratelimit.Result {
			res, err := b.Take(t.Context(), company, n, now, func(context.Context) (ratelimit.Limit, error) { return limit, nil })
			require.NoError(t, err)
			return res
		}
		fill := func(upTo int) (sent int) {
			for {
				res := take("co_a", body)
				if !res.Allowed {
					require.Equal(t, `"minute-bytes";q=20971520;w=60;qu="content-bytes", "day-bytes";q=31457280;w=86400;qu="content-bytes"`, res.PolicyHeader())
					return sent
				}
				sent += body
				require.LessOrEqual(t, sent, upTo+1<<16)
			}
		}
		require.InDelta(t, 20*MB, fill(20*MB), float64(max(body, 1<<16)))
		res := take("co_a", MB)
		require.Equal(t, []any{false, time.Minute}, []any{res.Allowed, res.RetryAfter})
		require.Regexp(t, `^"minute-bytes";r=\d+;t=60$`, res.Header())
		require.True(t, take("co_b", MB).Allowed)

		now = now.Add(time.Minute)
		require.InDelta(t, 10*MB, fill(10*MB), float64(max(body, 1<<16)), "the day's are used up")
		res = take("co_a", MB)
		require.Equal(t, 12*time.Hour-time.Minute, res.RetryAfter)
		require.Regexp(t, `^"day-bytes";r=\d+;t=43140$`, res.Header())

		limit.BytesPerDay = 100 * MB // a larger plan
		require.True(t, take("co_a", MB).Allowed)
	}
}

// A body that is larger than a window, such as a mail on a small plan, counts as all of it: it comes once nothing else is in the window.
func TestABodyLargerThanItsWindow(t *testing.T) {
	t.Parallel()
	const MB = ratelimit.MB
	b, now := ratelimit.NewBytes(ratelimit.NewMemory()), time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	limit := ratelimit.Limit{BytesPerMinute: 20*MB + 1000, BytesPerDay: 500 * MB}
	take := func(n int) bool {
		res, err := b.Take(t.Context(), "co_a", n, now, func(context.Context) (ratelimit.Limit, error) { return limit, nil })
		require.NoError(t, err)
		return res.Allowed
	}
	require.True(t, take(25*MB))
	require.False(t, take(MB), "the minute is used up")
	now = now.Add(time.Minute)
	require.True(t, take(MB))
	require.False(t, take(25*MB))
	now = now.Add(time.Minute)
	require.True(t, take(25*MB))
	limit.BytesPerDay = 10 * MB
	now = now.Add(24 * time.Hour)
	require.True(t, take(25*MB), "nor is it larger than a day")
	require.False(t, take(MB))
	limit.BytesPerMinute, now = 0, now.Add(24*time.Hour)
	require.False(t, take(MB), "a limit that allows nothing allows nothing")
}

// A failure counts nothing.
func TestBytesThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	b, broken := ratelimit.NewBytes(ratelimit.NewMemory()), errors.New("no database")
	limit := ratelimit.Limit{BytesPerMinute: ratelimit.MB, BytesPerDay: ratelimit.MB}
	for _, fault := range []error{broken, broken, nil} {
		res, err := b.Take(t.Context(), "co_a", ratelimit.MB, time.Now(), func(context.Context) (ratelimit.Limit, error) { return limit, fault })
		require.ErrorIs(t, err, fault)
		require.Equal(t, fault == nil, res.Allowed)
	}
}
