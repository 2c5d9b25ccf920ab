package period_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/period"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func moment(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return at
}

// Steps begin where the zone's days do: with 23 and 25 hours, where midnight is skipped or comes twice, and where a day is skipped.
func TestSteps(t *testing.T) {
	t.Parallel()
	type want map[string]string
	for name, c := range map[string]struct {
		zone, by, from, to string
		want               want
	}{
		"the clocks go forward": {"Europe/Berlin", "day", "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z", want{
			"2026-03-28": "2026-03-27T23:00:00Z", "2026-03-29": "2026-03-28T23:00:00Z", "2026-03-30": "2026-03-29T22:00:00Z",
		}},
		"the clocks go back": {"Europe/Berlin", "day", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", want{"2026-10-25": "2026-10-24T22:00:00Z"}},
		"midnight is skipped": {"America/Sao_Paulo", "day", "2018-11-03T12:00:00Z", "2018-11-05T03:00:00Z", want{
			"2018-11-03": "2018-11-03T03:00:00Z", "2018-11-04": "2018-11-04T03:00:00Z", "2018-11-05": "2018-11-05T02:00:00Z",
		}},
		"midnight comes twice": {"America/Havana", "day", "2025-11-01T12:00:00Z", "2025-11-02T12:00:00Z", want{
			"2025-11-01": "2025-11-01T04:00:00Z", "2025-11-02": "2025-11-02T04:00:00Z",
		}},
		"a day is skipped": {"Pacific/Apia", "day", "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z", want{
			"2011-12-29": "2011-12-29T10:00:00Z", "2011-12-31": "2011-12-30T10:00:00Z", "2012-01-01": "2011-12-31T10:00:00Z",
		}},
		"weeks": {"UTC", "week", "2026-01-01T12:00:00Z", "2026-01-12T00:00:00.000001Z", want{
			"2025-12-29": "2025-12-29T00:00:00Z", "2026-01-05": "2026-01-05T00:00:00Z", "2026-01-12": "2026-01-12T00:00:00Z",
		}},
		"months": {"Asia/Tokyo", "month", "2026-01-31T14:00:00Z", "2026-02-28T15:00:00Z", want{
			"2026-01-01": "2025-12-31T15:00:00Z", "2026-02-01": "2026-01-31T15:00:00Z",
		}},
	} {
		got := want{}
		steps := period.Steps(c.by, moment(t, c.from), moment(t, c.to), zone(t, c.zone))
		for i, s := range steps {
			got[s.Key] = time.UnixMicro(s.Begin).UTC().Format(time.RFC3339)
			require.Equal(t, i, period.StepAt(steps, s.Begin), name)
			require.Equal(t, i-1, period.StepAt(steps, s.Begin-1), name)
		}
		require.Equal(t, c.want, got, name)
	}
}

// A moment lies in the step of its date in the zone, in every zone and hour of two years.
func TestStepOfEveryHour(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "America/Havana", "Pacific/Apia", "Asia/Beirut", "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago"} {
		z := zone(t, name)
		from, to := moment(t, "2010-12-01T00:00:00Z"), moment(t, "2012-12-01T00:00:00Z")
		steps := period.Steps("day", from, to, z)
		for at := from; at.Before(to); at = at.Add(30 * time.Minute) {
			require.Equal(t, at.In(z).Format(time.DateOnly), steps[period.StepAt(steps, at.UnixMicro())].Key, "%s %s", name, at)
		}
	}
}

// The period before has as many days, whichever have 23 hours; one of less than days is as long.
func TestBefore(t *testing.T) {
	t.Parallel()
	for from, c := range map[string][2]string{
		"2026-03-28T23:00:00Z": {"2026-03-29T22:00:00Z", "2026-03-27T23:00:00Z"}, // the day of 23 hours, and the one before
		"2026-03-29T22:00:00Z": {"2026-03-30T22:00:00Z", "2026-03-28T23:00:00Z"},
		"2026-03-29T00:00:00Z": {"2026-03-29T06:00:00Z", "2026-03-28T18:00:00Z"},
		"2026-02-28T23:00:00Z": {"2026-03-31T22:00:00Z", "2026-01-28T23:00:00Z"},
	} {
		require.Equal(t, c[1], period.Before(moment(t, from), moment(t, c[0]), zone(t, "Europe/Berlin")).UTC().Format(time.RFC3339), from)
	}
}
