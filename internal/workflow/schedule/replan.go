package schedule

import (
	"context"
	"errors"
	"fmt"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/schedule"
	"atrium/internal/op"
	"atrium/internal/workflow"
)

// replanner computes the next times of the schedules of a calendar anew.
type replanner struct {
	river.WorkerDefaults[workflow.ReplanArgs]
	engine *op.Engine
}

// Work computes them one by one. A time that is due already stays.
func (r *replanner) Work(ctx context.Context, job *river.Job[workflow.ReplanArgs]) error {
	a := job.Args
	reads := r.engine.Reading(ctx, a.Company, worker)
	ids, err := r.engine.Store.Reader().Schedule.Query().Where(schedule.CalendarID(a.Calendar), schedule.Enabled(true)).Order(schedule.ByID()).IDs(reads)
	if err != nil {
		return fmt.Errorf("look for the calendar's schedules: %w", err)
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, r.engine.Work(ctx, a.Company, worker, func(ctx context.Context, tx *op.Tx) error { return replan(ctx, tx, id) }))
	}
	return errors.Join(errs...)
}

func replan(ctx context.Context, tx *op.Tx, id string) error {
	s, err := op.Lock(tx, tx.Schedule.Query().Where(schedule.ID(id))).Only(ctx)
	now := tx.Now(ctx)
	if err != nil || !s.Enabled || s.NextRunAt != nil && !s.NextRunAt.After(now) {
		return ent.MaskNotFound(err)
	}
	w, _, err := settingsOf(s)
	if err != nil {
		return err
	}
	t, faults, err := w.compile(ctx, tx.Client)
	if err != nil || len(faults) > 0 {
		return err // its next run tells
	}
	at, ok := t.after(now)
	switch {
	case !ok:
		return set(ctx, tx, s, nil)
	case s.NextRunAt != nil && s.NextRunAt.Equal(at):
		return nil
	}
	return set(ctx, tx, s, &at)
}
