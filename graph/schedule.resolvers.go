package graph

import (
	"context"
	"time"

	"atrium/ent"
	entschedule "atrium/ent/schedule"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/op"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/schedule"
)

func (r *queryResolver) ScheduleRuns(ctx context.Context, id string, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.ScheduleRun], error) {
	in := &schedule.ListRunsInput{ByID: op.ByID{ID: text.Plain(id)}}
	return resolve.List(ctx, r.Engine, schedule.ListRuns, in, first, after, orderBy)
}

func (r *queryResolver) ScheduleTimes(ctx context.Context, cron *string, every *schedule.Every, timeZone string, calendarID *string,
	onClosed *entschedule.OnClosed,
) ([]*time.Time, error) {
	in := schedule.TimesInput{Cron: cron, Every: every, TimeZone: timeZone, CalendarID: calendarID, OnClosed: (*string)(onClosed)}
	times, err := resolve.Run(ctx, r.Engine, schedule.Times, in)
	out := make([]*time.Time, len(times))
	for i := range times {
		out[i] = &times[i]
	}
	return out, err
}

func (r *scheduleResolver) Every(_ context.Context, s *ent.Schedule) (*schedule.Every, error) {
	return schedule.EveryOf(s)
}
