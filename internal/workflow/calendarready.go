package workflow

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/workflow"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// readyCalendar is a calendar as an update would leave it, compiled and tried before the update's transaction.
type readyCalendar struct {
	from     time.Time     // updatedAt of the row that it was made from
	calendar *sla.Calendar // nil if it has faults, which the operation reports
	unmet    *counted      // the largest target, if the calendar leaves no time for it
}

// counted is a target that counts by a calendar.
type counted struct {
	lasts time.Duration
	of    string // the offering "Laptop" (off_…), or an offering
}

// prepareCalendar compiles what an update would leave, and tries the largest target of the offerings and published workflows that count by it.
func prepareCalendar(ctx context.Context, tx *op.Tx, in UpdateCalendarInput) (any, error) {
	row, err := tx.Calendar.Get(ctx, in.ID)
	if ent.IsNotFound(err) {
		return nil, nil // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the calendar: %w", err)
	}
	ready := readyCalendar{from: row.UpdatedAt}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		if err := in.apply(row); err != nil {
			return err
		}
		if ready.calendar, err = CompileCalendar(row); err != nil {
			ready.calendar = nil
			return nil // the operation reports what is wrong
		}
		largest, err := largestOf(ctx, tx, row.ID)
		if err != nil {
			return err
		}
		if _, err := ready.calendar.Add(tx.Now(ctx), largest.lasts); err != nil { // there is no such time
			ready.unmet = &largest
		}
		return nil
	})
	return ready, err
}

// largestOf returns the largest target that counts by a calendar, of offerings and of the last versions of workflows. It names none that the
// caller may not see.
func largestOf(ctx context.Context, tx *op.Tx, calendarID string) (counted, error) {
	var largest counted
	var offers *ent.Offering
	offerings, err := tx.Offering.Query().Where(offering.CalendarID(calendarID)).Select(timer.LevelColumns...).All(ctx)
	if err != nil {
		return largest, fmt.Errorf("read the offerings that count by the calendar: %w", err)
	}
	for _, o := range offerings {
		if d := timer.LevelsOf(o).Largest(); d > largest.lasts {
			largest, offers = counted{d, "an offering"}, o
		}
	}
	seeing := tx.Filtered(ctx)
	if offers != nil {
		seen, err := tx.Offering.Query().Where(offering.ID(offers.ID)).Exist(seeing)
		if err != nil {
			return largest, fmt.Errorf("look for the offering that counts by the calendar: %w", err)
		}
		if seen {
			largest.of = fmt.Sprintf("the offering %q (%s)", short(offers.Name), offers.ID)
		}
	}
	of, d, err := longest(ctx, tx, calendarID)
	if err != nil || d <= largest.lasts {
		return largest, err
	}
	seen, err := tx.Workflow.Query().Where(workflow.ID(of.ID)).Exist(seeing)
	if err != nil {
		return largest, fmt.Errorf("look for the workflow that counts by the calendar: %w", err)
	}
	if largest = (counted{d, "a published workflow"}); seen {
		largest.of = fmt.Sprintf("the published workflow %q (%s)", short(of.Name), of.ID)
	}
	return largest, nil
}

// longest returns the workflow whose last version has the largest target that counts by a calendar; a length of 0 for none.
func longest(ctx context.Context, tx *op.Tx, calendarID string) (of *ent.Workflow, lasts time.Duration, err error) {
	ctx = tx.Unfiltered(ctx, "a workflow that the caller does not see counts by the calendar, too")
	workflows, err := tx.Workflow.Query().Where(workflow.VersionGT(0), publishedWith("calendar", calendarID)).
		Select(workflow.FieldID, workflow.FieldName, workflow.FieldVersion).Order(workflow.ByName(), workflow.ByID()).All(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("read the workflows that count by the calendar: %w", err)
	}
	for _, w := range workflows {
		last, err := lastVersion(ctx, tx, w)
		if err != nil || last == nil {
			return nil, 0, err
		}
		d, err := definition.Longest(last.Definition, calendarID)
		if err != nil {
			return nil, 0, fmt.Errorf("workflow %s: %w", w.ID, err)
		}
		if d > lasts {
			of, lasts = w, d
		}
	}
	return of, lasts, nil
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

// check returns a validation error about a field when the largest target cannot be met.
func (r readyCalendar) check(field string) error {
	if r.unmet == nil {
		return nil
	}
	return apperr.InvalidField(field, "must leave more working time: the %d minutes of %s would not pass within twenty years",
		int(r.unmet.lasts.Minutes()), r.unmet.of)
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
