package workflow

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // the zones are the same wherever the product runs

	"atrium/ent"
	"atrium/ent/calendar"
	"atrium/ent/offering"
	"atrium/ent/schedule"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

var calendarSorts = op.Sorts{"createdAt": calendar.FieldCreatedAt, "updatedAt": calendar.FieldUpdatedAt, "name": op.Alphabetical(calendar.FieldName)}

// The operations on calendars, whose working hours timers and service levels count.
var (
	ListCalendars = paging.NewList("calendar.list", op.Spec{
		Resource: "Calendar", Action: op.Read, AdminLayer: true, Sorts: calendarSorts, Summary: "List calendars",
	}, func(_ context.Context, tx *op.Tx, _ ListCalendarsInput) *ent.CalendarQuery {
		return tx.Calendar.Query()
	})

	GetCalendar = op.Get("calendar.read", op.Spec{
		Resource: "Calendar", Action: op.Read, AdminLayer: true, Summary: "Get a calendar",
	}, loadCalendar)

	CreateCalendar = op.New("calendar.create", op.Spec{
		Resource: "Calendar", Action: op.Create, AdminLayer: true, Summary: "Create a calendar",
	}, createCalendar).WithCheck(func(_ context.Context, _ *op.Tx, in CreateCalendarInput) error {
		return checkCalendar(in.TimeZone, in.WorkingHours, in.Holidays, in.Exceptions)
	}, "workingHours", "holidays", "exceptions")

	UpdateCalendar = op.OnRow("calendar.update", op.Spec{
		Resource: "Calendar", Action: op.Update, AdminLayer: true,
		Summary: "Update a calendar: what counts by it from now on is as if it had always been so",
	}, loadCalendar, updateCalendar).Prepared(prepareCalendar).WithCheck(func(_ context.Context, _ *op.Tx, in UpdateCalendarInput) error { return in.check() },
		"workingHours", "holidays", "exceptions")

	DeleteCalendar = op.OnRow("calendar.delete", op.Spec{
		Resource: "Calendar", Action: op.Delete, AdminLayer: true, Summary: "Delete a calendar that nothing counts by",
	}, loadCalendar, deleteCalendar)
)

// ListCalendarsInput pages the calendars.
type ListCalendarsInput struct{ paging.Page }

func loadCalendar(ctx context.Context, tx *op.Tx, id string) (*ent.Calendar, error) {
	return op.Lock(tx, tx.Calendar.Query().Where(calendar.ID(id))).Only(ctx)
}

// CreateCalendarInput describes a new calendar.
type CreateCalendarInput struct {
	Name         string        `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	TimeZone     *string       `json:"timeZone,omitempty" nullable:"true" maxLength:"64" doc:"A name of the IANA time zone database; UTC when not given."`
	WorkingHours *WorkingHours `json:"workingHours,omitempty" nullable:"true" doc:"All hours of all days when not given."`
	Holidays     []string      `json:"holidays,omitempty" nullable:"true" maxItems:"1000" uniqueItems:"true" doc:"Days without working hours, as YYYY-MM-DD."`
	Exceptions   []Exception   `json:"exceptions,omitempty" nullable:"true" maxItems:"1000" doc:"Days with hours of their own, whatever their weekday has. They count before holidays."`
}

// createCalendar refuses unknown time zones, hours that end before they begin, and dates that do not exist.
func createCalendar(ctx context.Context, tx *op.Tx, in CreateCalendarInput) (*ent.Calendar, error) {
	zone := op.Or(in.TimeZone, "UTC")
	if err := checkCalendar(&zone, in.WorkingHours, in.Holidays, in.Exceptions); err != nil {
		return nil, err
	}
	c := tx.Calendar.Create().SetName(in.Name).SetTimeZone(zone).SetHolidays(in.Holidays)
	hours, err := encodeHours(in.WorkingHours)
	if err != nil {
		return nil, err
	}
	if hours != nil {
		c.SetWorkingHours(hours)
	}
	exceptions, err := encodeExceptions(in.Exceptions)
	if err != nil {
		return nil, err
	}
	if exceptions != nil {
		c.SetExceptions(exceptions)
	}
	cal, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the calendar: %w", err)
	}
	if err := checkTime("workingHours", cal); err != nil {
		return nil, err
	}
	tx.Changed(nil, cal)
	return cal, nil
}

// UpdateCalendarInput changes the fields that it names.
type UpdateCalendarInput struct {
	op.ByID
	Name         op.Patch[string]       `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	TimeZone     op.Patch[string]       `json:"timeZone,omitzero" maxLength:"64" doc:"A name of the IANA time zone database."`
	WorkingHours op.Patch[WorkingHours] `json:"workingHours,omitzero" nullable:"true" doc:"Replaces all hours."`
	Holidays     op.Patch[[]string]     `json:"holidays,omitzero" nullable:"true" maxItems:"1000" uniqueItems:"true" doc:"Replaces all holidays."`
	Exceptions   op.Patch[[]Exception]  `json:"exceptions,omitzero" nullable:"true" maxItems:"1000" doc:"Replaces all exceptions."`
}

