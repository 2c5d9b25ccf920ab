package definition

import (
	"encoding/json"
	"fmt"
	"time"
)

// Longest returns the largest target of a definition that counts by a calendar: of service levels of phases and of waits of TIMERs; 0 for
// none. It compiles nothing, so that it may be asked of many definitions, which were checked when they were published.
func Longest(raw []byte, calendarID string) (time.Duration, error) {
	var d struct {
		Phases []struct {
			SLA *struct {
				CalendarID                         string `json:"calendarId"`
				ResponseMinutes, ResolutionMinutes int
			} `json:"sla"`
			Type   Type
			Config json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return 0, fmt.Errorf("read the definition: %w", err)
	}
	minutes := 0
	for _, p := range d.Phases {
		if p.SLA != nil && p.SLA.CalendarID == calendarID {
			minutes = max(minutes, p.SLA.ResponseMinutes, p.SLA.ResolutionMinutes)
		}
		if p.Type != Timer {
			continue
		}
		var timer struct {
			Duration   string
			CalendarID string `json:"calendarId"`
		}
		if err := json.Unmarshal(p.Config, &timer); err != nil {
			return 0, fmt.Errorf("read a timer of the definition: %w", err)
		}
		if span, ok := ParseSpan(timer.Duration); ok && timer.CalendarID == calendarID {
			minutes = max(minutes, span.minutes())
		}
	}
	return time.Duration(minutes) * time.Minute, nil
}
