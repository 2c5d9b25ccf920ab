package sla_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/desk/sla"
)

const twentyYears = 20 * 366 * 24 * time.Hour

// walk is a calendar that goes from day to day: what the sums must equal.
type walk struct {
	zone *time.Location
	week [7][]sla.Hours
	days map[string][]sla.Hours
}

func walkOf(t require.TestingT, zone string, hours []sla.Hours, holidays []string, exceptions []sla.Exception) walk {
	loc, err := time.LoadLocation(zone)
	require.NoError(t, err)
	w := walk{zone: loc, days: map[string][]sla.Hours{}}
	for _, day := range holidays {
		w.days[day] = nil
	}
	for _, e := range exceptions {
		w.days[e.Date] = merged(e.Hours)
	}
	for day := range w.week {
		if hours == nil {
			w.week[day] = []sla.Hours{{To: 24 * 60}}
			continue
		}
		w.week[day] = merged(slices.DeleteFunc(slices.Clone(hours), func(h sla.Hours) bool { return h.Day != time.Weekday(day) }))
	}
	return w
}

// merged sorts hours and joins those that overlap or touch.
func merged(list []sla.Hours) (out []sla.Hours) {
	list = slices.SortedFunc(slices.Values(list), func(a, b sla.Hours) int { return a.From - b.From })
	for _, h := range list {
		if n := len(out); n > 0 && h.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, h.To)
			continue
		}
		out = append(out, h)
	}
	return out
}

// stretches yields the intervals of working time in the twenty years after t, in order; the first may begin at t. It goes through
// parts of local days in which the zone's offset does not change.
func (w walk) stretches(t time.Time) func(yield func(from, to time.Time) bool) {
	return func(yield func(from, to time.Time) bool) {
		for limit := t.Add(twentyYears); !t.After(limit); {
			local := t.In(w.zone)
			y, m, d := local.Date()
			_, offset := local.Zone()
			midnight := time.Date(y, m, d, 0, 0, -offset, 0, time.UTC)
			end := midnight.Add(24 * time.Hour)
			if _, change := local.ZoneBounds(); change.After(t) && change.Before(end) { // in leap years it may say a time before t
				end = change
			}
			hours, own := w.days[local.Format(time.DateOnly)]
			if !own {
				hours = w.week[local.Weekday()]
			}
			for _, h := range hours {
				from, to := midnight.Add(time.Duration(h.From)*time.Minute), midnight.Add(time.Duration(h.To)*time.Minute)
				if from.Before(t) {
					from = t
				}
				if to.After(end) {
					to = end
				}
				if from.Before(to) && !yield(from, to) {
					return
				}
			}
			t = end
		}
	}
}

// add returns when d of working time has passed; false when that takes more than twenty years.
func (w walk) add(t time.Time, d time.Duration) (time.Time, bool) {
	for from, to := range w.stretches(t) {
		if length := to.Sub(from); d > length {
			d -= length
			continue
		}
		at := from.Add(d)
		return at, !at.After(t.Add(twentyYears))
	}
	return time.Time{}, false
}

func (w walk) next(t time.Time) (time.Time, bool) {
	for from := range w.stretches(t) {
		return from, !from.After(t.Add(twentyYears))
	}
	return time.Time{}, false
}

func (w walk) between(t, to time.Time) (sum time.Duration) {
	if limit := t.Add(twentyYears); to.After(limit) {
		to = limit
	}
	for from, end := range w.stretches(t) {
		if !from.Before(to) {
			break
		}
		sum += min(end.Sub(from), to.Sub(from))
	}
	return sum
}

// zones change their clocks at unusual hours, by unusual lengths, at midnight, over a whole day, four times a year, or never.
var zones = []string{
	"UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Havana", "America/Sao_Paulo", "Africa/Casablanca",
	"Asia/Kathmandu", "Asia/Gaza", "Australia/Lord_Howe", "Pacific/Apia", "Antarctica/Troll", "Pacific/Chatham",
}

func drawHours(t *rapid.T, label string) sla.Hours {
	from := rapid.IntRange(0, 1439).Draw(t, label+" from")
	return sla.Hours{
		Day: time.Weekday(rapid.IntRange(0, 6).Draw(t, label+" day")), From: from, To: rapid.SampledFrom([]int{from + 1, min(from+90, 1440), 1440}).Draw(t, label+" to"),
	}
}

// drawCalendar draws a calendar and its walk: all hours, hours of a few days, a minute a week or none but those of exceptions.
func drawCalendar(t *rapid.T, near time.Time) (*sla.Calendar, walk, string) {
	zone := rapid.SampledFrom(zones).Draw(t, "zone")
	loc, err := time.LoadLocation(zone)
	require.NoError(t, err)
	hours := map[string][]sla.Hours{
		"all": nil, "none": {}, "all, named": {{Day: 0, To: 1440}, {Day: 1, To: 1440}, {Day: 2, To: 1440}, {Day: 3, To: 1440}, {Day: 4, To: 1440}, {Day: 5, To: 1440}, {Day: 6, To: 1440}},
		"a minute": {drawHours(t, "week")}, "some": rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sla.Hours { return drawHours(t, "week") }), 0, 12).Draw(t, "hours"),
	}[rapid.SampledFrom([]string{"all", "none", "all, named", "a minute", "some"}).Draw(t, "week")]
	day := func(label string) string {
		return near.In(loc).AddDate(0, 0, rapid.OneOf(rapid.IntRange(-4, 12), rapid.IntRange(-300, 7000)).Draw(t, label)).Format(time.DateOnly)
	}
	var holidays []string
	for range rapid.SampledFrom([]int{0, 1, 30}).Draw(t, "holidays") {
		holidays = append(holidays, day("holiday"))
	}
	var exceptions []sla.Exception
	for range rapid.SampledFrom([]int{0, 1, 5, 40}).Draw(t, "exceptions") {
		exceptions = append(exceptions, sla.Exception{Date: day("exception"), Hours: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sla.Hours { return drawHours(t, "own") }), 0, 4).Draw(t, "own")})
	}
	c, err := sla.New(zone, hours, holidays, exceptions...)
	require.NoError(t, err)
	return c, walkOf(t, zone, hours, holidays, exceptions), fmt.Sprintf("%s %v, holidays %v, exceptions %v", zone, hours, holidays, exceptions)
}