func (in UpdateCalendarInput) check() error {
	return checkCalendar(in.TimeZone.Value(), in.WorkingHours.Value(), op.Or(in.Holidays.Value(), nil), op.Or(in.Exceptions.Value(), nil))
}

func updateCalendar(ctx context.Context, tx *op.Tx, before *ent.Calendar, in UpdateCalendarInput) (*ent.Calendar, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	ready, _ := op.Preparation[readyCalendar](tx)
	if !ready.from.Equal(before.UpdatedAt) {
		return nil, op.ErrOutdated
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.TimeZone, u.SetTimeZone)
	op.SetOrClear(in.Holidays, u.SetHolidays, u.ClearHolidays)
	if in.WorkingHours.IsSet() {
		hours, err := encodeHours(in.WorkingHours.Value())
		if err != nil {
			return nil, err
		}
		if hours == nil {
			u.ClearWorkingHours()
		} else {
			u.SetWorkingHours(hours)
		}
	}
	if in.Exceptions.IsSet() {
		exceptions, err := encodeExceptions(op.Or(in.Exceptions.Value(), nil))
		if err != nil {
			return nil, err
		}
		if exceptions == nil {
			u.ClearExceptions()
		} else {
			u.SetExceptions(exceptions)
		}
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the calendar: %w", err)
	}
	if after != before {
		ready.keep(after)
	}
	if after == before || !op.Sets(in, "name") {
		return after, nil
	}
	if err := checkTime(in.changed(), after); err != nil {
		return nil, err
	}
	if err := ready.check(in.changed()); err != nil {
		return nil, err
	}
	if err := replan(ctx, tx, after); err != nil {
		return nil, err
	}
	return after, timer.Rederive(ctx, tx, timer.RederiveArgs{Calendar: after.ID})
}

// replan has the next times of the calendar's schedules computed anew, if it has any.
func replan(ctx context.Context, tx *op.Tx, c *ent.Calendar) error {
	used, err := tx.Schedule.Query().Where(schedule.CalendarID(c.ID)).Exist(tx.Unfiltered(ctx, "schedules that the caller does not see count by it, too"))
	if err != nil {
		return fmt.Errorf("look for the calendar's schedules: %w", err)
	}
	if !used {
		return nil
	}
	return tx.Insert(ctx, ReplanArgs{Company: c.CompanyID, Calendar: c.ID}, time.Time{})
}

// ReplanArgs is the job that computes the next times of a calendar's schedules anew. Package schedule works it.
type ReplanArgs struct {
	Company  string `json:"company"`
	Calendar string `json:"calendar"`
}

// Kind names the job.
func (ReplanArgs) Kind() string { return "schedule_replan" }

// deleteCalendar refuses while an offering, a published workflow or a schedule uses the calendar.
func deleteCalendar(ctx context.Context, tx *op.Tx, c *ent.Calendar, _ op.ByID) (struct{}, error) {
	err := op.InUse(ctx, tx, tx.Offering.Query().Where(offering.CalendarID(c.ID)).Order(offering.ByID()), func(o *ent.Offering) error {
		if o == nil {
			return apperr.New(apperr.Conflict, "The service levels of an offering use the calendar.")
		}
		return apperr.New(apperr.Conflict, "The service levels of the offering %q (%s) use the calendar.", short(o.Name), o.ID)
	})
	if err != nil {
		return struct{}{}, err
	}
	if err := Unused(ctx, tx, "calendar", c.ID); err != nil {
		return struct{}{}, err
	}
	err = op.InUse(ctx, tx, tx.Schedule.Query().Where(schedule.CalendarID(c.ID)).Order(schedule.ByName(), schedule.ByID()), func(s *ent.Schedule) error {
		if s == nil {
			return apperr.New(apperr.Conflict, "A schedule uses the calendar.")
		}
		return apperr.New(apperr.Conflict, "The schedule %q (%s) uses the calendar.", short(s.Name), s.ID)
	})
	if err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, c, tx.Calendar.DeleteOne(c).Exec)
}
