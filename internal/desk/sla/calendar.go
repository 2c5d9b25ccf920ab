package sla

import (
	"errors"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // the zones are the same wherever the product runs
)

// maxDays bounds how far a calendar looks ahead: twenty years.
const maxDays = 20 * 366

// ErrNoWork is returned when a calendar has too little working time in the twenty years after a time.
var ErrNoWork = errors.New("the calendar has no working time left in the next twenty years")

// Hours are working hours on one weekday, in minutes of the local day from 0 to 1440. From is included, To is not.
type Hours struct {
	Day      time.Weekday
	From, To int
}

// Calendar holds the working hours of a company. Immutable; safe for concurrent use.
type Calendar struct {
	zone   *time.Location
	week   [7][]Hours         // sorted, without overlaps
	days   map[string][]Hours // days that differ from their weekday: holidays have no hours, exceptions their own
	always bool               // all time is working time
}

// always is the calendar without any hours, holidays or exceptions: all time counts.
var always = &Calendar{zone: time.UTC, always: true}

// Exception replaces the hours of one day; without Hours, the day has no working time. An exception overrides a holiday.
type Exception struct {
	Date  string  // YYYY-MM-DD
	Hours []Hours // Day is ignored
}

// New returns a calendar. With nil hours, all hours of all days except holidays are working time; with an empty list, only those of
// exceptions are. Returns an error for a zone that the IANA database lacks, for hours outside a day, and for a date that is not YYYY-MM-DD.
func New(zone string, hours []Hours, holidays []string, exceptions ...Exception) (*Calendar, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("load the zone: %w", err)
	}
	c := &Calendar{zone: loc, days: make(map[string][]Hours, len(holidays)+len(exceptions)), always: hours == nil && len(holidays)+len(exceptions) == 0}
	for _, day := range holidays {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return nil, fmt.Errorf("read a holiday: %w", err)
		}
		c.days[day] = nil
	}
	for _, e := range exceptions {
		if _, err := time.Parse(time.DateOnly, e.Date); err != nil {
			return nil, fmt.Errorf("read an exception: %w", err)
		}
		for _, h := range e.Hours {
			if err := h.check(); err != nil {
				return nil, err
			}
		}
		c.days[e.Date] = merged(slices.Clone(e.Hours))
	}
	if hours == nil {
		for day := range c.week {
			c.week[day] = []Hours{{time.Weekday(day), 0, 24 * 60}}
		}
	}
	for _, h := range hours {
		if err := h.check(); err != nil {
			return nil, err
		}
		c.week[h.Day] = append(c.week[h.Day], h)
	}
	for day := range c.week {
		c.week[day] = merged(c.week[day])
	}
	return c, nil
}

func (h Hours) check() error {
	if h.From < 0 || h.To > 24*60 || h.From >= h.To || h.Day < time.Sunday || h.Day > time.Saturday {
		return fmt.Errorf("hours from %d to %d on day %d are none", h.From, h.To, h.Day)
	}
	return nil
}

// merged sorts hours and joins those that overlap or touch.
func merged(list []Hours) []Hours {
	slices.SortFunc(list, func(a, b Hours) int { return a.From - b.From })
	var out []Hours
	for _, h := range list {
		if n := len(out); n > 0 && h.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, h.To)
			continue
		}
		out = append(out, h)
	}
	return out
}

// Add returns the time at which d of working time has passed since t. Returns ErrNoWork when there is none.
func (c *Calendar) Add(t time.Time, d time.Duration) (time.Time, error) {
	if c.always || d <= 0 {
		return t.Add(max(d, 0)), nil
	}
	for from, to := range c.stretches(t) {
		length := to.Sub(from)
		if d <= length {
			return from.Add(d).In(t.Location()), nil
		}
		d -= length
	}
	return time.Time{}, ErrNoWork
}

// Next returns the first time at or after t that is working time. Returns ErrNoWork when there is none.
func (c *Calendar) Next(t time.Time) (time.Time, error) {
	if c.always {
		return t, nil
	}
	for from := range c.stretches(t) {
		return from.In(t.Location()), nil
	}
	return time.Time{}, ErrNoWork
}

// Between returns the working time between two times; 0 when to is not after from.
func (c *Calendar) Between(from, to time.Time) time.Duration {
	if c.always {
		return max(to.Sub(from), 0)
	}
	var sum time.Duration
	for begin, end := range c.stretches(from) {
		if !begin.Before(to) {
			break
		}
		if end.After(to) {
			end = to
		}
		sum += end.Sub(begin)
	}
	return sum
}

// stretches yields the intervals of working time after t, in order; the first may begin at t.
//
// It goes through parts of local days in which the zone's offset does not change. An interval covers the time at which the
// local clock shows it: an hour that the clock skips does not count, and an hour that the clock shows twice counts twice.
func (c *Calendar) stretches(t time.Time) func(yield func(from, to time.Time) bool) {
	return func(yield func(from, to time.Time) bool) {
		for range maxDays {
			local := t.In(c.zone)
			y, m, d := local.Date()
			_, offset := local.Zone()
			midnight := time.Date(y, m, d, 0, 0, -offset, 0, time.UTC)
			end := midnight.Add(24 * time.Hour)
			if _, change := local.ZoneBounds(); !change.IsZero() && change.Before(end) {
				end = change
			}
			for _, h := range c.hours(local) {
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

// hours returns the working hours of the local day.
func (c *Calendar) hours(local time.Time) []Hours {
	if len(c.days) > 0 {
		if own, ok := c.days[local.Format(time.DateOnly)]; ok {
			return own
		}
	}
	return c.week[local.Weekday()]
}
