package sla

import (
	"errors"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // the zones are the same wherever the product runs
)

// horizon bounds how far a calendar looks ahead: twenty years.
const horizon = 20 * 366 * 24 * time.Hour

// ErrNoWork is returned when a calendar has too little working time in the twenty years after a time.
var ErrNoWork = errors.New("the calendar has no working time left in the next twenty years")

// Hours are working hours on one weekday, in minutes of the local day from 0 to 1440. From is included, To is not.
type Hours struct {
	Day      time.Weekday
	From, To int
}

// Calendar holds the working hours of a company, summed up. Immutable; safe for concurrent use.
type Calendar struct {
	zone   *time.Location
	local  local
	eras   []era // from the year 2000 to 2100
	always bool  // all time is working time
}

// Always is the calendar without any hours, holidays or exceptions: all time counts.
var Always = &Calendar{zone: time.UTC, always: true}

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
	c := &Calendar{zone: loc, always: hours == nil && len(holidays)+len(exceptions) == 0}
	days := make(map[int64][]span, len(holidays)+len(exceptions))
	for _, day := range holidays {
		date, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return nil, fmt.Errorf("read a holiday: %w", err)
		}
		days[date.Unix()/daySeconds] = nil
	}
	for _, e := range exceptions {
		date, err := time.Parse(time.DateOnly, e.Date)
		if err != nil {
			return nil, fmt.Errorf("read an exception: %w", err)
		}
		own, err := spansOf(e.Hours)
		if err != nil {
			return nil, err
		}
		days[date.Unix()/daySeconds] = own
	}
	var week [7][]Hours
	for _, h := range hours {
		if h.Day < time.Sunday || h.Day > time.Saturday {
			return nil, h.none()
		}
		week[h.Day] = append(week[h.Day], h)
	}
	var spans [7][]span
	for day := range week {
		if hours == nil {
			week[day] = []Hours{{time.Weekday(day), 0, 24 * 60}}
		}
		if spans[day], err = spansOf(week[day]); err != nil {
			return nil, err
		}
	}
	c.local = localOf(spans, days)
	c.eras = c.erasOf(windowStart, windowEnd)
	return c, nil
}

func (h Hours) none() error {
	return fmt.Errorf("hours from %d to %d on day %d are none", h.From, h.To, h.Day)
}

// spansOf checks and sorts hours of one day, and joins those that overlap or touch.
func spansOf(list []Hours) ([]span, error) {
	list = slices.SortedFunc(slices.Values(list), func(a, b Hours) int { return a.From - b.From })
	var out []span
	for _, h := range list {
		if h.From < 0 || h.To > 24*60 || h.From >= h.To {
			return nil, h.none()
		}
		if n := len(out); n > 0 && h.From <= int(out[n-1].to) {
			out[n-1].to = max(out[n-1].to, int16(h.To))
			continue
		}
		out = append(out, span{int16(h.From), int16(h.To)})
	}
	return slices.Clip(out), nil
}

// Zone returns the time zone in which its days are.
func (c *Calendar) Zone() *time.Location { return c.zone }

// Add returns the time at which d of working time has passed since t. Returns ErrNoWork when that takes more than twenty years.
func (c *Calendar) Add(t time.Time, d time.Duration) (time.Time, error) {
	if c.always || d <= 0 {
		return t.Add(max(d, 0)), nil
	}
	if d > horizon {
		return time.Time{}, ErrNoWork
	}
	eras := c.around(t)
	passed, part := c.passed(eras, t)
	d += part
	whole := int64((d + time.Second - 1) / time.Second) // counted up to a whole second, and back by what that is too far
	sec, ok := c.when(eras, passed+whole)
	return found(t, time.Unix(sec, 0).Add(d-time.Duration(whole)*time.Second), ok)
}

// Next returns the first time at or after t that is working time. Returns ErrNoWork when there is none in twenty years.
func (c *Calendar) Next(t time.Time) (time.Time, error) {
	if c.always {
		return t, nil
	}
	eras := c.around(t)
	passed, _ := c.passed(eras, t)
	sec, ok := c.when(eras, passed+1)
	at := time.Unix(sec-1, 0)
	if at.Before(t) {
		at = t
	}
	return found(t, at, ok)
}

// Between returns the working time between two times; 0 when to is not after from. It counts that of twenty years at most.
func (c *Calendar) Between(from, to time.Time) time.Duration {
	if c.always {
		return max(to.Sub(from), 0)
	}
	if end := from.Add(horizon); to.After(end) {
		to = end
	}
	if !from.Before(to) {
		return 0
	}
	eras := c.around(from)
	begin, before := c.passed(eras, from)
	end, part := c.passed(eras, to)
	return time.Duration(end-begin)*time.Second + part - before
}

// Works reports whether a day of the calendar, whose date is that of a time in UTC, has working time.
func (c *Calendar) Works(date time.Time) bool {
	day, _ := divide(date.Unix(), daySeconds)
	return c.always || c.local.passed((day+1)*daySeconds) > c.local.passed(day*daySeconds)
}

// found returns what was found after t, in the zone of t, if it lies no more than twenty years after t.
func found(t, at time.Time, ok bool) (time.Time, error) {
	if !ok || at.After(t.Add(horizon)) {
		return time.Time{}, ErrNoWork
	}
	return at.In(t.Location()), nil
}
