package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
)

const (
	taskBatch = 1   // of several, one transaction would wait for another that ends the tasks of an execution
	readTasks = 100 // tasks whose clocks are derived at a time outside of transactions
)

// clockColumns are those that a task's clock is derived from and stored in.
var clockColumns = []string{
	task.FieldID, task.FieldCompanyID, task.FieldRequestID, task.FieldStatus, task.FieldSLALevels, task.FieldCreatedAt, task.FieldUpdatedAt,
	task.FieldClaimedAt, task.FieldCompletedAt, task.FieldSLAState, task.FieldSLANextAt, task.FieldResponseDueAt, task.FieldResolutionDueAt,
}

// TaskClocks are the clocks of tasks, for timer's sweep.
var TaskClocks = timer.Kind{
	Name: "tasks", Batch: taskBatch,

	Due: func(db *ent.Client, match func(*sql.Selector), limit int) timer.Selection {
		return db.Task.Query().Where(match).Order(task.BySLANextAt(), task.ByID()).Limit(limit).
			Select(task.FieldID, task.FieldCompanyID, task.FieldSLANextAt)
	},

	Advance: func(ctx context.Context, tx *op.Tx, ids []string, now time.Time) (rest []string, err error) {
		return advanceTasks(ctx, tx, ids, task.SLANextAtLTE(now), now, events.Cause{})
	},

	Rederive: rederiveTasks,
}

// advanceTasks locks the tasks of these ids that match, and advances their clocks for one turn.
func advanceTasks(ctx context.Context, tx *op.Tx, ids []string, match predicate.Task, now time.Time, cause events.Cause) (rest []string, err error) {
	rows, err := op.Lock(tx, tx.Task.Query().Where(task.IDIn(ids...), match, task.SLALevelsNotNil()).Order(task.ByID())).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the tasks: %w", err)
	}
	ctx, log := timer.LogOf(ctx, tx, now)
	return timer.AdvanceAll(ctx, log, taskClocks{log, cause}, rows)
}

// rederiveTasks advances the clocks of the open tasks that a change of their calendar has moved. Tasks have service levels of their
// own, so a change of an offering moves none.
func rederiveTasks(ctx context.Context, e *op.Engine, change timer.RederiveArgs) error {
	if change.Calendar == "" {
		return nil
	}
	tx := e.Outside(principal.Worker(change.Company, timer.Worker))
	for last := ""; ; {
		now := e.Store.Clock().Now()
		reading, log := timer.LogOf(ctx, tx, now)
		rows, err := tx.Task.Query().Where(lifecycle.OpenTasks(), task.SLAStateNotNil(), task.IDGT(last)).Order(task.ByID()).Limit(readTasks).
			Select(clockColumns...).All(reading)
		if err != nil {
			return fmt.Errorf("read the tasks: %w", err)
		}
		counting := slices.DeleteFunc(slices.Clone(rows), func(t *ent.Task) bool {
			return t.SLALevels == nil || t.SLALevels.CalendarID != change.Calendar
		})
		var subjects, ids []string
		for _, t := range counting {
			subjects = append(subjects, t.ID)
			if t.RequestID != nil {
				subjects = append(subjects, *t.RequestID)
			}
		}
		if err := log.Read(reading, subjects...); err != nil {
			return err
		}
		err = e.Costly(reading, change.Company, func(ctx context.Context) error {
			ids, err = timer.Behind(ctx, taskClocks{log, events.Cause{}}, counting)
			return err
		})
		if err != nil {
			return err
		}
		err = timer.InTurns(ctx, e, change.Company, ids, taskBatch, func(ctx context.Context, tx *op.Tx, ids []string) ([]string, error) {
			return advanceTasks(ctx, tx, ids, lifecycle.OpenTasks(), now, events.Cause{MailAt: change.MailAt})
		})
		if err != nil || len(rows) < readTasks {
			return err
		}
		last = rows[len(rows)-1].ID
	}
}

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
	ctx, log := timer.LogOf(ctx, tx, now)
	clock, err := taskClocks{log, events.Cause{}}.Derive(ctx, &ent.Task{CreatedAt: now, RequestID: requestID, SLALevels: l, Status: task.StatusOPEN})
	if err != nil {
		return err
	}
	timer.Put(m, clock)
	due := clock.ResolutionDueAt
	if due == nil && l.ResolutionMinutes == nil {
		due = clock.ResponseDueAt
	}
	if dueAt == nil && due != nil {
		m.SetDueAt(timer.Stored(*due))
	}
	return timer.Wake(ctx, tx, clock.NextAt, now)
}

