package execution

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/slaevent"
	"atrium/ent/task"
	domain "atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/definition"
)

const (
	slaWorker = "service levels" // its name in audit entries
	taskBatch = 500              // tasks that one query finds
)

// levelsOf returns the service levels of a phase; nil for none.
func levelsOf(s *definition.SLA) *sla.Levels {
	if s == nil || s.ResponseMinutes == 0 && s.ResolutionMinutes == 0 {
		return nil
	}
	l := &sla.Levels{WarnAtPercent: s.WarnAtPercent, CalendarID: s.CalendarID}
	if s.ResponseMinutes > 0 {
		l.ResponseMinutes = &s.ResponseMinutes
	}
	if s.ResolutionMinutes > 0 {
		l.ResolutionMinutes = &s.ResolutionMinutes
	}
	return l
}

// startTaskClock sets the clock of a new task in its mutation. The task's due time follows from its phase's levels, unless the
// phase sets one. If the request waits when the task opens, the clock starts when the request resumes.
func startTaskClock(ctx context.Context, tx *op.Tx, m *ent.TaskMutation, p *definition.Phase, requestID *string, dueAt *time.Time) error {
	l := levelsOf(p.SLA)
	if l == nil {
		return nil
	}
	now := tx.Now(ctx)
	m.SetCreatedAt(now)
	m.SetSLALevels(l)
	clock, err := clockOf(ctx, tx, &ent.Task{CreatedAt: now, RequestID: requestID, SLALevels: l, Status: task.StatusOPEN}, now)
	if err != nil {
		return err
	}
	putTaskClock(m, clock)
	if due := clock.ResolutionDueAt; dueAt == nil {
		if due == nil && l.ResolutionMinutes == nil {
			due = clock.ResponseDueAt
		}
		domain.SetOrClearMoment(due, m.SetDueAt, func() {})
	}
	return domain.WakeFor(ctx, tx, clock.NextAt, now)
}

// clockOf derives the clock of a task from its row, its earlier firings, and the pauses of its request.
func clockOf(ctx context.Context, tx *op.Tx, t *ent.Task, now time.Time) (sla.Clock, error) {
	cal, err := domain.CalendarOf(ctx, tx.Client, t.SLALevels.CalendarID)
	if err != nil {
		return sla.Clock{}, err
	}
	log := []sla.Event{{Kind: sla.Filed, At: t.CreatedAt}}
	if t.ClaimedAt != nil {
		log = append(log, sla.Event{Kind: sla.Answered, At: *t.ClaimedAt, Due: t.ResponseDueAt})
	}
	switch {
	case t.CompletedAt != nil:
		log = append(log, sla.Event{Kind: sla.Ended, At: *t.CompletedAt})
	case t.Status == task.StatusCANCELLED:
		log = append(log, sla.Event{Kind: sla.Ended, At: t.UpdatedAt})
	}
	of := slaevent.SubjectID(t.ID)
	if t.RequestID != nil {
		of = slaevent.Or(of, slaevent.And(slaevent.SubjectID(*t.RequestID), slaevent.KindIn(slaevent.KindPAUSED, slaevent.KindRESUMED)))
	}
	rows, err := tx.SLAEvent.Query().Where(of).All(ctx)
	if err != nil {
		return sla.Clock{}, fmt.Errorf("read the log of the task's clock: %w", err)
	}
	for _, e := range rows {
		log = append(log, sla.Event{Kind: sla.Kind(e.Kind), At: e.At, Key: e.Key})
	}
	return sla.Derive(*t.SLALevels, "", cal, log, now), nil
}

func putTaskClock(m *ent.TaskMutation, c sla.Clock) {
	domain.SetOrClearMoment(c.ResponseDueAt, m.SetResponseDueAt, m.ClearResponseDueAt)
	domain.SetOrClearMoment(c.ResolutionDueAt, m.SetResolutionDueAt, m.ClearResolutionDueAt)
	domain.SetOrClearMoment(c.NextAt, m.SetSLANextAt, m.ClearSLANextAt)
	if c.State == sla.None {
		m.ClearSLAState()
	} else {
		m.SetSLAState(task.SLAState(c.State))
	}
}

