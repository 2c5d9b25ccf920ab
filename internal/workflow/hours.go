package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/ent/calendar"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// WorkingTime is one period of work in a day.
type WorkingTime struct {
	From string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time of day such as 09:00"`
	To   string `json:"to" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" patternDescription:"a time of day such as 17:30, or 24:00" doc:"Later than from."`
}

// WorkingHours holds the periods of work by weekday; a day that is not named has none. Without any period, only exceptions have hours.
type WorkingHours struct {
	Mon []WorkingTime `json:"mon,omitempty" nullable:"true" maxItems:"24"`
	Tue []WorkingTime `json:"tue,omitempty" nullable:"true" maxItems:"24"`
	Wed []WorkingTime `json:"wed,omitempty" nullable:"true" maxItems:"24"`
	Thu []WorkingTime `json:"thu,omitempty" nullable:"true" maxItems:"24"`
	Fri []WorkingTime `json:"fri,omitempty" nullable:"true" maxItems:"24"`
	Sat []WorkingTime `json:"sat,omitempty" nullable:"true" maxItems:"24"`
	Sun []WorkingTime `json:"sun,omitempty" nullable:"true" maxItems:"24"`
}

// weekdays are the names of the days in inputs, from Sunday on as time.Weekday counts.
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// days returns the periods of each weekday, from Sunday on.
func (w *WorkingHours) days() [7]*[]WorkingTime {
	return [7]*[]WorkingTime{&w.Sun, &w.Mon, &w.Tue, &w.Wed, &w.Thu, &w.Fri, &w.Sat}
}

// Exception is a day with hours of its own.
type Exception struct {
	Date  string        `json:"date" maxLength:"10" doc:"As YYYY-MM-DD."`
	Hours []WorkingTime `json:"hours,omitempty" nullable:"true" maxItems:"24" doc:"When work is done on that day; not at all when there are none."`
}

// checkCalendar returns a validation error with the faults in the given parts of a calendar.
func checkCalendar(zone *string, week *WorkingHours, holidays []string, exceptions []Exception) error {
	var refs op.Refs
	if zone != nil {
		if _, err := time.LoadLocation(*zone); err != nil || *zone == "" || *zone == "Local" {
			refs.Fault("timeZone", "must be a name of the IANA time zone database")
		}
	}
	ordered := func(field string, list []WorkingTime) {
		for i, h := range list {
			if h.To <= h.From {
				refs.Fault(fmt.Sprintf("%s[%d].to", field, i), "must be later than from")
			}
		}
	}
	if week != nil {
		days := week.days()
		for _, day := range []time.Weekday{1, 2, 3, 4, 5, 6, 0} {
			ordered("workingHours."+weekdays[day], *days[day])
		}
	}
	for i, day := range holidays {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			refs.Fault(fmt.Sprintf("holidays[%d]", i), "must be a day as YYYY-MM-DD")
		}
	}
	seen := map[string]bool{}
	for i, e := range exceptions {
		field := fmt.Sprintf("exceptions[%d]", i)
		if _, err := time.Parse(time.DateOnly, e.Date); err != nil {
			refs.Fault(field+".date", "must be a day as YYYY-MM-DD")
		} else if seen[e.Date] {
			refs.Fault(field+".date", "must not be named twice")
		}
		seen[e.Date] = true
		ordered(field+".hours", e.Hours)
	}
	return refs.Err()
}

// checkTime returns a validation error about a field when the calendar has no working time on any day.
func checkTime(field string, c *ent.Calendar) error {
	week, err := HoursOf(c)
	if err != nil || week == nil {
		return err
	}
	for _, times := range week.days() {
		if len(*times) > 0 {
			return nil
		}
	}
	exceptions, err := ExceptionsOf(c)
	if err != nil || slices.ContainsFunc(exceptions, func(e *Exception) bool { return len(e.Hours) > 0 }) {
		return err
	}
	return apperr.InvalidField(field, "must leave working time: hours of a weekday, or an exception with hours")
}

// stretch is a period of work as the row stores it.
type stretch struct {
	Day string `json:"day"`
	WorkingTime
}