// Whatever the calendar, the sums find the times that the walk finds, to the nanosecond, near changes of clocks and in other centuries too.
func TestAgreesWithAWalkFromDayToDay(t *testing.T) {
	t.Parallel()
	starts := []string{
		"2026-03-07T00:00:00Z", "2026-03-28T00:00:00Z", "2026-04-04T00:00:00Z", "2026-10-03T00:00:00Z", "2026-10-24T00:00:00Z", "2026-11-01T00:00:00Z",
		"2011-12-29T00:00:00Z", "2017-10-14T00:00:00Z", "1999-12-30T00:00:00Z", "2079-12-12T00:00:00Z", "2099-12-30T00:00:00Z", "1969-12-30T00:00:00Z", "1883-11-17T00:00:00Z", "0003-01-01T00:00:00Z", "9979-12-30T00:00:00Z",
	}
	rapid.Check(t, func(t *rapid.T) {
		start, err := time.Parse(time.RFC3339, rapid.SampledFrom(starts).Draw(t, "start"))
		require.NoError(t, err)
		c, w, said := drawCalendar(t, start)
		for range 3 {
			from := start.Add(time.Duration(rapid.IntRange(0, 4*24*60).Draw(t, "minutes"))*time.Minute + time.Duration(rapid.SampledFrom([]int{0, 1, 30e9, 59999999999}).Draw(t, "nanos")))
			d := time.Duration(rapid.OneOf(rapid.IntRange(1, 3000), rapid.SampledFrom([]int{1440, 525600})).Draw(t, "target"))*time.Minute - time.Duration(rapid.SampledFrom([]int{0, 1, 5e8}).Draw(t, "less"))
			at, err := c.Add(from, d)
			want, ok := w.add(from, d)
			require.Equal(t, ok, err == nil, "%s after %s: %s", d, from, said)
			if ok {
				require.Equal(t, want.UTC(), at, "%s after %s: %s", d, from, said)
			}
			at, err = c.Next(from)
			want, ok = w.next(from)
			require.Equal(t, ok, err == nil, "after %s: %s", from, said)
			if ok {
				require.Equal(t, want.UTC(), at, "after %s: %s", from, said)
			}
			to := from.Add(time.Duration(rapid.IntRange(-1e12, 1e15).Draw(t, "between")))
			require.Equal(t, w.between(from, to), c.Between(from, to), "from %s to %s: %s", from, to, said)
		}
	})
}

// dear is the calendar that is dearest to walk: one minute a week, and a thousand days with hours of their own.
func dear(t testing.TB) *sla.Calendar {
	var exceptions []sla.Exception
	for i := range 1000 {
		hours := make([]sla.Hours, 24)
		for h := range hours {
			hours[h] = sla.Hours{From: h * 60, To: h*60 + 1}
		}
		exceptions = append(exceptions, sla.Exception{Date: at(t, "2100-01-01T00:00:00Z").AddDate(0, 0, i).Format(time.DateOnly), Hours: hours})
	}
	c, err := sla.New("Africa/Casablanca", []sla.Hours{{Day: time.Monday, From: 0, To: 1}}, nil, exceptions...)
	require.NoError(t, err)
	return c
}

// A due time costs the same whatever the calendar and however far it lies: it allocates nothing, and the dearest takes at most twenty times
// as long as one of an office, in the same run (BenchmarkAdd: 0.7 to 0.9 µs of the 20 µs that it may take). Going from day to day takes some
// thousand times as long.
func TestTargetsCostTheSameOnEachCalendar(t *testing.T) {
	now, usual, most := at(t, "2026-05-04T09:00:00Z"), office(t, "Europe/Berlin"), dear(t)
	least := func(c *sla.Calendar, minutes int) time.Duration {
		best := time.Hour
		for range 50 { // in the best of them no other process had the processor
			began := time.Now()
			for range 100 {
				_, _ = c.Add(now, time.Duration(minutes)*time.Minute)
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	for _, minutes := range []int{1, 1000, 525600} {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = most.Add(now, time.Duration(minutes)*time.Minute) }))
		require.Less(t, least(most, minutes), 20*least(usual, minutes), "%d minutes", minutes)
	}
}

func BenchmarkAdd(b *testing.B) {
	c, now := dear(b), at(b, "2026-05-04T09:00:00Z")
	for name, minutes := range map[string]int{"near": 1, "in 19 years": 1000, "never": 525600} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = c.Add(now, time.Duration(minutes)*time.Minute)
			}
		})
	}
}
