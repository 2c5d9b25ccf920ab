package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Result is the decision about a call and what is left after it.
type Result struct {
	Allowed bool
	Limit   Limit // the limit that applied to the call

	MinuteRemaining int           // calls left in the 60 s that end now, never negative
	DayRemaining    int           // calls left today, never negative
	MinuteReset     time.Duration // until the oldest counted call leaves the minute; at most 60 s, and 60 s when none is counted
	DayReset        time.Duration // until the next midnight UTC; at most 24 h

	// RetryAfter is how long until a call would be allowed again in both windows: at least 1 s when the call was refused, 0
	// when it was allowed. Under a limit that allows nothing it is the length of the window.
	RetryAfter time.Duration

	inBytes bool // the numbers are of bytes, not of calls: a result of Bytes
}

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up, as in the header Retry-After.
func (r Result) RetryAfterSeconds() int { return seconds(r.RetryAfter) }

// RetryAfter returns a wait as the header Retry-After has it: in whole seconds, rounded up, and at least 1.
func RetryAfter(wait time.Duration) int { return max(1, seconds(wait)) }

// PolicyHeader returns the value of the header RateLimit-Policy: quota and length in seconds of both windows, as in
// `"minute";q=60;w=60, "day";q=10000;w=86400`. The windows of bytes are "minute-bytes" and "day-bytes", with the unit as in
// draft-ietf-httpapi-ratelimit-headers.
func (r Result) PolicyHeader() string {
	if r.inBytes {
		return fmt.Sprintf(`"minute-bytes";q=%d;w=60;qu="content-bytes", "day-bytes";q=%d;w=86400;qu="content-bytes"`, r.Limit.BytesPerMinute, r.Limit.BytesPerDay)
	}
	b := make([]byte, 0, 48) // every answer has this header and that of Header
	b = strconv.AppendInt(append(b, `"minute";q=`...), int64(r.Limit.PerMinute), 10)
	b = strconv.AppendInt(append(b, `;w=60, "day";q=`...), int64(r.Limit.PerDay), 10)
	return string(append(b, `;w=86400`...))
}

// Header returns the value of the header RateLimit for the window with fewer calls left (the minute if equal): remaining calls
// and seconds until the reset, rounded up, as in `"minute";r=59;t=60`.
func (r Result) Header() string {
	name, remaining, reset := `"minute";r=`, r.MinuteRemaining, r.MinuteReset
	if r.DayRemaining < remaining {
		name, remaining, reset = `"day";r=`, r.DayRemaining, r.DayReset
	}
	if r.inBytes {
		name = strings.Replace(name, `";`, `-bytes";`, 1)
	}
	b := strconv.AppendInt(append(make([]byte, 0, 32), name...), int64(remaining), 10)
	return string(strconv.AppendInt(append(b, `;t=`...), int64(seconds(reset)), 10))
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
