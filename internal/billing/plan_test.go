package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/billing"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return out
}

// The examples of the reference, computed by hand.
func TestPeriodsAreCalendarMonths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ what, anchor, at, start, end string }{
		{"the first moment", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z", "2026-02-28T10:00:00Z"},
		{"a month without that day ends on its last", "2026-01-31T10:00:00Z", "2026-03-01T00:00:00Z", "2026-02-28T10:00:00Z", "2026-03-31T10:00:00Z"},
		{"the day comes back", "2026-01-31T10:00:00Z", "2026-04-30T10:00:00Z", "2026-04-30T10:00:00Z", "2026-05-31T10:00:00Z"},
		{"a leap year", "2027-12-30T00:00:00Z", "2028-02-29T00:00:00Z", "2028-02-29T00:00:00Z", "2028-03-30T00:00:00Z"},
		{"the last second", "2026-01-15T12:00:00Z", "2026-02-15T11:59:59Z", "2026-01-15T12:00:00Z", "2026-02-15T12:00:00Z"},
		{"over the year's end", "2026-12-10T00:00:00Z", "2027-01-10T00:00:00Z", "2027-01-10T00:00:00Z", "2027-02-10T00:00:00Z"},
		{"in UTC, wherever it began", "2026-03-01T00:30:00+02:00", "2026-03-28T22:30:00Z", "2026-03-28T22:30:00Z", "2026-04-28T22:30:00Z"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, billing.Period{Start: at(t, tc.start), End: at(t, tc.end)}, billing.PeriodAt(at(t, tc.anchor), at(t, tc.at)))
		})
	}
}

// The product computes what the examples of the reference say.
func TestWorkedExamples(t *testing.T) {
	t.Parallel()
	all, err := billing.Examples()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, e := range all {
		p := billing.PeriodAt(e.Began, e.At)
		require.Equal(t, billing.Period{Start: e.PeriodStart, End: e.PeriodEnd}, p, e.About)
		require.Equal(t, e.Seconds, int64(p.End.Sub(p.Start).Seconds()), e.About)
		require.Equal(t, e.SecondsLeft, int64(p.End.Sub(e.At).Seconds()), e.About)
		charge, credit := p.Difference(e.From, e.To, e.At)
		require.Equal(t, [2]int64{e.Charge, e.Credit}, [2]int64{charge, credit}, e.About)
	}
}

func TestProrationIsBySecondsAndRoundsHalfUp(t *testing.T) {
	t.Parallel()
	april := billing.Period{Start: at(t, "2026-04-01T00:00:00Z"), End: at(t, "2026-05-01T00:00:00Z")} // 2,592,000 seconds
	for _, tc := range []struct {
		at    string
		cents int64
		want  int64
	}{
		{"2026-04-01T00:00:00Z", 20_000, 20_000},
		{"2026-04-16T00:00:00Z", 20_000, 10_000},
		{"2026-04-16T00:00:00Z", 1, 1}, // half a cent
		{"2026-04-16T00:00:01Z", 1, 0}, // a second less
		{"2026-04-30T23:59:59Z", 20_000, 0},
		{"2026-05-01T00:00:00Z", 20_000, 0},
		{"2026-05-02T00:00:00Z", 20_000, 0},
	} {
		require.Equal(t, tc.want, april.Prorate(tc.cents, at(t, tc.at)), tc.at)
	}
}