// advanceTask brings a task's clock up to a moment, in the transaction that has locked the row. Returns the row as it is
// afterwards.
func advanceTask(ctx context.Context, tx *op.Tx, t *ent.Task, now time.Time) (*ent.Task, error) {
	if t.SLALevels == nil {
		return t, nil
	}
	ctx, log := timer.LogOf(ctx, tx, now)
	return timer.Advance(ctx, log, taskClocks{log, events.Cause{}}, t)
}

// taskClocks are the clocks of tasks in one transaction.
type taskClocks struct {
	*timer.Log
	cause events.Cause
}

// ID returns the task's id.
func (taskClocks) ID(t *ent.Task) string { return t.ID }

// Derive returns the clock of a task. It pauses while the clock of the task's request does.
func (c taskClocks) Derive(ctx context.Context, t *ent.Task) (sla.Clock, error) {
	cal, err := workflow.CalendarOf(ctx, c.Tx.Client, t.SLALevels.CalendarID)
	if err != nil {
		return sla.Clock{}, err
	}
	log, err := c.Events(ctx, t.ID)
	if err != nil {
		return sla.Clock{}, err
	}
	if t.RequestID != nil {
		lines, err := c.Events(ctx, *t.RequestID)
		if err != nil {
			return sla.Clock{}, err
		}
		for _, e := range lines {
			if e.Kind == sla.Paused || e.Kind == sla.Resumed {
				log = append(log, e)
			}
		}
	}
	log = append(log, sla.Event{Kind: sla.Filed, At: t.CreatedAt})
	if t.ClaimedAt != nil {
		log = append(log, sla.Event{Kind: sla.Answered, At: *t.ClaimedAt, Due: t.ResponseDueAt})
	}
	switch {
	case t.CompletedAt != nil:
		log = append(log, sla.Event{Kind: sla.Ended, At: *t.CompletedAt})
	case t.Status == task.StatusCANCELLED:
		log = append(log, sla.Event{Kind: sla.Ended, At: t.UpdatedAt})
	}
	return sla.Derive(*t.SLALevels, "", cal, log, c.Now), nil
}

// Changes reports whether the task's row holds another clock.
func (taskClocks) Changes(ctx context.Context, t *ent.Task, clock sla.Clock) (bool, error) {
	m := t.Update().Mutation()
	timer.Put(m, clock)
	return op.Changes(ctx, m)
}

// Save writes the clock's values into the task's row.
func (c taskClocks) Save(ctx context.Context, t *ent.Task, clock sla.Clock) (*ent.Task, error) {
	u := t.Update()
	timer.Put(u.Mutation(), clock)
	t, err := op.Save(ctx, c.Tx, t, u)
	if err != nil {
		return nil, fmt.Errorf("write the task's clock: %w", err)
	}
	return t, nil
}

// Fire emits the event for a phase's target as an event of its request, because events of service levels are about requests. For
// an execution without a request it writes only an audit entry.
func (c taskClocks) Fire(ctx context.Context, t *ent.Task, f sla.Firing) (*ent.Task, error) {
	if t.RequestID == nil {
		return t, c.Tx.Note(ctx, timer.EventOf(f), "Task", t.ID, map[string]audit.Change{"target": {To: string(f.Target)}})
	}
	r, err := c.Tx.Request.Get(ctx, *t.RequestID)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return t, timer.Emit(ctx, c.Tx, r, f, &t.PhaseID, c.cause)
}
