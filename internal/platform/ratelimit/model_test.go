package ratelimit_test

import (
	"time"

	"atrium/internal/platform/ratelimit"
)

// model is the simplest implementation of the specification: it keeps all allowed calls of one key and looks through all of
// them.
type model struct {
	calls []time.Time
}

// keyTime returns now, or the time of the newest allowed call if that is later.
func (m *model) keyTime(now time.Time) time.Time {
	for _, call := range m.calls {
		if call.After(now) {
			now = call
		}
	}
	return now
}

func utcDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// counted returns the calls in the minute and the number of calls on the day, at the key's time at.
func (m *model) counted(at time.Time) (minute []time.Time, day int) {
	for _, call := range m.calls {
		if at.Sub(call) < time.Minute {
			minute = append(minute, call)
		}
		if utcDay(call) == utcDay(at) {
			day++
		}
	}
	return minute, day
}

func (m *model) fits(l ratelimit.Limit, now time.Time) bool {
	minute, day := m.counted(m.keyTime(now))
	return len(minute) < l.PerMinute && day < l.PerDay
}

func nextMidnight(t time.Time) time.Time {
	year, month, day := t.UTC().Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
}

// take is the expected answer of Limiter.Take under a limit that allows something.
func (m *model) take(l ratelimit.Limit, now time.Time) ratelimit.Result {
	at := m.keyTime(now)
	res := ratelimit.Result{Limit: l, Allowed: m.fits(l, now)}
	if res.Allowed {
		m.calls = append(m.calls, at)
	}
	minute, day := m.counted(at)
	res.MinuteRemaining = max(0, l.PerMinute-len(minute))
	res.DayRemaining = max(0, l.PerDay-day)
	res.MinuteReset = time.Minute
	if len(minute) > 0 {
		res.MinuteReset = min(minute[0].Add(time.Minute).Sub(now), time.Minute)
	}
	res.DayReset = min(nextMidnight(at).Sub(now), 24*time.Hour)
	if !res.Allowed {
		res.RetryAfter = max(m.firstFit(l, now).Sub(now), time.Second)
	}
	return res
}

// firstFit returns the first time from now on at which a call would be allowed. That can change only when a call leaves the
// minute or a day begins.
func (m *model) firstFit(l ratelimit.Limit, now time.Time) time.Time {
	var first time.Time
	try := func(t time.Time) {
		if !t.Before(now) && m.fits(l, t) && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	try(nextMidnight(now))
	try(nextMidnight(m.keyTime(now)))
	for _, call := range m.calls {
		try(call.Add(time.Minute))
	}
	return first
}
