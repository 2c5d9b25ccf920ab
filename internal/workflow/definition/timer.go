package definition

import "github.com/google/cel-go/cel"

// TimerConfig waits for a length of time or until a moment; exactly one of the two is set.
type TimerConfig struct {
	Duration   *Span
	Until      *Expr  // a timestamp
	CalendarID string // "": all hours count
}

// timer reads the config of a TIMER.
func (c *checker) timer(f fields) (*TimerConfig, ways) {
	f.keys(nil, "duration", "until", "calendarId")
	if f.has("duration") == f.has("until") {
		c.fault(f.path, "A TIMER takes exactly one of duration and until.")
	}
	t := &TimerConfig{
		Duration:   f.span("duration"),
		Until:      f.expression("until", plain, cel.TimestampType),
		CalendarID: f.calendar(),
	}
	if t.CalendarID != "" && t.Duration != nil {
		c.refs.Calendars[len(c.refs.Calendars)-1].Minutes = t.Duration.minutes()
	}
	return t, ways{must: []string{Next}}
}