// encodeHours encodes working hours as the row stores them: nil when all hours count, and an empty list when only exceptions do.
func encodeHours(week *WorkingHours) (json.RawMessage, error) {
	if week == nil {
		return nil, nil
	}
	list := []stretch{}
	for day, times := range week.days() {
		for _, one := range *times {
			list = append(list, stretch{strings.ToUpper(weekdays[day]), one})
		}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("write the working hours: %w", err)
	}
	return raw, nil
}

func encodeExceptions(list []Exception) (json.RawMessage, error) {
	if len(list) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("write the exceptions: %w", err)
	}
	return raw, nil
}

// HoursOf returns a calendar's working hours; nil when all hours count.
func HoursOf(c *ent.Calendar) (*WorkingHours, error) {
	if len(c.WorkingHours) == 0 {
		return nil, nil
	}
	var list []stretch
	if err := json.Unmarshal(c.WorkingHours, &list); err != nil {
		return nil, fmt.Errorf("read the working hours of %s: %w", c.ID, err)
	}
	week := &WorkingHours{}
	days := week.days()
	for _, one := range list {
		if day := slices.Index(weekdays, strings.ToLower(one.Day)); day >= 0 {
			*days[day] = append(*days[day], one.WorkingTime)
		}
	}
	return week, nil
}

// ExceptionsOf returns a calendar's days with hours of their own.
func ExceptionsOf(c *ent.Calendar) ([]*Exception, error) {
	return strictjson.List[Exception](c.Exceptions, "exceptions", c.ID)
}

// CompileCalendar compiles a calendar's row for counting.
func CompileCalendar(c *ent.Calendar) (*sla.Calendar, error) {
	week, err := HoursOf(c)
	if err != nil {
		return nil, err
	}
	var hours []sla.Hours
	if week != nil {
		hours = []sla.Hours{}
		for day, times := range week.days() {
			hours = append(hours, compiled(time.Weekday(day), *times)...)
		}
	}
	list, err := ExceptionsOf(c)
	if err != nil {
		return nil, err
	}
	exceptions := make([]sla.Exception, len(list))
	for i, e := range list {
		exceptions[i] = sla.Exception{Date: e.Date, Hours: compiled(0, e.Hours)}
	}
	return sla.New(c.TimeZone, hours, c.Holidays, exceptions...)
}

// calendars caches compiled calendars by id, with the updatedAt of the row that each was compiled from. A compiled calendar
// never changes, so all engines of the process share the cache. With a thousand exceptions of 24 periods each, and as many holidays, a
// calendar takes 220 KB.
var calendars, _ = lru.New[string, cachedCalendar](256)

type cachedCalendar struct {
	at       time.Time
	calendar *sla.Calendar
}

// CalendarOf returns a compiled calendar of the company; nil for an empty id, and for a calendar that was deleted. It reads and
// compiles the hours only after a change.
func CalendarOf(ctx context.Context, db *ent.Client, id string) (*sla.Calendar, error) {
	if id == "" {
		return nil, nil // all hours count
	}
	row, err := db.Calendar.Query().Where(calendar.ID(id)).Select(calendar.FieldID, calendar.FieldCompanyID, calendar.FieldUpdatedAt).Only(ctx)
	if err == nil {
		if cached, ok := calendars.Get(id); ok && cached.at.Equal(row.UpdatedAt) {
			return cached.calendar, nil
		}
		row, err = db.Calendar.Query().Where(calendar.ID(id)).Only(ctx)
	}
	if ent.IsNotFound(err) {
		return nil, nil // all hours count
	}
	if err != nil {
		return nil, fmt.Errorf("read the calendar: %w", err)
	}
	c, err := CompileCalendar(row)
	if err != nil {
		return nil, fmt.Errorf("read the calendar %s: %w", id, err)
	}
	calendars.Add(id, cachedCalendar{row.UpdatedAt, c})
	return c, nil
}

func compiled(day time.Weekday, times []WorkingTime) []sla.Hours {
	out := make([]sla.Hours, len(times))
	for i, t := range times {
		out[i] = sla.Hours{Day: day, From: minutes(t.From), To: minutes(t.To)}
	}
	return out
}

// minutes reads a time of day such as 09:30, which was checked when the calendar was saved.
func minutes(clock string) int {
	h, m, _ := strings.Cut(clock, ":")
	hours, _ := strconv.Atoi(h)
	past, _ := strconv.Atoi(m)
	return hours*60 + past
}
