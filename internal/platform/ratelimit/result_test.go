package ratelimit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/ratelimit"
)

func TestForPlan(t *testing.T) {
	t.Parallel()
	for plan, want := range map[string]ratelimit.Limit{
		"free":       {PerMinute: 60, PerDay: 10_000, BytesPerMinute: 20 * ratelimit.MB, BytesPerDay: 500 * ratelimit.MB, QueryCost: 20_000, Invitations: 20},
		"pro":        {PerMinute: 60, PerDay: 10_000, BytesPerMinute: 20 * ratelimit.MB, BytesPerDay: 500 * ratelimit.MB, QueryCost: 20_000, Invitations: 20},
		"starter":    {PerMinute: 120, PerDay: 50_000, BytesPerMinute: 40 * ratelimit.MB, BytesPerDay: 2_500 * ratelimit.MB, QueryCost: 20_000, Invitations: 50},
		"growth":     {PerMinute: 300, PerDay: 200_000, BytesPerMinute: 100 * ratelimit.MB, BytesPerDay: 10_000 * ratelimit.MB, QueryCost: 20_000, Invitations: 200},
		"business":   {PerMinute: 600, PerDay: 1_000_000, BytesPerMinute: 200 * ratelimit.MB, BytesPerDay: 50_000 * ratelimit.MB, QueryCost: 20_000, Invitations: 1_000},
		"enterprise": {PerMinute: 1_200, PerDay: 2_000_000, BytesPerMinute: 400 * ratelimit.MB, BytesPerDay: 100_000 * ratelimit.MB, QueryCost: 20_000, Invitations: 2_000},
	} {
		got, ok := ratelimit.ForPlan(plan)
		require.True(t, ok)
		require.Equal(t, want, got, plan)
	}
	for _, plan := range []string{"", "Free", "premium"} {
		got, ok := ratelimit.ForPlan(plan)
		require.False(t, ok)
		require.Zero(t, got)
	}
}

// A company's own numbers replace those of its plan one by one, and never apply to its sandbox.
func TestForCompany(t *testing.T) {
	t.Parallel()
	minute, day, cost := 7, 70, 50_000
	for _, c := range []struct {
		name, plan string
		sandbox    bool
		own        ratelimit.Own
		want       ratelimit.Limit
	}{
		{"the plan's", "growth", false, ratelimit.Own{}, ratelimit.Limit{PerMinute: 300, PerDay: 200_000, BytesPerMinute: 100 * ratelimit.MB, BytesPerDay: 10_000 * ratelimit.MB, QueryCost: 20_000, Invitations: 200}},
		{"own calls", "growth", false, ratelimit.Own{PerMinute: &minute, PerDay: &day}, ratelimit.Limit{PerMinute: 7, PerDay: 70, BytesPerMinute: 100 * ratelimit.MB, BytesPerDay: 10_000 * ratelimit.MB, QueryCost: 20_000, Invitations: 200}},
		{"own cost", "enterprise", false, ratelimit.Own{QueryCost: &cost}, ratelimit.Limit{PerMinute: 1_200, PerDay: 2_000_000, BytesPerMinute: 400 * ratelimit.MB, BytesPerDay: 100_000 * ratelimit.MB, QueryCost: 50_000, Invitations: 2_000}},
		{"sandbox", "enterprise", true, ratelimit.Own{PerMinute: &minute, QueryCost: &cost}, ratelimit.Free()},
	} {
		got, ok := ratelimit.ForCompany(c.plan, c.sandbox, c.own)
		require.True(t, ok, c.name)
		require.Equal(t, c.want, got, c.name)
	}
	_, ok := ratelimit.ForCompany("gold", false, ratelimit.Own{})
	require.False(t, ok)
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	limit := ratelimit.Limit{PerMinute: 60, PerDay: 10_000}
	for name, test := range map[string]struct {
		result ratelimit.Result
		want   string
	}{
		"fewer in the minute": {ratelimit.Result{
			MinuteRemaining: 59, DayRemaining: 9_999, MinuteReset: time.Minute, DayReset: time.Hour,
		}, `"minute";r=59;t=60`},
		"fewer in the day": {ratelimit.Result{
			MinuteRemaining: 59, DayRemaining: 58, MinuteReset: time.Minute, DayReset: time.Hour,
		}, `"day";r=58;t=3600`},
		"a tie, rounded up": {ratelimit.Result{MinuteReset: time.Second + 1, DayReset: time.Hour}, `"minute";r=0;t=2`},
		"less than a second": {ratelimit.Result{
			DayRemaining: 1, MinuteReset: time.Microsecond,
		}, `"minute";r=0;t=1`},
	} {
		test.result.Limit = limit
		require.Equal(t, test.want, test.result.Header(), name)
		require.Equal(t, `"minute";q=60;w=60, "day";q=10000;w=86400`, test.result.PolicyHeader(), name)
	}
}

func TestRetryAfterSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int{0: 0, time.Second: 1, time.Second + 1: 2, 24 * time.Hour: 86_400} {
		require.Equal(t, want, ratelimit.Result{RetryAfter: d}.RetryAfterSeconds())
	}
}
