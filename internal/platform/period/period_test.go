package period_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	from := time.Date(2024, 1, 1, 2, 0, 0, 0, time.FixedZone("", 2*60*60))
	for to, fits := range map[time.Time]bool{
		from: false, from.Add(-time.Second): false, from.Add(time.Second): true, from.Add(period.Longest): true, from.Add(period.Longest + 1): false,
	} {
		begin, _, err := period.Input{From: from, To: to}.Bounds()
		require.Equal(t, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), begin)
		require.Equal(t, fits, err == nil, "%v", to)
		if !fits {
			require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		}
	}
}

// A week is named by its Monday, even when that lies in the year before.
func TestKey(t *testing.T) {
	t.Parallel()
	for at, want := range map[string][2]string{
		"2026-11-22T23:59:59Z":      {"2026-11-22", "2026-11-16"}, // a Sunday
		"2026-11-23T00:00:00Z":      {"2026-11-23", "2026-11-23"},
		"2026-11-23T00:30:00+02:00": {"2026-11-22", "2026-11-16"},
		"2026-01-01T12:00:00Z":      {"2026-01-01", "2025-12-29"},
	} {
		moment, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, want, [2]string{period.Key("day", moment), period.Key("week", moment)}, at)
	}
}
