package workflow

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// readyCalendar is a calendar as an update would leave it, compiled and tried before the update's transaction.
type readyCalendar struct {
	from     time.Time     // updatedAt of the row that it was made from
	calendar *sla.Calendar // nil if it has faults, which the operation reports
	unmet    *ent.Offering // whose largest target the calendar leaves no time for
}

// prepareCalendar compiles what an update would leave, and tries the largest target of the offerings that count by it.
func prepareCalendar(ctx context.Context, tx *op.Tx, in UpdateCalendarInput) (any, error) {
	row, err := tx.Calendar.Get(ctx, in.ID)
	if ent.IsNotFound(err) {
		return nil, nil // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the calendar: %w", err)
	}
	ready := readyCalendar{from: row.UpdatedAt}
	offerings, err := tx.Offering.Query().Where(offering.CalendarID(row.ID)).Select(timer.LevelColumns...).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the offerings that count by the calendar: %w", err)
	}
	err = tx.Costly(ctx, func(context.Context) error {
		if err := in.apply(row); err != nil {
			return err
		}
		if ready.calendar, err = CompileCalendar(row); err != nil {
			ready.calendar = nil
			return nil // the operation reports what is wrong
		}
		var largest time.Duration
		for _, o := range offerings {
			if d := timer.LevelsOf(o).Largest(); d > largest {
				largest, ready.unmet = d, o
			}
		}
		if _, err := ready.calendar.Add(tx.Now(ctx), largest); err == nil {
			ready.unmet = nil
		}
		return nil
	})
	return ready, err
}

// apply sets what the update sets of the hours in a row.
func (in UpdateCalendarInput) apply(row *ent.Calendar) (err error) {
	if zone, ok := op.Given(in.TimeZone); ok {
		row.TimeZone = zone
	}
	if in.Holidays.IsSet() {
		row.Holidays = op.Or(in.Holidays.Value(), nil)
	}
	if in.WorkingHours.IsSet() {
		if row.WorkingHours, err = encodeHours(in.WorkingHours.Value()); err != nil {
			return err
		}
	}
	if in.Exceptions.IsSet() {
		row.Exceptions, err = encodeExceptions(op.Or(in.Exceptions.Value(), nil))
	}
	return err
}

// changed returns the field that a fault of the whole calendar is told of.
func (in UpdateCalendarInput) changed() string {
	switch {
	case in.WorkingHours.IsSet():
		return "workingHours"
	case in.Exceptions.IsSet():
		return "exceptions"
	case in.Holidays.IsSet():
		return "holidays"
	}
	return "timeZone"
}

// check returns a validation error about a field when the largest target of an offering cannot be met.
func (r readyCalendar) check(field string) error {
	if r.unmet == nil {
		return nil
	}
	return apperr.InvalidField(field, "must leave more working time: the %d minutes of the offering %q (%s) would not pass within twenty years",
		int(timer.LevelsOf(r.unmet).Largest().Minutes()), short(r.unmet.Name), r.unmet.ID)
}

// keep keeps the compiled calendar for the row that the update has made of it. If the update does not commit, no row has that time.
func (r readyCalendar) keep(after *ent.Calendar) {
	if r.calendar != nil {
		calendars.Add(after.ID, cachedCalendar{after.UpdatedAt, r.calendar})
	}
}

// Unmet returns a fault of a field when the largest target that counts by a calendar cannot be met; none for an id that is no
// calendar. Call it outside of transactions, for it may compile the calendar.
func Unmet(ctx context.Context, tx *op.Tx, calendarID, field string, largest time.Duration) ([]apperr.Detail, error) {
	cal, err := CalendarOf(ctx, tx.Client, calendarID)
	if err != nil || cal == nil {
		return nil, err
	}
	if _, err := cal.Add(tx.Now(ctx), largest); err != nil { // there is no such time
		return []apperr.Detail{{Field: field, Message: fmt.Sprintf("has too little working time: %d minutes of it do not pass within twenty years", int(largest.Minutes()))}}, nil
	}
	return nil, nil
}
