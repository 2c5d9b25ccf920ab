package sla_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/desk/sla"
)

// office is Monday to Friday, 9:00 to 17:00.
func office(t testing.TB, zone string, holidays ...string) *sla.Calendar {
	t.Helper()
	var hours []sla.Hours
	for day := time.Monday; day <= time.Friday; day++ {
		hours = append(hours, sla.Hours{Day: day, From: 9 * 60, To: 17 * 60})
	}
	c, err := sla.New(zone, hours, holidays)
	require.NoError(t, err)
	return c
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return out
}

func TestWorkingTimeSkipsNightsWeekendsAndHolidays(t *testing.T) {
	t.Parallel()
	c := office(t, "Europe/Berlin", "2026-05-25") // Whit Monday
	for _, row := range []struct{ from, d, to string }{
		{"2026-05-22T10:00:00+02:00", "1h", "2026-05-22T11:00:00+02:00"},
		{"2026-05-22T16:30:00+02:00", "1h", "2026-05-26T09:30:00+02:00"}, // Friday evening to Tuesday
		{"2026-05-23T12:00:00+02:00", "8h", "2026-05-26T17:00:00+02:00"}, // exactly one day
		{"2026-05-22T07:00:00+02:00", "16h", "2026-05-26T17:00:00+02:00"},
	} {
		d, err := time.ParseDuration(row.d)
		require.NoError(t, err)
		got, err := c.Add(at(t, row.from), d)
		require.NoError(t, err)
		require.True(t, got.Equal(at(t, row.to)), "%s after %s: %s", row.d, row.from, got)
		require.Equal(t, d, c.Between(at(t, row.from), got))
	}
	next, err := c.Next(at(t, "2026-05-22T18:00:00+02:00"))
	require.NoError(t, err)
	require.True(t, next.Equal(at(t, "2026-05-26T09:00:00+02:00")))
}

// In the night when the clock goes forward an hour is missing; when it goes back there is one more.
func TestDaylightSaving(t *testing.T) {
	t.Parallel()
	c, err := sla.New("Europe/Berlin", []sla.Hours{{Day: time.Sunday, From: 60, To: 5 * 60}}, nil)
	require.NoError(t, err)
	require.Equal(t, 3*time.Hour, c.Between(at(t, "2026-03-29T00:00:00+01:00"), at(t, "2026-03-29T12:00:00+02:00")))
	require.Equal(t, 5*time.Hour, c.Between(at(t, "2026-10-25T00:00:00+02:00"), at(t, "2026-10-25T12:00:00+01:00")))
	require.Equal(t, 4*time.Hour, c.Between(at(t, "2026-06-07T00:00:00+02:00"), at(t, "2026-06-07T12:00:00+02:00")))
}

func TestCalendarWithoutWork(t *testing.T) {
	t.Parallel()
	always, err := sla.New("UTC", nil, nil)
	require.NoError(t, err)
	got, err := always.Add(at(t, "2026-05-22T16:30:00Z"), 72*time.Hour)
	require.NoError(t, err)
	require.Equal(t, at(t, "2026-05-25T16:30:00Z"), got)

	_, err = sla.New("Mars/Olympus", nil, nil)
	require.Error(t, err)
	_, err = sla.New("UTC", []sla.Hours{{Day: time.Monday, From: 60, To: 60}}, nil)
	require.Error(t, err)
	_, err = sla.New("UTC", nil, []string{"tomorrow"})
	require.Error(t, err)
}

// The calendar agrees with a count of minutes, in zones that change their clocks at unusual hours.
func TestAgreesWithACountOfMinutes(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"}
	starts := []string{"2026-03-07T00:00:00Z", "2026-03-28T00:00:00Z", "2026-04-04T00:00:00Z", "2026-10-03T00:00:00Z", "2026-10-24T00:00:00Z", "2026-11-01T00:00:00Z"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		var hours []sla.Hours
		for range rapid.IntRange(1, 6).Draw(t, "stretches") {
			from := rapid.IntRange(0, 1439).Draw(t, "from")
			hours = append(hours, sla.Hours{
				Day: time.Weekday(rapid.IntRange(0, 6).Draw(t, "day")), From: from, To: rapid.IntRange(from+1, 1440).Draw(t, "to"),
			})
		}
		start, err := time.Parse(time.RFC3339, rapid.SampledFrom(starts).Draw(t, "start"))
		require.NoError(t, err)
		from := start.Add(time.Duration(rapid.IntRange(0, 48*60).Draw(t, "offset")) * time.Minute)
		holiday := from.In(loc).AddDate(0, 0, rapid.IntRange(0, 4).Draw(t, "holiday")).Format(time.DateOnly)
		c, err := sla.New(zone, hours, []string{holiday})
		require.NoError(t, err)
		to := from.Add(time.Duration(rapid.IntRange(0, 3*24*60).Draw(t, "minutes")) * time.Minute)
		var want time.Duration
		for m := from; m.Before(to); m = m.Add(time.Minute) {
			if works(m.In(loc), hours, holiday) {
				want += time.Minute
			}
		}
		got := c.Between(from, to)
		require.Equal(t, want, got, "%s %v from %s to %s without %s", zone, hours, from, to, holiday)
		if got > 0 {
			end, err := c.Add(from, got)
			require.NoError(t, err)
			require.Equal(t, got, c.Between(from, end))
			require.False(t, end.After(to))
		}
	})
}

// works is the reference implementation: whether a local minute is working time.
func works(local time.Time, hours []sla.Hours, holiday string) bool {
	if local.Format(time.DateOnly) == holiday {
		return false
	}
	minute := local.Hour()*60 + local.Minute()
	for _, h := range hours {
		if h.Day == local.Weekday() && h.From <= minute && minute < h.To {
			return true
		}
	}
	return false
}
