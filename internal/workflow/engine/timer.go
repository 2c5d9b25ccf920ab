package engine

import (
	"fmt"
	"time"

	"atrium/internal/desk/sla"
	"atrium/internal/platform/clock"
	"atrium/internal/workflow/definition"
)

// timerPhase waits for a length of time or until a moment. With a calendar, a length counts working time, and a moment
// outside of working time moves to the next working moment. A moment in the past continues at once.
type timerPhase struct{}

func (timerPhase) enter(r *run, p *definition.Phase) {
	until, ok := moment(r, p.Timer)
	if !ok {
		return
	}
	r.state.Visit.Input = map[string]any{"until": until.UTC().Format(clock.Format)}
	if !until.After(r.env.Now) {
		r.leave(p, definition.Next, nil)
		return
	}
	r.effects = append(r.effects, Sleep{r.state.Visit.Number, until})
	r.wait(Wait{For: ForTimer, Until: &until})
}

// moment returns when the timer ends; false, after opening an incident, when this cannot be determined.
func moment(r *run, t *definition.TimerConfig) (time.Time, bool) {
	at, follow := r.env.Now, sla.Always
	var err error
	if t.CalendarID != "" {
		if follow, err = r.env.Calendar(t.CalendarID); err != nil {
			return at, r.noCalendar(t.CalendarID, err)
		}
	}
	if t.Until != nil {
		if at, err = t.Until.Time(r.ctx, r.bind(), follow.Zone()); err != nil {
			r.failedExpression("until", err)
			return at, false
		}
		at, err = follow.Next(at.UTC().Truncate(time.Millisecond))
	} else {
		at, err = follow.Add(at, t.Duration.Duration)
	}
	if err != nil {
		return at, r.noCalendar(t.CalendarID, err)
	}
	return at, true
}

// noCalendar opens an incident and returns false.
func (r *run) noCalendar(id string, err error) bool {
	r.raise(CalendarFailed, fmt.Sprintf("The calendar %s could not be followed: %v.", id, err))
	return false
}

func (timerPhase) resume(r *run, p *definition.Phase, in Input) error {
	if _, ok := in.(Woke); !ok || r.state.Wait.For != ForTimer || r.env.Now.Before(*r.state.Wait.Until) {
		return ErrStale
	}
	r.leave(p, definition.Next, nil)
	return nil
}