// settleTask brings a task's clock up to a moment, in the transaction that has locked the row, as settle does for requests.
func settleTask(ctx context.Context, tx *op.Tx, t *ent.Task, now time.Time) (*ent.Task, error) {
	if t.SLALevels == nil {
		return t, nil
	}
	w := tx.AsWorker(slaWorker)
	ctx = principal.With(ctx, w.Principal())
	clock, err := clockOf(ctx, w, t, now)
	if err != nil {
		return nil, err
	}
	for _, f := range clock.Firings {
		err := w.SLAEvent.Create().SetSubjectID(t.ID).SetKind(slaevent.Kind(f.Kind)).SetKey(f.Key).SetAt(now).Exec(ctx)
		if err != nil {
			return nil, fmt.Errorf("note what has fallen due: %w", err)
		}
		if err := tellPhase(ctx, w, t, f); err != nil {
			return nil, err
		}
	}
	u := t.Update()
	putTaskClock(u.Mutation(), clock)
	changes, err := op.Changes(ctx, u.Mutation())
	if err != nil {
		return nil, err
	}
	if changes {
		if t, err = u.Save(ctx); err != nil {
			return nil, fmt.Errorf("write the task's clock: %w", err)
		}
	}
	return t, domain.WakeFor(ctx, w, clock.NextAt, now)
}

// tellPhase emits the event for a phase's target as an event of its request, because events of service levels are about
// requests. For an execution without a request it writes only an audit entry.
func tellPhase(ctx context.Context, w *op.Tx, t *ent.Task, f sla.Firing) error {
	if t.RequestID == nil {
		name := events.SLAWarning
		if f.Kind == sla.Breached {
			name = events.SLABreached
		}
		return w.Note(ctx, name, "Task", t.ID, map[string]audit.Change{"target": {To: string(f.Target)}})
	}
	r, err := w.Request.Get(ctx, *t.RequestID)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	return domain.EmitTarget(ctx, w, r, f, &t.PhaseID)
}

// TaskClocks returns the sweep that fires what has fallen due at the clocks of tasks.
func TaskClocks(e *op.Engine) domain.Sweep {
	return func(ctx context.Context, now time.Time) (time.Time, error) {
		system := principal.System(ctx, "the clocks of all companies are kept together")
		db := e.Store.Reader()
		errs := jobs.DueEach(ctx, taskBatch, func(last *ent.Task) ([]*ent.Task, error) {
			q := db.Task.Query().Where(task.SLANextAtLTE(now))
			if last != nil {
				q.Where(jobs.After[predicate.Task](task.FieldSLANextAt, *last.SLANextAt, last.ID))
			}
			due, err := q.Order(task.BySLANextAt(), task.ByID()).Limit(taskBatch).
				Select(task.FieldID, task.FieldCompanyID, task.FieldSLANextAt).All(system)
			if err != nil {
				return nil, fmt.Errorf("look for tasks whose moment has come: %w", err)
			}
			return due, nil
		}, func(t *ent.Task) error { return settleDue(ctx, e, t.CompanyID, t.ID, now) })
		next, err := db.Task.Query().Where(task.SLANextAtGT(now)).Order(task.BySLANextAt()).Limit(1).Select(task.FieldID, task.FieldSLANextAt).All(system)
		if err != nil || len(next) == 0 || next[0].SLANextAt == nil {
			return time.Time{}, errors.Join(errs, err)
		}
		return *next[0].SLANextAt, errs
	}
}

func settleDue(ctx context.Context, e *op.Engine, company, id string, now time.Time) error {
	return e.Work(ctx, company, slaWorker, func(ctx context.Context, tx *op.Tx) error {
		t, err := op.Lock(tx, tx.Task.Query().Where(task.ID(id), task.SLANextAtLTE(now))).Only(ctx)
		if ent.IsNotFound(err) {
			return nil // another worker has settled it
		}
		if err != nil {
			return fmt.Errorf("read the task: %w", err)
		}
		_, err = settleTask(ctx, tx, t, now)
		return err
	})
}
