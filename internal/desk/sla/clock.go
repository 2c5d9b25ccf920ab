package sla

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	Filed     Kind = "FILED"    // the request was filed, or the task opened: both clocks start
	Answered  Kind = "ANSWERED" // the request had its first response, or the task was taken: the response clock ends
	Ended     Kind = "ENDED"    // it was completed or cancelled: both clocks end
	Paused    Kind = "PAUSED"   // the resolution clock stops
	Resumed   Kind = "RESUMED"
	Warned    Kind = "WARNED" // subscribers were told of the warning; Key is the target
	Breached  Kind = "BREACHED"
	Escalated Kind = "ESCALATED" // Key is the key of the escalation
)

// Event is one entry in the log that a clock is derived from.
type Event struct {
	Kind Kind
	At   time.Time
	Key  string     // of Warned, Breached and Escalated: each key fires once; of Paused and Resumed: the number of the pause
	Due  *time.Time // of Answered: when the response was due at that time; nil for no target
}

// State is the state of a request or a task against its service levels.
type State string

// The states. Late takes precedence over all others: a pause does not undo it.
const (
	None        State = "" // no targets
	OnTrack     State = "ON_TRACK"
	InWarning   State = "WARNING"
	Late        State = "BREACHED" // a target was missed
	Met         State = "MET"      // everything has ended in time
	PausedState State = "PAUSED"   // the resolution clock is paused
)

// Firing is a warning, a breach or an escalation that has fallen due. Each fires once.
type Firing struct {
	Kind       Kind // Warned, Breached or Escalated
	Target     Target
	Key        string
	At         time.Time // when it fell due
	DueAt      time.Time // of the target
	Escalation *Escalation
}

// Clock is the state derived from a log at a given time.
type Clock struct {
	ResponseDueAt   *time.Time // nil: no target
	ResolutionDueAt *time.Time // nil: no target, or the clock is paused
	State           State
	Firings         []Firing   // what has fallen due and is not in the log, oldest first
	NextAt          *time.Time // the next time at which a firing falls due or the state changes; nil for never, without new events
}

// Derive returns the clock of a log at now. priority, levels and calendar are the current ones; they count as if they had
// applied from the start. What has ended keeps its result: the log holds the due time of an ended response. cal is nil when all
// hours count. The log may be in any order.
//
// A target is missed when its time is used up while its clock runs. What ends exactly at the due time is late.
func Derive(l Levels, priority string, cal *Calendar, log []Event, now time.Time) Clock {
	if cal == nil {
		cal = Always
	}
	r := read(log, now)
	var c Clock
	var running, missed, warned bool
	for _, t := range [...]Target{Response, Resolution} {
		end := r.ends[t]
		if t == Response && end != nil && r.answered { // the result is in the log
			c.ResponseDueAt = r.responseDue
			missed = missed || r.responseDue != nil && !end.Before(*r.responseDue)
			continue
		}
		m := moments(l, t, priority, cal, r)
		if m.due == nil && !m.target {
			c.add(m, r, end, now, nil)
			continue
		}
		at := m.due
		if t == Response {
			c.ResponseDueAt = at
		} else {
			c.ResolutionDueAt = at
		}
		stop := now
		if end != nil {
			stop = *end
		} else {
			running = true
		}
		late := at != nil && !stop.Before(*at)
		missed = missed || late
		warned = warned || end == nil && m.warn != nil && !now.Before(*m.warn)
		c.add(m, r, end, now, at)
	}
	switch {
	case missed:
		c.State = Late
	case running && r.paused && c.ResolutionDueAt == nil && l.minutes(Resolution, priority) > 0:
		c.State = PausedState
	case running && warned:
		c.State = InWarning
	case running:
		c.State = OnTrack
	case c.ResponseDueAt != nil || r.ends[Resolution] != nil && l.minutes(Resolution, priority) > 0:
		c.State = Met
	}
	slices.SortStableFunc(c.Firings, func(a, b Firing) int { return a.At.Compare(b.At) })
	return c
}

// history is a log in the form that clocks are computed from.
type history struct {
	from        time.Time
	ends        map[Target]*time.Time
	answered    bool
	responseDue *time.Time
	paused      bool
	segments    []segment // in which the resolution clock runs; the last one is open unless the clock is paused
	fired       map[string]bool
}

// segment is an interval in which a clock runs; to is nil while it is open.
type segment struct {
	from time.Time
	to   *time.Time
}

