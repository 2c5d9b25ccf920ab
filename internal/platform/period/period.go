package period

import (
	"time"

	"atrium/internal/platform/apperr"
)

// Longest is the longest period of a statistic: a leap year.
const Longest = 366 * 24 * time.Hour

// Input is the period that a statistic covers.
type Input struct {
	From time.Time `json:"from"` // inclusive
	To   time.Time `json:"to"`   // exclusive
}

// Bounds returns the bounds of the period in UTC. Returns validation_error if To is not after From, or if the period is longer
// than Longest.
func (in Input) Bounds() (from, to time.Time, err error) {
	from, to = in.From.UTC(), in.To.UTC()
	if !from.Before(to) || to.Sub(from) > Longest {
		return from, to, apperr.InvalidField("to", "must be after from, by 366 days at most")
	}
	return from, to, nil
}

// TooMany returns the validation_error for a period in which more than most rows of a kind were made.
func TooMany(most int, kind string) error {
	return apperr.InvalidField("from", "must be later: there are more than %d %s in this time", most, kind)
}

// Key returns the date that names the day or week of a moment in UTC, as YYYY-MM-DD. A week is named by its Monday. by is "day"
// or "week".
func Key(by string, at time.Time) string {
	if by == "week" {
		at = Monday(at)
	}
	return at.UTC().Format(time.DateOnly)
}

// Monday returns the beginning of the week of a moment, in UTC.
func Monday(at time.Time) time.Time {
	y, m, d := at.UTC().Date()
	return time.Date(y, m, d-(int(at.UTC().Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
}
