package webhook

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DefaultRetries are the waits before the retries of a delivery.
var DefaultRetries = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// maxRetries bounds the schedule that an operator may set.
const maxRetries = 20

// schedule says when a failed delivery is attempted again.
type schedule []time.Duration

func newSchedule(retries []time.Duration) (schedule, error) {
	if retries == nil {
		retries = DefaultRetries
	}
	if len(retries) > maxRetries {
		return nil, errors.New("webhook: too many retries")
	}
	for _, d := range retries {
		if d <= 0 || d > 7*24*time.Hour {
			return nil, errors.New("webhook: a wait before a retry must be positive and at most a week")
		}
	}
	return retries, nil
}

// after returns the wait after the failed attempt at a step (from 1), and false after the last one. A receiver may ask for a
// longer wait, up to the length of the following step (the last step: its own length). So it can delay the schedule by one step
// at a time, but never stall it. It cannot shorten a wait.
//
// There is no jitter: nextAttemptAt is exactly the schedule. The retries after an outage still do not come all at once, because
// each waits from the end of its own attempt, and the attempts under way for one receiver are limited.
func (s schedule) after(step int, asked time.Duration) (time.Duration, bool) {
	if step < 1 || step > len(s) {
		return 0, false
	}
	wait, most := s[step-1], s[min(step, len(s)-1)]
	return max(wait, min(asked, most)), true
}

// nextStep returns the step of the attempt that follows these. An interrupted attempt uses up no step.
func nextStep(attempts []Attempt) int {
	if len(attempts) == 0 {
		return 1
	}
	last := attempts[len(attempts)-1]
	if last.Error != nil && *last.Error == textInterrupted {
		return last.Step
	}
	return last.Step + 1
}

// retryAfter returns the wait that an answer's Retry-After asks for, in seconds or as a date; 0 for neither.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(n)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
