package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/schedule"
	"atrium/ent/schedulerun"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
)

const (
	worker  = "schedule"
	late    = time.Hour // after which a time is missed
	maxSaid = 500       // characters of a reason
)

// Args is the job of a planned time.
type Args struct {
	Company string    `json:"company"`
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
}

// Kind names the job.
func (Args) Kind() string { return "schedule_run" }

type runner struct {
	river.WorkerDefaults[Args]
	engine *op.Engine
}

// Work makes a queue run schedules.
func Work(e *op.Engine) jobs.Option {
	return jobs.All(jobs.Work(&runner{engine: e}), jobs.Work(&replanner{engine: e}))
}

// turn is a planned time that has come.
type turn struct {
	*runner
	job  *river.Job[Args]
	row  *ent.Schedule
	next *time.Time // after now
	last *time.Time // the last planned time that is not missed yet; nil for none
}

// Work runs a schedule whose time has come, once, whatever comes of it.
func (r *runner) Work(ctx context.Context, job *river.Job[Args]) error {
	reads := r.engine.Reading(ctx, job.Args.Company, worker)
	s, err := r.engine.Store.Reader().Schedule.Get(reads, job.Args.ID)
	if err != nil || !due(s, job.Args.At) {
		return ent.MaskNotFound(err)
	}
	t := &turn{runner: r, job: job, row: s}
	faults, err := t.look(reads)
	if err != nil {
		return err
	}
	switch missed := t.last == nil || !t.last.Equal(job.Args.At); {
	case len(faults) > 0:
		return t.note(ctx, schedulerun.StatusFAILED, apperr.Said(apperr.Invalid(faults...)), nil)
	case missed && s.Missed == schedule.MissedSKIP:
		next := t.next
		if t.last != nil {
			next = t.last
		}
		return t.note(ctx, schedulerun.StatusSKIPPED, "It was missed: no server ran at that time.", next)
	}
	by, err := notice.AsWhom(reads, r.engine.Store.Reader(), s.RunsAs)
	if err != nil {
		return err
	}
	if by == nil {
		return t.note(ctx, schedulerun.StatusFAILED, "Whoever saved the schedule last was deactivated.", t.next)
	}
	if err = t.run(reads, ctx, by); err != nil && apperr.Refuses(err) {
		return t.note(ctx, schedulerun.StatusFAILED, apperr.Said(err), t.next)
	}
	return err
}

// due reports whether a time is still the next of a schedule.
func due(s *ent.Schedule, at time.Time) bool {
	return s.Enabled && s.NextRunAt != nil && s.NextRunAt.Equal(at)
}

// look finds the next time, and the last one if it is not missed.
func (t *turn) look(ctx context.Context) ([]apperr.Detail, error) {
	w, _, err := settingsOf(t.row)
	if err != nil {
		return nil, err
	}
	plan, faults, err := w.compile(ctx, t.engine.Store.Reader())
	if err != nil || len(faults) > 0 {
		return faults, err
	}
	planned, now := t.job.Args.At, clock.From(ctx).Now()
	if now.Before(planned) { // this node's clock is behind
		now = planned
	}
	if next, ok := plan.after(now); ok {
		t.next = &next
	}
	from := planned
	if now.Sub(planned) <= late {
		t.last = &planned
	} else {
		from = now.Add(-late)
	}
	for at, ok := plan.after(from); ok && !at.After(now); at, ok = plan.after(at) {
		t.last = &at
	}
	return nil, nil
}

// run does what is planned as somebody, and goes on, in one transaction.
func (t *turn) run(reads, ctx context.Context, by *principal.Principal) error {
	in := RunInput{ByID: op.ByID{ID: t.row.ID}, Planned: &t.job.Args.At}
	ready, err := op.Prepare(reads, t.engine, by, Run, in)
	if err != nil {
		return err
	}
	return t.engine.WorkAs(ctx, by, func(ctx context.Context, tx *op.Tx) error {
		if done, err := t.done(ctx, tx); done || err != nil {
			return err
		}
		if _, err := op.RunReady(ctx, tx, Run, ready); err != nil {
			return err
		}
		return t.goOn(ctx, tx, t.next)
	})
}

// note writes down that nothing was done, and goes on, in one transaction.
func (t *turn) note(ctx context.Context, as schedulerun.Status, reason string, next *time.Time) error {
	people, err := t.toTell(ctx, as)
	if err != nil {
		return err
	}
	return t.engine.Work(ctx, t.row.CompanyID, worker, func(ctx context.Context, tx *op.Tx) error {
		if done, err := t.done(ctx, tx); done || err != nil {
			return err
		}
		err := tx.ScheduleRun.Create().SetScheduleID(t.row.ID).SetPlannedAt(t.job.Args.At).SetStatus(as).SetReason(text.Short(reason, maxSaid)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the run: %w", err)
		}
		if err := forget(ctx, tx, t.row.ID); err != nil {
			return err
		}
		if err := notice.Send(ctx, tx, people, failed(t.row, reason)); err != nil {
			return err
		}
		return t.goOn(ctx, tx, next)
	})
}

// done locks the schedule, and completes the job of a time that is not its next any more, or that has a run, as it may have when clocks
// went back.
func (t *turn) done(ctx context.Context, tx *op.Tx) (bool, error) {
	s, err := op.Lock(tx, tx.Schedule.Query().Where(schedule.ID(t.row.ID))).Only(ctx)
	if ent.IsNotFound(err) || err == nil && !due(s, t.job.Args.At) {
		return true, tx.Complete(ctx, t.job.JobRow)
	}
	if err != nil {
		return false, fmt.Errorf("read the schedule: %w", err)
	}
	ran, err := tx.ScheduleRun.Query().Where(schedulerun.ScheduleID(s.ID), schedulerun.PlannedAt(t.job.Args.At)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the run: %w", err)
	}
	if ran {
		return true, t.goOn(ctx, tx, t.next)
	}
	return false, nil
}

// goOn sets the next time of a schedule with its job, and completes this one.
func (t *turn) goOn(ctx context.Context, tx *op.Tx, next *time.Time) error {
	if err := set(ctx, tx, t.row, next); err != nil {
		return err
	}
	return tx.Complete(ctx, t.job.JobRow)
}

// set writes the next time of a schedule, with its job.
func set(ctx context.Context, tx *op.Tx, s *ent.Schedule, next *time.Time) error {
	u := tx.Schedule.UpdateOneID(s.ID)
	if next == nil {
		u.ClearNextRunAt()
	} else {
		u.SetNextRunAt(*next)
	}
	after, err := u.Save(ctx)
	if err != nil {
		return fmt.Errorf("set the next time: %w", err)
	}
	return wake(ctx, tx, after)
}
