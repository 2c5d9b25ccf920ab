package ratelimit

import (
	"context"
	"errors"
	"time"
)

// Limiter counts the calls of each key. Safe for concurrent use; the counts stay exact.
type Limiter interface {
	// Take asks for one call of key at now under l, and counts it when it is allowed. The limit may differ from call to call
	// (after a change of plan): calls already counted count against the new limit.
	//
	// Returns an error and no decision when key is empty, when now is not after 1970, when a store is unreachable, or when ctx
	// ends first; the caller then answers 503. A call that failed like this may have been counted.
	Take(ctx context.Context, key string, l Limit, now time.Time) (Result, error)

	// TakeMany asks for n calls at once, n ≥ 1, for a call that costs as much as several. Either all n are counted or none.
	// More calls than a limit allows in a whole window are never allowed.
	TakeMany(ctx context.Context, key string, l Limit, now time.Time, n int) (Result, error)
}

var (
	errNoKey  = errors.New("ratelimit: a call without a key")
	errNoTime = errors.New("ratelimit: a call without a time")
	errNoCall = errors.New("ratelimit: fewer than one call")
)

// The windows, in microseconds like all times inside this package. Microseconds fit a float64, the only number type of Redis
// scripts and scores, until the year 2255.
const (
	window = int64(time.Minute / time.Microsecond)
	day    = int64(24 * time.Hour / time.Microsecond)
)

// instant checks the arguments of a call and returns now in microseconds since 1970.
func instant(key string, now time.Time, n int) (int64, error) {
	if key == "" {
		return 0, errNoKey // an empty key would count all callers together
	}
	if n < 1 {
		return 0, errNoCall
	}
	at := now.UnixMicro()
	if at <= 0 {
		return 0, errNoTime
	}
	return at, nil
}

// counts holds the counts that the result of n calls is computed from.
type counts struct {
	given    int64 // the caller's now
	at       int64 // the key's time: given, or the time of the newest counted call if that is later
	n        int   // requested calls
	minute   int   // calls in (at-window, at], including the n calls if they were allowed
	oldest   int64 // time of the first of them; valid only when minute > 0
	blocking int64 // time of the call that has to leave the minute before n more fit; valid only when the minute has no room for n
	day      int   // calls in the day of at, including the n calls if they were allowed
}

func (r counts) result(allowed bool, l Limit) Result {
	// Waits count from the caller's now. If now is behind the key's time by more than a window, the clock was set back, and the
	// store catches up within the window.
	now := r.at - min(r.at-r.given, window)
	dayEnd := (r.at/day + 1) * day

	res := Result{
		Allowed: allowed, Limit: l,
		MinuteRemaining: max(0, l.PerMinute-r.minute),
		DayRemaining:    max(0, l.PerDay-r.day),
		MinuteReset:     time.Minute,
		DayReset:        micros(min(dayEnd-now, day)),
	}
	if r.minute > 0 {
		res.MinuteReset = micros(min(r.oldest+window-now, window))
	}
	if allowed {
		return res
	}
	var wait int64
	switch {
	case r.n > l.PerMinute:
		wait = window
	case r.minute > l.PerMinute-r.n:
		wait = r.blocking + window - now
	}
	if r.day > l.PerDay-r.n {
		wait = max(wait, dayEnd-now)
	}
	res.RetryAfter = max(micros(wait), time.Second)
	return res
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
