package sla

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what an event of a log says.
type Kind string

// The events of a log.
const (
	Filed     Kind = "FILED"    // the request was filed, the task opened: both clocks start
	Answered  Kind = "ANSWERED" // it was accepted, or taken: the clock of the response ends
	Ended     Kind = "ENDED"    // it was completed or cancelled: both clocks end
	Paused    Kind = "PAUSED"   // the clock of the resolution stands still
	Resumed   Kind = "RESUMED"
	Warned    Kind = "WARNED" // subscribers have been told; Key is the target
	Breached  Kind = "BREACHED"
	Escalated Kind = "ESCALATED" // Key is the escalation's
)

// Event is one entry of the log that a clock is derived from.
type Event struct {
	Kind Kind
	At   time.Time
	Key  string     // of Warned, Breached and Escalated: what happens once
	Due  *time.Time // of Answered: when the response was due then; nil for no target
}

// State is where a request or a task stands against its service levels.
type State string

// The states. Late counts first: a pause does not undo it.
const (
	None        State = "" // nothing is promised
	OnTrack     State = "ON_TRACK"
	InWarning   State = "WARNING"
	Late        State = "BREACHED" // a target was missed, or is being missed
	Met         State = "MET"      // everything has ended, in time
	StandsStill State = "PAUSED"   // the clock of the resolution does
)

// Firing is something that falls due once.
type Firing struct {
	Kind       Kind // Warned, Breached or Escalated
	Target     Target
	Key        string
	At         time.Time // when it fell due
	DueAt      time.Time // of the target
	Escalation *Escalation
}

// Clock is what a log comes to at a moment.
type Clock struct {
	ResponseDueAt   *time.Time // nil: no target
	ResolutionDueAt *time.Time // nil: no target, or the clock stands still
	State           State
	Firings         []Firing   // what has fallen due and is not in the log, the oldest first
	NextAt          *time.Time // when there may be firings again, or another state; nil for never, as the log stands
}

// Derive returns what a log comes to at a moment. priority is the request's now: it decides which targets hold, as if it had
// had that priority from the start. So do the levels and the calendar, which are those of now. What has ended stays as it
// was judged: the due time of a response stands in the log. cal is nil when all hours count. The log may be in any order.
//
// A target is missed when its time is used up while its clock runs; what ends at that very moment is late.
func Derive(l Levels, priority string, cal *Calendar, log []Event, now time.Time) Clock {
	if cal == nil {
		cal = always
	}
	r := read(log, now)
	var c Clock
	var running, missed, warned bool
	for _, t := range [...]Target{Response, Resolution} {
		end := r.ends[t]
		if t == Response && end != nil && r.answered { // it was judged when it ended
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
		c.State = StandsStill
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

// history is a log in the form in which clocks are counted.
type history struct {
	from        time.Time
	ends        map[Target]*time.Time
	answered    bool
	responseDue *time.Time
	paused      bool
	segments    []segment // in which the clock of the resolution runs; the last is open unless it stands still
	fired       map[string]bool
}

// segment is a time in which a clock runs; to is nil for one that goes on.
type segment struct {
	from time.Time
	to   *time.Time
}

// read sorts a log. Pauses count from the filing to the end; a pause in a pause, or a resumption of nothing, is none.
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
		r.ends[Response] = r.ends[Resolution] // what is cancelled needs no answer any more
	}
	slices.SortStableFunc(turns, func(a, b Event) int { return a.At.Compare(b.At) })
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

// pending is something that falls due at a moment.
type pending struct {
	after  time.Duration // of working time on the target's clock
	firing Firing
	at     *time.Time // nil while the clock stands still before it, or for never
}

// timing are the moments of one target.
type timing struct {
	target    bool
	due, warn *time.Time
	list      []pending
}

// moments returns when what hangs on a target falls due.
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
		segments = []segment{{r.from, nil}} // a pause stops the clock of the resolution alone
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

// reach notes when the clock that runs in the segments has come as far as each of the list, which is in that order.
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
				return // nothing of what is left will ever be due
			}
			list[0].at, from, done = &at, at, list[0].after
			list = list[1:]
		}
		done = begin + left
	}
}

// add puts what hangs on a target into the clock: what has fallen due, and what comes next.
func (c *Clock) add(m timing, r history, end *time.Time, now time.Time, due *time.Time) {
	for _, p := range m.list {
		switch {
		case p.at == nil, end != nil && end.Before(*p.at):
			continue // never, or not before the clock ended
		case now.Before(*p.at):
			if p.firing.Kind == Escalated && r.fired[string(Escalated)+p.firing.Key] {
				continue
			}
			if end == nil && (c.NextAt == nil || p.at.Before(*c.NextAt)) {
				c.NextAt = p.at
			}
		case p.firing.Target == Resolution && r.paused:
			continue // a change of priority came to it while the clock stands still: it waits until that goes on
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

// Key tells escalations apart: the same rule acts once on a request, wherever it stands in the list.
func (e Escalation) Key() string {
	key := e.Of + "/" + strconv.Itoa(e.AfterMinutes) + "/" + e.Do
	if e.TeamID != nil {
		key += "/" + *e.TeamID
	}
	return key
}
