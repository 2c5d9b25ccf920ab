package rest

import (
	"time"

	"atrium/ent"
	"atrium/internal/workflow/schedule"
)

// ScheduleEvery says how often a schedule runs, without a cron expression.
type ScheduleEvery struct {
	Unit     string   `json:"unit" enum:"HOUR,DAY,WEEK,MONTH" doc:"In what it repeats." example:"WEEK"`
	At       string   `json:"at" doc:"The time of day, as HH:MM. Of HOUR the minutes alone count." example:"09:00"`
	Weekdays []string `json:"weekdays" nullable:"true" doc:"The days of a WEEK, from mon to sun." example:"[\"mon\"]"`
	Day      *int     `json:"day" doc:"The day of a MONTH, 1 to 31; in shorter months their last day." exampleNull:"true"`
}

func scheduleEveryOut(s *ent.Schedule) *ScheduleEvery {
	e, err := schedule.EveryOf(s)
	if err != nil || e == nil { // it was checked when it was saved
		return nil
	}
	return &ScheduleEvery{e.Unit, e.At, e.Weekdays, e.Day}
}

func scheduleRequestOut(s *ent.Schedule) *Object { return objectOrNil(s.Request) }

// ScheduleTimes are the next times at which a schedule would run.
type ScheduleTimes struct {
	Times []Time `json:"times" doc:"Ten at most, in order."`
}

func scheduleTimesOut(list []time.Time) ScheduleTimes {
	out := ScheduleTimes{Times: make([]Time, len(list))}
	for i, t := range list {
		out.Times[i] = at(t)
	}
	return out
}
