package sla

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// Working time is counted in whole seconds: hours begin and end at whole minutes of a local clock, and clocks change at whole seconds.
// A function of the time says how many working seconds have passed since some beginning. Differences of it are durations, and
// its inverse finds due times. Both take a few binary searches, however long the calendar is and however seldom it works.

const daySeconds = 24 * 60 * 60

// span is a stretch of a day, in minutes.
type span struct{ from, to int16 }

// lengthOf returns the seconds in the spans of a day.
func lengthOf(day []span) (sum int64) {
	for _, s := range day {
		sum += int64(s.to-s.from) * 60
	}
	return sum
}

// local sums up working seconds by a local clock that never changes. Its times are seconds since 1970-01-01 00:00 by that clock.
type local struct {
	week   [7][]span
	before [8]int64 // working seconds of a week before each weekday, from Sunday on; the last are those of the whole week
	days   []ownDay // in order
}

// ownDay is a day whose hours differ from its weekday's.
type ownDay struct {
	day        int64 // since 1970-01-01
	spans      []span
	start, end int64 // working seconds that have passed when it begins and when it ends
}

func localOf(week [7][]span, own map[int64][]span) local {
	l := local{week: week, days: make([]ownDay, 0, len(own))}
	for day, spans := range week {
		l.before[day+1] = l.before[day] + lengthOf(spans)
	}
	for day, spans := range own {
		l.days = append(l.days, ownDay{day: day, spans: spans})
	}
	slices.SortFunc(l.days, func(a, b ownDay) int { return cmp.Compare(a.day, b.day) })
	for i := range l.days {
		d := &l.days[i]
		d.start = l.usual(d.day) + l.shift(i)
		d.end = d.start + lengthOf(d.spans)
	}
	return l
}

// usual returns the working seconds before a day if every day had the hours of its weekday. They are negative before 1970.
func (l *local) usual(day int64) int64 {
	weeks, weekday := divide(day+int64(time.Thursday), 7) // day 0 was a Thursday
	return weeks*l.before[7] + l.before[weekday]
}

// shift returns what the first n own days add to the usual working seconds after them.
func (l *local) shift(n int) int64 {
	if n == 0 {
		return 0
	}
	last := &l.days[n-1]
	return last.end - l.usual(last.day+1)
}

// passed returns the working seconds that have passed at a time.
func (l *local) passed(at int64) int64 {
	day, second := divide(at, daySeconds)
	i := sort.Search(len(l.days), func(i int) bool { return l.days[i].day >= day })
	if i < len(l.days) && l.days[i].day == day {
		return l.days[i].start + passedIn(l.days[i].spans, second)
	}
	_, weekday := divide(day+int64(time.Thursday), 7)
	return l.usual(day) + l.shift(i) + passedIn(l.week[weekday], second)
}

// when returns the first time at which so many working seconds have passed; false for never.
func (l *local) when(passed int64) (int64, bool) {
	i := sort.Search(len(l.days), func(i int) bool { return l.days[i].start >= passed })
	if i > 0 && passed <= l.days[i-1].end {
		own := &l.days[i-1]
		return own.day*daySeconds + whenIn(own.spans, passed-own.start), true
	}
	if l.before[7] == 0 {
		return 0, false
	}
	weeks, rest := divide(passed-l.shift(i)-1, l.before[7]) // rest+1 seconds of the week have passed
	weekday := sort.Search(6, func(day int) bool { return l.before[day+1] > rest })
	day := weeks*7 + int64(weekday) - int64(time.Thursday)
	return day*daySeconds + whenIn(l.week[weekday], rest+1-l.before[weekday]), true
}

// passedIn returns the working seconds of a day that have passed at a second of it.
func passedIn(day []span, second int64) (sum int64) {
	for _, s := range day {
		from, to := int64(s.from)*60, int64(s.to)*60
		if second <= from {
			break
		}
		sum += min(second, to) - from
	}
	return sum
}

// whenIn returns the second of a day at which so many of its working seconds have passed, at least one.
func whenIn(day []span, passed int64) int64 {
	for _, s := range day {
		length := int64(s.to-s.from) * 60
		if passed <= length {
			return int64(s.from)*60 + passed
		}
		passed -= length
	}
	return daySeconds
}

// divide returns the quotient, rounded down, and the rest, which is not negative.
func divide(a, by int64) (quotient, rest int64) {
	quotient, rest = a/by, a%by
	if rest < 0 {
		quotient, rest = quotient-1, rest+by
	}
	return quotient, rest
}

// era is a time in which the offset of a zone does not change. An hour that the clock skips does not count, and an hour that it
// shows twice counts twice.
type era struct {
	start  int64 // seconds since 1970-01-01 UTC
	offset int64 // of the local clock, in seconds
	passed int64 // working seconds when it begins
	shift  int64 // what it adds to the working seconds by the local clock
}

// Most times lie between these, for which each calendar keeps its eras.
var (
	windowStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	windowEnd   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// around returns the eras of the twenty years after t.
func (c *Calendar) around(t time.Time) []era {
	if end := t.Add(horizon); t.Before(windowStart) || end.After(windowEnd) {
		return c.erasOf(t, end)
	}
	return c.eras
}

// erasOf returns the eras from a time to another.
func (c *Calendar) erasOf(from, to time.Time) []era {
	var list []era
	for at := from; !at.After(to); at = changeAfter(at.In(c.zone)) {
		_, offset := at.In(c.zone).Zone()
		e := era{start: at.Unix(), offset: int64(offset)}
		e.passed = c.local.passed(e.start + e.offset)
		if n := len(list); n > 0 {
			before := &list[n-1]
			if before.offset == e.offset {
				continue
			}
			e.shift = before.shift + c.local.passed(e.start+before.offset) - e.passed
			e.passed += e.shift
		}
		list = append(list, e)
	}
	return list
}

// changeAfter returns a time after t up to which the offset of its zone does not change.
func changeAfter(t time.Time) time.Time {
	_, change := t.ZoneBounds()
	if change.IsZero() {
		return t.Add(2 * horizon) // it never does again
	}
	if !change.After(t) { // package time takes the 31st of December for the end of its leap year where the zone's rules go on for ever
		return t.Add(24 * time.Hour)
	}
	return change
}

// passed returns the working seconds that have passed at t, and how much of the next one has.
func (c *Calendar) passed(eras []era, t time.Time) (whole int64, part time.Duration) {
	at := t.Unix()
	e := eras[max(0, sort.Search(len(eras), func(i int) bool { return eras[i].start > at })-1)]
	whole = e.shift + c.local.passed(at+e.offset)
	if nanos := t.Nanosecond(); nanos > 0 && e.shift+c.local.passed(at+1+e.offset) > whole {
		part = time.Duration(nanos)
	}
	return whole, part
}

// when returns the first second at which so many working seconds have passed; false for never.
func (c *Calendar) when(eras []era, passed int64) (int64, bool) {
	i := sort.Search(len(eras), func(i int) bool { return eras[i].passed >= passed })
	e := eras[max(0, i-1)]
	at, ok := c.local.when(passed - e.shift)
	return at - e.offset, ok
}
