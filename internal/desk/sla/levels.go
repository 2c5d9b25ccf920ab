package sla

import "time"

// Targets are the times within which a request should have its first response and be completed, in minutes of working time; nil for no target.
type Targets struct {
	ResponseMinutes   *int `json:"responseMinutes,omitempty" nullable:"true" minimum:"1" maximum:"525600" doc:"Minutes until a request should have its first response: a public comment of staff or of an agent, or the acceptance."`
	ResolutionMinutes *int `json:"resolutionMinutes,omitempty" nullable:"true" minimum:"1" maximum:"525600" doc:"Minutes until a request should be completed."`
}

// ByPriority holds the targets of requests with a certain priority. A nil target (null in an API call) means the general one.
type ByPriority struct {
	LOW    *Targets `json:"LOW,omitempty" doc:"Of requests that can wait."`
	MEDIUM *Targets `json:"MEDIUM,omitempty" doc:"Of usual requests."`
	HIGH   *Targets `json:"HIGH,omitempty" doc:"Of requests that go before others."`
	URGENT *Targets `json:"URGENT,omitempty" doc:"Of requests that are for now."`
}

// of returns the targets of a priority; nil when it has none of its own.
func (b *ByPriority) of(priority string) *Targets {
	if b == nil {
		return nil
	}
	switch priority {
	case "LOW":
		return b.LOW
	case "MEDIUM":
		return b.MEDIUM
	case "HIGH":
		return b.HIGH
	case "URGENT":
		return b.URGENT
	}
	return nil
}

// The actions of an escalation.
const (
	Notify   = "notify"   // mails a team, or the people who work on the request
	Reassign = "reassign" // assigns the request to a team and removes its assignee
	Raise    = "raise"    // raises the priority by one step
)

// Escalation is an action on a request that is not dealt with in time.
type Escalation struct {
	AfterMinutes int     `json:"afterMinutes" minimum:"1" maximum:"525600" doc:"How far the clock of the target has come, in minutes of working time since the request was filed. Less than the target is before it is missed, more is after."`
	Of           string  `json:"of" enum:"response,resolution" doc:"The target whose clock counts. Nothing is done once the target has ended."`
	Do           string  `json:"do" enum:"notify,reassign,raise" doc:"notify mails the team, or else whoever deals with the request; reassign gives the request to the team; raise raises its priority by one."`
	TeamID       *string `json:"teamId,omitempty" nullable:"true" maxLength:"64" doc:"The team: needed to reassign, none to raise."`
}

// UsualWarning is the percentage of a target's time at which people are warned where nobody says it.
const UsualWarning = 80

// Levels are the service levels of a request or a task.
type Levels struct {
	Targets
	WarnAtPercent int          `json:"warnAtPercent,omitempty"` // 1 to 99; 0 for no warnings
	CalendarID    string       `json:"calendarId,omitempty"`    // empty: all hours count
	ByPriority    *ByPriority  `json:"byPriority,omitempty"`
	Escalations   []Escalation `json:"escalations,omitempty"`
}

// minutes returns the duration of a target for a priority; 0 for no target.
func (l Levels) minutes(t Target, priority string) time.Duration {
	pick := func(of *Targets) *int {
		if t == Response {
			return of.ResponseMinutes
		}
		return of.ResolutionMinutes
	}
	m := pick(&l.Targets)
	if own := l.ByPriority.of(priority); own != nil && pick(own) != nil {
		m = pick(own)
	}
	if m == nil {
		return 0
	}
	return time.Duration(*m) * time.Minute
}

// Largest returns the longest duration of the levels: of a target of any priority, or until an escalation.
func (l Levels) Largest() (largest time.Duration) {
	for _, priority := range []string{"", "LOW", "MEDIUM", "HIGH", "URGENT"} {
		largest = max(largest, l.minutes(Response, priority), l.minutes(Resolution, priority))
	}
	for _, e := range l.Escalations {
		largest = max(largest, time.Duration(e.AfterMinutes)*time.Minute)
	}
	return largest
}

// Standing is the part of a clock that REST and GraphQL show.
type Standing struct {
	ResponseDueAt, ResolutionDueAt *time.Time
	State                          string
}

// StatusOf returns the standing from the columns of a request or a task; nil when it has no service levels.
func StatusOf[S ~string](state *S, response, resolution *time.Time) *Standing {
	if state == nil && response == nil && resolution == nil {
		return nil
	}
	out := &Standing{ResponseDueAt: response, ResolutionDueAt: resolution}
	if state != nil {
		out.State = string(*state)
	}
	return out
}
