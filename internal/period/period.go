// Package period holds what figures over time share: the bounds of the time that they are of, and the names of its days and
// weeks. Operations that count requests, deliveries and runs embed its input. It reads no database.
package period

import (
	"time"

	"atrium/internal/apperr"
)

// Longest is the longest time that figures are of: a leap year.
const Longest = 366 * 24 * time.Hour

// Input is the time that figures are of.
type Input struct {
	From time.Time `json:"from"` // the first moment
	To   time.Time `json:"to"`   // the moment after the last
}

// Bounds returns both moments in UTC. Returns validation_error where To is not after From, or the time is longer than Longest.
func (in Input) Bounds() (from, to time.Time, err error) {
	from, to = in.From.UTC(), in.To.UTC()
	if !from.Before(to) || to.Sub(from) > Longest {
		return from, to, apperr.InvalidField("to", "must be after from, by 366 days at most")
	}
	return from, to, nil
}

// TooMany is the refusal of a time in which more than most rows of a kind were made.
func TooMany(most int, kind string) error {
	return apperr.InvalidField("from", "must be later: there are more than %d %s in this time", most, kind)
}

// Key names the day or the week of a moment, UTC: YYYY-MM-DD, of a week its Monday. By is "day" or "week".
func Key(by string, at time.Time) string {
	at = at.UTC()
	if by == "week" {
		at = at.AddDate(0, 0, -(int(at.Weekday())+6)%7)
	}
	return at.Format(time.DateOnly)
}
