package ratelimit_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/ratelimit"
)

func TestMemoryConforms(t *testing.T) {
	t.Parallel()
	conformance(t, func(*testing.T) ratelimit.Limiter { return ratelimit.NewMemory() })
}

// For any limit, calls and times, no 60 s contain more allowed calls than the limit.
func TestMemoryNeverExceedsTheMinute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := ratelimit.NewMemory()
		limit := ratelimit.Limit{PerMinute: rapid.IntRange(1, 30).Draw(rt, "perMinute"), PerDay: 1 << 30}
		gaps := rapid.SliceOfN(rapid.IntRange(0, 8_000), 1, 300).Draw(rt, "ms between calls")
		now, allowed := noon, []time.Time(nil)
		for _, gap := range gaps {
			now = now.Add(time.Duration(gap) * time.Millisecond)
			if take(t, m, "k", limit, now).Allowed {
				allowed = append(allowed, now)
			}
		}
		for i := limit.PerMinute; i < len(allowed); i++ {
			require.GreaterOrEqual(rt, allowed[i].Sub(allowed[i-limit.PerMinute]), time.Minute)
		}
	})
}

func TestMemoryIsFreeAgainAMinuteAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	m := ratelimit.NewMemory()
	limit := ratelimit.Limit{PerMinute: 3, PerDay: 100}
	future := noon.Add(30 * 24 * time.Hour)
	require.True(t, take(t, m, "k", limit, future.Add(-2*time.Minute)).Allowed)
	for range 2 {
		require.True(t, take(t, m, "k", limit, future).Allowed)
	}
	require.True(t, take(t, m, "k", limit, noon).Allowed)
	res := take(t, m, "k", limit, noon)
	require.False(t, res.Allowed, "the calls of the last minute count as made at noon")
	require.Equal(t, time.Minute, res.RetryAfter)
	require.Equal(t, 99, res.DayRemaining, "the day was entered anew")
	require.Equal(t, 2, take(t, m, "k", limit, noon.Add(time.Minute)).MinuteRemaining)
}

func TestMemorySnapshotSurvivesARestart(t *testing.T) {
	t.Parallel()
	before := ratelimit.NewMemory()
	limit := ratelimit.Limit{PerMinute: 10, PerDay: 4}
	for range 3 {
		take(t, before, "b", limit, noon)
	}
	take(t, before, "a", limit, noon)
	take(t, before, "none", ratelimit.Limit{}, noon)
	today := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
	counts := before.Snapshot()
	require.Equal(t, []ratelimit.DayCount{{Key: "a", Day: today, Count: 1}, {Key: "b", Day: today, Count: 3}}, counts)

	after := ratelimit.NewMemory()
	after.Restore(counts)
	after.Restore(counts) // restoring twice changes nothing
	require.Equal(t, counts, after.Snapshot())
	require.Equal(t, 0, take(t, after, "b", limit, noon.Add(time.Second)).DayRemaining)
	res := take(t, after, "b", limit, noon.Add(time.Second))
	require.False(t, res.Allowed)
	require.Equal(t, 12*time.Hour-time.Second, res.RetryAfter)
	require.True(t, take(t, after, "b", limit, noon.Add(12*time.Hour)).Allowed)
}

func TestMemoryRestoreMerges(t *testing.T) {
	t.Parallel()
	m := ratelimit.NewMemory()
	limit := ratelimit.Limit{PerMinute: 10, PerDay: 10}
	take(t, m, "k", limit, noon)
	take(t, m, "k", limit, noon)
	row := func(key string, at time.Time, count int) []ratelimit.DayCount {
		return []ratelimit.DayCount{{Key: key, Day: at, Count: count}}
	}
	m.Restore(row("k", noon, 1))
	require.Equal(t, 2, m.Snapshot()[0].Count, "the greater count wins")
	m.Restore(row("k", noon, 5))
	require.Equal(t, 5, m.Snapshot()[0].Count, "any instant of the day names it")
	m.Restore(row("k", noon.AddDate(0, 0, -1), 9))
	require.Equal(t, 5, m.Snapshot()[0].Count, "the later day wins")
	m.Restore(row("", noon, 1))
	m.Restore(row("zero", noon, 0))
	m.Restore(row("negative", noon, -1))
	m.Restore(row("undated", time.Time{}, 1))
	require.Len(t, m.Snapshot(), 1)
	m.Restore(row("k", noon.AddDate(0, 0, 1), 7))
	require.Equal(t, 3-1, take(t, m, "k", limit, noon.AddDate(0, 0, 1)).DayRemaining)
}

func TestMemorySnapshotBesideCalls(t *testing.T) {
	t.Parallel()
	m := ratelimit.NewMemory()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				_, _ = m.Take(t.Context(), fmt.Sprint(j%50), ratelimit.Free(), noon.Add(time.Duration(i)*time.Hour))
				if j%100 == 0 {
					m.Restore(m.Snapshot())
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, m.Snapshot(), 50)
}

// Keys of yesterday are deleted after calls of today, and the log of a busy minute after two minutes without calls.
func TestMemoryForgetsIdleKeys(t *testing.T) {
	m := ratelimit.NewMemory()
	limit := ratelimit.Limit{PerMinute: 1_000, PerDay: 1_000_000}
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	const keys = 2_000
	empty := heap()
	for i := range keys {
		key := fmt.Sprintf("old-%d", i)
		for range 200 {
			take(t, m, key, limit, noon)
		}
	}
	full := heap()
	require.Greater(t, full-empty, uint64(keys*200*8), "every call of the minute is in a log")

	// Each call checks one other key.
	const busy = 2_000
	calls := func(at time.Time) {
		for i := range 20 * busy {
			take(t, m, fmt.Sprintf("busy-%d", i%busy), limit, at)
		}
	}
	calls(noon.Add(3 * time.Minute))
	quiet := heap()
	require.Less(t, quiet-empty, (full-empty)/2, "the logs are freed")
	require.Len(t, m.Snapshot(), keys+busy, "the day's counts are not")

	calls(noon.Add(12*time.Hour + time.Minute))
	left := m.Snapshot()
	require.Len(t, left, busy)
	require.False(t, slices.ContainsFunc(left, func(c ratelimit.DayCount) bool { return c.Key[:3] == "old" }))
}

func TestMemoryTakeDoesNotAllocate(t *testing.T) {
	m := ratelimit.NewMemory()
	now := noon
	for range 100 {
		take(t, m, "k", ratelimit.Free(), now)
	}
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(1_000, func() {
		now = now.Add(700 * time.Millisecond)
		_, _ = m.Take(ctx, "k", ratelimit.Free(), now)
	}))
}
