package period

import (
	"slices"
	"time"
)

// Step is a day, a week or a month of a period in a time zone.
type Step struct {
	Key   string // its first day, as YYYY-MM-DD
	Begin int64  // its first moment, in microseconds since 1970; that of the first may lie before the period
}

// Steps returns the days, weeks or months of a period in a zone, in order; those at its ends may reach beyond it. A day has 23 or 25 hours
// where the clocks change, and none where the zone skipped it. by is "day", "week" or "month".
func Steps(by string, from, to time.Time, zone *time.Location) []Step {
	from = from.In(zone)
	y, m, d := from.Date()
	days, months := 1, 0
	switch by {
	case "week":
		d -= (int(from.Weekday()) + 6) % 7
		days = 7
	case "month":
		d, days, months = 1, 0, 1
	}
	var out []Step
	for {
		date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		begin := dayBegins(date, zone)
		if !begin.Before(to) {
			return out
		}
		if n := len(out); n > 0 && out[n-1].Begin == begin.UnixMicro() {
			out = out[:n-1] // a day that the zone skipped
		}
		out = append(out, Step{date.Format(time.DateOnly), begin.UnixMicro()})
		d, m = d+days, m+time.Month(months)
	}
}

// StepAt returns the index of the step in which a moment lies; -1 for a moment before the first.
func StepAt(steps []Step, micros int64) int {
	n, found := slices.BinarySearchFunc(steps, micros, func(s Step, at int64) int {
		switch {
		case s.Begin < at:
			return -1
		case s.Begin > at:
			return 1
		}
		return 0
	})
	if found {
		return n
	}
	return n - 1
}

// dayBegins returns the first moment of a date in a zone, which is not midnight where the clocks are put forward then.
func dayBegins(date time.Time, zone *time.Location) time.Time {
	y, m, d := date.Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	change, next := t.ZoneBounds()
	if local := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC); !local.Equal(date) {
		if local.Before(date) { // midnight was skipped: t is on one side of the change, or on the other
			return next
		}
		return change
	}
	if change.IsZero() {
		return t
	}
	_, offset := t.Zone()
	_, was := change.Add(-1).Zone()
	if earlier := t.Add(time.Duration(offset-was) * time.Second); earlier.Before(change) && earlier.Before(t) {
		return earlier // midnight came twice
	}
	return t
}

// Before returns the beginning of the period of the same length before a period. Where both ends are at the same time of the day in the
// zone, the length is one of days, whichever of them have 23 hours.
func Before(from, to time.Time, zone *time.Location) time.Time {
	f, t := from.In(zone), to.In(zone)
	date := func(t time.Time) time.Time { y, m, d := t.Date(); return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	sinceMidnight := func(t time.Time) time.Duration {
		h, m, s := t.Clock()
		return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
	}
	days := int(date(t).Sub(date(f)) / (24 * time.Hour))
	if days == 0 || sinceMidnight(f) != sinceMidnight(t) {
		return from.Add(-to.Sub(from))
	}
	return f.AddDate(0, 0, -days).UTC()
}
