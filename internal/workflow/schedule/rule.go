package schedule

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"atrium/internal/platform/apperr"
)

// closest is the least time between two planned times.
const closest = 5 // minutes

// The units of Every.
const (
	hour  = "HOUR"
	day   = "DAY"
	week  = "WEEK"
	month = "MONTH"
)

// Every says how often a schedule runs, without a cron expression.
type Every struct {
	Unit     string   `json:"unit" enum:"HOUR,DAY,WEEK,MONTH" doc:"In what it repeats." example:"WEEK"`
	At       string   `json:"at" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time of day such as 09:00" doc:"The time of day, as HH:MM. Of HOUR the minutes alone count." example:"09:00"`
	Weekdays []string `json:"weekdays,omitempty" nullable:"true" enum:"mon,tue,wed,thu,fri,sat,sun" uniqueItems:"true" doc:"The days of a WEEK, from mon to sun; given with WEEK alone." example:"[\"mon\"]"`
	Day      *int     `json:"day,omitempty" nullable:"true" minimum:"1" maximum:"31" doc:"The day of a MONTH, 1 to 31; in shorter months their last day. Given with MONTH alone." exampleNull:"true"`
}

// rule returns the first planned time after a moment, and the zero time when there is none in the next five years. All its times are
// those of a clock on a wall: what such a clock shows, as if it were UTC.
type rule func(wall time.Time) time.Time

// parser reads five fields: neither seconds nor names such as @daily.
var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// rules reads a cron expression or an Every, exactly one of which is given. Returns the faults by field.
func rules(expression *string, every *Every) (rule, []apperr.Detail) {
	switch {
	case expression == nil && every == nil:
		return nil, []apperr.Detail{{Field: "cron", Message: "is needed, or every"}}
	case expression != nil && every != nil:
		return nil, []apperr.Detail{{Field: "cron", Message: "must not be given together with every"}}
	case every != nil:
		return every.rule()
	}
	r, err := parsed(*expression)
	if err != nil {
		return nil, []apperr.Detail{{Field: "cron", Message: err.Error()}}
	}
	return r, nil
}

func parsed(expression string) (rule, error) {
	spec, err := specOf(expression)
	if err != nil {
		return nil, fmt.Errorf("must be five fields (minute, hour, day of the month, month, day of the week), such as 0 9 * * MON")
	}
	if spec.close() {
		return nil, fmt.Errorf("must leave %d minutes between two times", closest)
	}
	return spec.Next, nil
}

// spec is a cron expression as sets of minutes, hours and days.
type spec struct{ *cron.SpecSchedule }

func specOf(expression string) (spec, error) {
	if strings.Contains(expression, "=") { // the parser would take TZ=Europe/Berlin in front
		return spec{}, fmt.Errorf("an expression has no zone of its own")
	}
	s, err := parser.Parse(expression)
	if err != nil {
		return spec{}, fmt.Errorf("parse the expression: %w", err)
	}
	fields, ok := s.(*cron.SpecSchedule)
	if !ok {
		return spec{}, fmt.Errorf("the expression has no fields")
	}
	return spec{fields}, nil
}

// close reports whether two times of the expression may come within less than closest minutes of each other. Days may follow one
// another, whatever the expression says of them.
func (s spec) close() bool {
	minutes, hours := s.Minute&(1<<60-1), s.Hour&(1<<24-1)
	for gap := 1; gap < closest; gap++ {
		if minutes&(minutes>>gap) != 0 {
			return true
		}
	}
	first, last := bits.TrailingZeros64(minutes), bits.Len64(minutes)-1
	follows := hours&(hours>>1) != 0 || hours&1 != 0 && hours>>23 == 1
	return follows && 60-last+first < closest
}

func (e *Every) rule() (rule, []apperr.Detail) {
	var faults []apperr.Detail
	fault := func(field, message string) {
		faults = append(faults, apperr.Detail{Field: "every." + field, Message: message})
	}
	if e.Unit == week && len(e.Weekdays) == 0 {
		fault("weekdays", "must name a day, from mon to sun")
	}
	if e.Unit != week && len(e.Weekdays) > 0 {
		fault("weekdays", "must be given with WEEK alone")
	}
	if e.Unit == month && e.Day == nil {
		fault("day", "must be given with MONTH")
	}
	if e.Unit != month && e.Day != nil {
		fault("day", "must be given with MONTH alone")
	}
	clock, err := time.Parse("15:04", e.At)
	if err != nil {
		fault("at", "must be a time of day such as 09:00")
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if e.Unit == month {
		return monthly(*e.Day, clock.Hour(), clock.Minute()), nil
	}
	spec, err := specOf(e.cron(clock))
	if err != nil {
		return nil, []apperr.Detail{{Field: "every", Message: "cannot be read"}}
	}
	return spec.Next, nil
}

// cron returns the expression for HOUR, DAY and WEEK.
func (e *Every) cron(clock time.Time) string {
	at, days := strconv.Itoa(clock.Hour()), "*"
	switch e.Unit {
	case hour:
		at = "*"
	case week:
		days = strings.Join(slices.Sorted(slices.Values(e.Weekdays)), ",")
	}
	return fmt.Sprintf("%d %s * * %s", clock.Minute(), at, days)
}

// monthly is a time on a day of every month, or on the last day of months that have fewer.
func monthly(on, hours, minutes int) rule {
	return func(after time.Time) time.Time {
		year, m, _ := after.Date()
		for ; ; m++ {
			last := time.Date(year, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
			if at := time.Date(year, m, min(on, last), hours, minutes, 0, 0, time.UTC); at.After(after) {
				return at
			}
		}
	}
}
