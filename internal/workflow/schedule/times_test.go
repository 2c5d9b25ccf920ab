package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// zones change their clocks in all ways: by an hour, by half an hour, at midnight, twice a year around Ramadan, or never.
var zones = []string{
	"Europe/Berlin", "Europe/London", "Europe/Lisbon", "Europe/Athens", "Europe/Chisinau", "Atlantic/Azores", "America/New_York", "America/Los_Angeles",
	"America/St_Johns", "America/Halifax", "America/Havana", "America/Santiago", "America/Asuncion", "Australia/Sydney", "Australia/Lord_Howe",
	"Pacific/Auckland", "Pacific/Chatham", "Africa/Casablanca", "Africa/Cairo", "Asia/Jerusalem", "Asia/Beirut", "Asia/Kathmandu",
}

func zoneOf(t require.TestingT, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

// changes returns the moments at which a zone's clocks change.
func changes(zone *time.Location, from, to time.Time) (out []time.Time) {
	for at := from; ; {
		_, end := at.In(zone).ZoneBounds()
		if end.IsZero() || end.After(to) {
			return out
		}
		out = append(out, end)
		at = end
	}
}

// model returns when a clock on the wall first shows a time or has leapt over it, by watching the clock minute by minute.
func model(wall, since time.Time, zone *time.Location) time.Time {
	for at := since; ; at = at.Add(time.Minute) {
		if !onWall(at, zone).Before(wall) {
			return at.UTC()
		}
	}
}

func must(t require.TestingT, expression string) rule {
	r, faults := rules(&expression, nil)
	require.Empty(t, faults, expression)
	return r
}

// Around every change of the clocks from 2025 to 2035, in all those zones, each planned time on the wall comes once, in order, and when
// somebody who watches the clock would say.
func TestEveryChangeOfTheClocks(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, name := range zones {
		zone := zoneOf(t, name)
		for _, change := range changes(zone, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)) {
			seen++
			from, to := change.Add(-5*time.Hour), change.Add(5*time.Hour)
			for _, expression := range []string{"*/5 * * * *", "*/30 * * * *", "30 * * * *", "0 0,2,3 * * *", "30 2 * * *", "15 1 * * *"} {
				r := must(t, expression)
				var want []time.Time
				for planned := r(onWall(from, zone)); !planned.After(onWall(to, zone)); planned = r(planned) {
					if at := model(planned, from, zone); !slices.Contains(want, at) { // a leap brings several to one moment
						want = append(want, at)
					}
				}
				plan := times{rule: r, zone: zone}
				var got []time.Time
				for at, ok := plan.after(from); ok && !at.After(to); at, ok = plan.after(at) {
					got = append(got, at)
				}
				require.Equal(t, want, got, "%s in %s around %s", expression, name, change)
			}
		}
	}
	require.Greater(t, seen, 20*11, "the zones change their clocks")
}

// From wherever one looks, the next planned time is the first of those that come by looking again and again.
func TestNextDoesNotDependOnWhereOneLooks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone := zoneOf(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		expression := rapid.SampledFrom([]string{"*/5 * * * *", "7 */3 * * *", "30 2 * * *", "0 9 * * MON", "0 0 1 * *", "59 23 28-31 * *", "0 12 1 1 *"}).Draw(t, "cron")
		plan := times{rule: must(t, expression), zone: zone}
		if rapid.Bool().Draw(t, "calendar") {
			free := rapid.SliceOfDistinct(rapid.IntRange(0, 6), rapid.ID[int]).Filter(func(f []int) bool { return len(f) < 7 }).Draw(t, "free")
			plan.works = func(day time.Time) bool { return !slices.Contains(free, int(day.Weekday())) && day.Day() != 24 }
			plan.moves = rapid.Bool().Draw(t, "moves")
		}
		start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 11*365*24*60).Draw(t, "start")) * time.Minute)
		var all []time.Time
		for at, ok := plan.after(start); ok && len(all) < 40; at, ok = plan.after(at) {
			require.True(t, len(all) == 0 || at.After(all[len(all)-1]), "in order")
			require.Zero(t, at.Second())
			if plan.works != nil {
				require.True(t, plan.works(dayOf(onWall(at, zone))), "%s is on a free day", at)
			}
			all = append(all, at)
		}
		if len(all) == 0 {
			return
		}
		span := all[len(all)-1].Sub(start)
		at := start.Add(time.Duration(rapid.Int64Range(0, int64(span)-1).Draw(t, "look")))
		next, ok := plan.after(at)
		require.True(t, ok)
		require.Equal(t, all[slices.IndexFunc(all, at.Before)], next)
	})
}

