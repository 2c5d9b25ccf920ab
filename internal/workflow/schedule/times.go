package schedule

import (
	"errors"
	"slices"
	"time"

	"atrium/internal/platform/apperr"
)

// The bounds of a search: how far it looks ahead, and how far a time moves from a free day.
const (
	horizon  = 5 * 366 * 24 * time.Hour
	maxMoved = 31 // days
)

// What becomes of a planned time on a free day.
const (
	skip           = "SKIP"
	nextWorkingDay = "NEXT_WORKING_DAY"
)

// times are those at which a schedule runs. Immutable.
type times struct {
	rule  rule
	zone  *time.Location
	works func(day time.Time) bool // whether there is working time on a day; nil: on all
	moves bool                     // planned times on free days move to the next day on which there is; otherwise they are left out
}

// after returns the first planned time after a moment; false if there is none in the next five years.
//
// Planned times are those of a clock on the wall of the zone. One that the clock leaps over, where daylight saving begins, comes when it
// has leapt; one that it shows twice comes the first time. So later times on the wall never come earlier, and those that a leap brings
// to one moment are one.
func (t *times) after(at time.Time) (time.Time, bool) {
	wall := onWall(at, t.zone)
	for planned := t.next(wall); !planned.IsZero(); planned = t.next(planned) {
		if moment := momentOf(planned, t.zone); moment.After(at) {
			return moment, true
		}
	}
	return time.Time{}, false
}

// After returns the first time of an Every after a moment, by the clocks of a zone.
func (e *Every) After(at time.Time, zone *time.Location) (time.Time, error) {
	r, faults := e.rule()
	if len(faults) > 0 {
		return time.Time{}, apperr.Invalid(faults...)
	}
	t := &times{rule: r, zone: zone}
	next, ok := t.after(at)
	if !ok {
		return time.Time{}, errors.New("there is no time within five years")
	}
	return next, nil
}

// next returns the first planned time after another on the wall, as the calendar has it; the zero time if there is none.
func (t *times) next(wall time.Time) time.Time {
	switch {
	case t.works == nil:
		return t.rule(wall)
	case t.moves:
		return t.moved(wall)
	}
	for planned := t.rule(wall); !planned.IsZero() && planned.Sub(wall) < horizon; planned = t.from(dayOf(planned).AddDate(0, 0, 1)) {
		if t.works(dayOf(planned)) {
			return planned
		}
	}
	return time.Time{}
}

// from returns the first time of the rule at or after a time.
func (t *times) from(wall time.Time) time.Time { return t.rule(wall.Add(-time.Nanosecond)) }

// moved is next where the times of free days move. A working day has its own times and those of the free days right before it, in the
// order of the day.
func (t *times) moved(wall time.Time) time.Time {
	first := dayOf(wall)
	for i := 0; i < maxMoved && !t.works(first.AddDate(0, 0, -1)); i++ {
		first = first.AddDate(0, 0, -1)
	}
	for planned := t.from(first); !planned.IsZero() && planned.Sub(wall) < horizon; planned = t.from(first) {
		to, ok := t.workingDay(dayOf(planned))
		if !ok {
			first = dayOf(planned).AddDate(0, 0, 1)
			continue
		}
		end := to.AddDate(0, 0, 1)
		var clocks []time.Duration
		for ; !planned.IsZero() && planned.Before(end); planned = t.rule(planned) {
			if clock := planned.Sub(dayOf(planned)); to.Add(clock).After(wall) {
				clocks = append(clocks, clock)
			}
		}
		if len(clocks) > 0 {
			return to.Add(slices.Min(clocks))
		}
		first = end
	}
	return time.Time{}
}

// workingDay returns the first day from one on that has working time; false if that is too far to move a time to.
func (t *times) workingDay(day time.Time) (time.Time, bool) {
	for range maxMoved + 1 {
		if t.works(day) {
			return day, true
		}
		day = day.AddDate(0, 0, 1)
	}
	return day, false
}

// dayOf returns the beginning of a day on the wall.
func dayOf(wall time.Time) time.Time { return wall.Truncate(24 * time.Hour) }

// onWall returns what a clock on the wall of a zone shows at a moment, as if it were UTC.
func onWall(at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// momentOf returns when the clock on the wall of a zone first shows a time, or when it has leapt over it.
func momentOf(wall time.Time, zone *time.Location) time.Time {
	year, m, d := wall.Date()
	near := time.Date(year, m, d, wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone) // right, or beside a change
	start, end := near.ZoneBounds()
	var first time.Time
	for _, within := range []time.Time{start.Add(-time.Second), near, end} { // the offset before, this one, the one after
		_, offset := within.In(zone).Zone()
		moment := wall.Add(-time.Duration(offset) * time.Second)
		if onWall(moment, zone).Equal(wall) && (first.IsZero() || moment.Before(first)) {
			first = moment
		}
	}
	switch {
	case !first.IsZero():
		return first
	case onWall(near, zone).After(wall):
		return start.UTC()
	}
	return end.UTC()
}