// read converts a log. Pauses before the filing count from the filing. A pause during a pause, and a resumption without a
// pause, are ignored.
func read(log []Event, now time.Time) history {
	r := history{ends: map[Target]*time.Time{}, fired: map[string]bool{}}
	var turns []Event
	for _, e := range log {
		at := e.At
		switch e.Kind {
		case Filed:
			r.from = at
		case Answered:
			r.answered, r.responseDue, r.ends[Response] = true, e.Due, &at
		case Ended:
			r.ends[Resolution] = &at
		case Paused, Resumed:
			turns = append(turns, e)
		default:
			r.fired[string(e.Kind)+e.Key] = true
		}
	}
	if r.ends[Response] == nil {
		r.ends[Response] = r.ends[Resolution] // what ended without a response needs none
	}
	slices.SortStableFunc(turns, func(a, b Event) int { // of one moment by their numbers: a pause may begin when another ends
		return cmp.Or(a.At.Compare(b.At), len(a.Key)-len(b.Key), strings.Compare(a.Key, b.Key), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	from := r.from
	for _, e := range turns {
		if e.At.After(now) {
			break
		}
		switch {
		case e.Kind == Paused && !r.paused:
			at := later(e.At, r.from)
			r.paused, r.segments = true, append(r.segments, segment{from, &at})
		case e.Kind == Resumed && r.paused:
			r.paused, from = false, later(e.At, r.from)
		}
	}
	if !r.paused {
		r.segments = append(r.segments, segment{from, nil})
	}
	return r
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// pending is a firing with the time at which it falls due.
type pending struct {
	after  time.Duration // working time on the target's clock
	firing Firing
	at     *time.Time // nil for never, or while the clock is paused before it
}

// timing holds the times of one target.
type timing struct {
	target    bool
	due, warn *time.Time
	list      []pending
}

// moments returns when the warning, the breach and the escalations of a target fall due.
func moments(l Levels, t Target, priority string, cal *Calendar, r history) timing {
	var list []pending
	promised := l.minutes(t, priority)
	if promised > 0 && l.WarnAtPercent > 0 {
		list = append(list, pending{after: promised * time.Duration(l.WarnAtPercent) / 100, firing: Firing{Kind: Warned, Target: t, Key: string(t)}})
	}
	if promised > 0 {
		list = append(list, pending{after: promised, firing: Firing{Kind: Breached, Target: t, Key: string(t)}})
	}
	for i, e := range l.Escalations {
		if strings.EqualFold(e.Of, string(t)) {
			list = append(list, pending{
				after:  time.Duration(e.AfterMinutes) * time.Minute,
				firing: Firing{Kind: Escalated, Target: t, Key: e.Key(), Escalation: &l.Escalations[i]},
			})
		}
	}
	slices.SortStableFunc(list, func(a, b pending) int { return int(a.after - b.after) })
	segments := r.segments
	if t == Response {
		segments = []segment{{r.from, nil}} // a pause stops only the resolution clock
	}
	reach(cal, segments, list)
	m := timing{target: promised > 0, list: list}
	for _, p := range list {
		switch p.firing.Kind {
		case Warned:
			m.warn = p.at
		case Breached:
			m.due = p.at
		}
	}
	return m
}

// reach sets the time of each pending firing: when the clock that runs in the segments has run for its duration. list is sorted
// by duration.
func reach(cal *Calendar, segments []segment, list []pending) {
	var done time.Duration
	for _, s := range segments {
		if len(list) == 0 {
			return
		}
		from, left := s.from, time.Duration(0)
		if s.to != nil {
			left = cal.Between(s.from, *s.to)
		}
		begin := done
		for len(list) > 0 && (s.to == nil || list[0].after <= begin+left) {
			at, err := cal.Add(from, list[0].after-done)
			if err != nil {
				return // the rest will never be due
			}
			list[0].at, from, done = &at, at, list[0].after
			list = list[1:]
		}
		done = begin + left
	}
}

// add adds the firings of a target that have fallen due, and moves NextAt to the earliest that has not. Of a target that is missed, it
// adds no warning.
func (c *Clock) add(m timing, r history, end *time.Time, now time.Time, due *time.Time) {
	stop := now
	if end != nil {
		stop = *end
	}
	missed := m.due != nil && !stop.Before(*m.due)
	for _, p := range m.list {
		switch {
		case p.at == nil, end != nil && end.Before(*p.at):
			continue // never, or the clock ended before
		case now.Before(*p.at):
			if p.firing.Kind == Escalated && r.fired[string(Escalated)+p.firing.Key] {
				continue
			}
			if end == nil && (c.NextAt == nil || p.at.Before(*c.NextAt)) {
				c.NextAt = p.at
			}
		case p.firing.Target == Resolution && r.paused:
			continue // a change of priority made it due during a pause: it waits for the end of the pause
		case p.firing.Kind == Warned && (missed || r.fired[string(Breached)+p.firing.Key]):
			continue
		case !r.fired[string(p.firing.Kind)+p.firing.Key]:
			f := p.firing
			f.At = *p.at
			if due != nil {
				f.DueAt = *due
			}
			c.Firings = append(c.Firings, f)
		}
	}
}

// Key identifies an escalation by its content, so that a rule acts once on a request even if its position in the list changes.
func (e Escalation) Key() string {
	key := e.Of + "/" + strconv.Itoa(e.AfterMinutes) + "/" + e.Do
	if e.TeamID != nil {
		key += "/" + *e.TeamID
	}
	return key
}