// Times on free days are left out, or move to the next working day, where two that meet are one.
func TestFreeDays(t *testing.T) {
	t.Parallel()
	week := func(day time.Time) bool {
		return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday && day.Format(time.DateOnly) != "2026-12-25"
	}
	at := func(text string) time.Time {
		out, err := time.ParseInLocation("2006-01-02 15:04", text, zoneOf(t, "Europe/Berlin"))
		require.NoError(t, err)
		return out.UTC()
	}
	for _, c := range []struct {
		cron, from string
		moves      bool
		want       []string
	}{
		{"0 9 * * *", "2026-12-24 00:00", false, []string{"2026-12-24 09:00", "2026-12-28 09:00", "2026-12-29 09:00"}},
		{"0 9 * * *", "2026-12-24 00:00", true, []string{"2026-12-24 09:00", "2026-12-28 09:00", "2026-12-29 09:00"}},
		{"0 9 25 12 *", "2026-12-24 00:00", false, []string{"2028-12-25 09:00", "2029-12-25 09:00"}}, // 2027 is a Saturday
		{"0 9 25 12 *", "2026-12-24 00:00", true, []string{"2026-12-28 09:00", "2027-12-27 09:00", "2028-12-25 09:00"}},
		{"0 9,18 * * *", "2026-12-25 12:00", true, []string{"2026-12-28 09:00", "2026-12-28 18:00", "2026-12-29 09:00"}},
		{"0 18 * * FRI", "2026-12-25 12:00", true, []string{"2026-12-28 18:00", "2027-01-01 18:00"}},
		{"0 9 * * SUN", "2026-12-24 00:00", false, nil},
	} {
		plan := times{rule: must(t, c.cron), zone: zoneOf(t, "Europe/Berlin"), works: week, moves: c.moves}
		next, ok := plan.after(at(c.from))
		for _, want := range c.want {
			require.True(t, ok, c.cron)
			require.Equal(t, at(want), next, "%s, moves %v", c.cron, c.moves)
			next, ok = plan.after(next)
		}
		require.True(t, ok || c.want == nil, c.cron)
	}
	never := times{rule: must(t, "*/5 * * * *"), zone: time.UTC, works: func(time.Time) bool { return false }}
	for _, moves := range []bool{false, true} {
		never.moves = moves
		_, ok := never.after(at("2026-12-24 00:00"))
		require.False(t, ok, "no day works")
	}
}

// The days of Every, and the last day of shorter months.
func TestEvery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		every Every
		want  []string
	}{
		{Every{Unit: hour, At: "07:20"}, []string{"2027-01-31 00:20", "2027-01-31 01:20"}},
		{Every{Unit: day, At: "09:00"}, []string{"2027-01-31 09:00", "2027-02-01 09:00"}},
		{Every{Unit: week, At: "09:00", Weekdays: []string{"wed", "mon"}}, []string{"2027-02-01 09:00", "2027-02-03 09:00", "2027-02-08 09:00"}},
		{Every{Unit: month, At: "09:00", Day: new(31)}, []string{"2027-01-31 09:00", "2027-02-28 09:00", "2027-03-31 09:00", "2027-04-30 09:00"}},
		{Every{Unit: month, At: "00:00", Day: new(30)}, []string{"2027-02-28 00:00", "2027-03-30 00:00"}},
	} {
		r, faults := rules(nil, &c.every)
		require.Empty(t, faults)
		at := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
		for _, want := range c.want {
			at = r(at)
			require.Equal(t, want, at.Format("2006-01-02 15:04"), c.every.Unit)
		}
	}
}

// What is no schedule, by the field that says so.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		cron  *string
		every *Every
	}{
		{"cron", nil, nil},
		{"cron", new("0 9 * * *"), &Every{Unit: day, At: "09:00"}},
		{"cron", new(""), nil},
		{"cron", new("0 9 * *"), nil},
		{"cron", new("0 0 9 * * *"), nil},
		{"cron", new("@daily"), nil},
		{"cron", new("@every 1h"), nil},
		{"cron", new("TZ=Europe/Berlin 0 9 * * *"), nil},
		{"cron", new("CRON_TZ="), nil},
		{"cron", new("60 9 * * *"), nil},
		{"cron", new("* * * * *"), nil},
		{"cron", new("*/4 * * * *"), nil},
		{"cron", new("0,58 * * * *"), nil},
		{"cron", new("0,58 0,23 1 1 *"), nil},
		{"every.weekdays", nil, &Every{Unit: week, At: "09:00"}},
		{"every.weekdays", nil, &Every{Unit: day, At: "09:00", Weekdays: []string{"mon"}}},
		{"every.day", nil, &Every{Unit: month, At: "09:00"}},
		{"every.day", nil, &Every{Unit: hour, At: "09:00", Day: new(1)}},
		{"every.at", nil, &Every{Unit: day, At: "9"}},
	} {
		_, faults := rules(c.cron, c.every)
		require.Len(t, faults, 1)
		require.Equal(t, c.field, faults[0].Field)
	}
	for _, good := range []string{"*/5 * * * *", "0,55 1,3 * * *", "58 9,11 * * *", "0,58 1,3,5 * * *", "0 9 29 2 *", "0 9 * JAN-MAR MON-FRI"} {
		must(t, good)
	}
}
