package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	_ "time/tzdata" // the zones are the same wherever the product runs

	"atrium/ent"
	"atrium/ent/calendar"
	"atrium/internal/op"
	"atrium/internal/paging"
)

var calendarSorts = op.Sorts{"createdAt": calendar.FieldCreatedAt, "updatedAt": calendar.FieldUpdatedAt, "name": op.Folded(calendar.FieldName)}

// The operations on calendars, by whose working hours timers and service levels count.
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
	}, createCalendar)
)

// ListCalendarsInput pages the calendars.
type ListCalendarsInput struct{ paging.Page }

func loadCalendar(ctx context.Context, tx *op.Tx, id string) (*ent.Calendar, error) {
	return op.Lock(tx, tx.Calendar.Query().Where(calendar.ID(id))).Only(ctx)
}

// WorkingHours are one stretch of work on one day of the week.
type WorkingHours struct {
	Day  string `json:"day" enum:"MON,TUE,WED,THU,FRI,SAT,SUN"`
	From string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time of day such as 09:00"`
	To   string `json:"to" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" patternDescription:"a time of day such as 17:30, or 24:00" doc:"Later than from."`
}

// CreateCalendarInput describes a new calendar.
type CreateCalendarInput struct {
	Name         string         `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	TimeZone     *string        `json:"timeZone,omitempty" nullable:"true" maxLength:"64" doc:"A name of the IANA time zone database; UTC when not given."`
	WorkingHours []WorkingHours `json:"workingHours,omitempty" nullable:"true" maxItems:"100" doc:"All hours of all days when not given."`
	Holidays     []string       `json:"holidays,omitempty" nullable:"true" maxItems:"1000" uniqueItems:"true" doc:"Days without working hours, as YYYY-MM-DD."`
}

// createCalendar refuses zones that nobody knows, hours that end before they begin, and days that are none.
func createCalendar(ctx context.Context, tx *op.Tx, in CreateCalendarInput) (*ent.Calendar, error) {
	zone := op.Or(in.TimeZone, "UTC")
	var refs op.Refs
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
		refs.Fault("timeZone", "must be a name of the IANA time zone database")
	}
	for i, h := range in.WorkingHours {
		if h.To <= h.From {
			refs.Fault(fmt.Sprintf("workingHours[%d].to", i), "must be later than from")
		}
	}
	for i, day := range in.Holidays {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			refs.Fault(fmt.Sprintf("holidays[%d]", i), "must be a day as YYYY-MM-DD")
		}
	}
	if err := refs.Err(); err != nil {
		return nil, err
	}
	c := tx.Calendar.Create().SetName(in.Name).SetTimeZone(zone).SetHolidays(in.Holidays)
	if len(in.WorkingHours) > 0 {
		hours, err := json.Marshal(in.WorkingHours)
		if err != nil {
			return nil, fmt.Errorf("write the working hours: %w", err)
		}
		c.SetWorkingHours(hours)
	}
	cal, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the calendar: %w", err)
	}
	tx.Changed(nil, cal)
	return cal, nil
}

// HoursOf returns a calendar's working hours; none when all hours are.
func HoursOf(c *ent.Calendar) ([]*WorkingHours, error) {
	hours := []*WorkingHours{}
	if len(c.WorkingHours) == 0 {
		return hours, nil
	}
	if err := json.Unmarshal(c.WorkingHours, &hours); err != nil {
		return nil, fmt.Errorf("read the working hours of %s: %w", c.ID, err)
	}
	return hours, nil
}
