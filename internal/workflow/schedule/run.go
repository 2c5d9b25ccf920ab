package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/schedulerun"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/execution"
)

// kept is how many runs of a schedule are kept.
const kept = 50

// Run does what a schedule plans, once and as the caller.
var Run = op.OnRow("schedule.run", op.Spec{
	Resource: "Schedule", Action: op.Update, Scope: "workflows:write", Past: map[string]string{"schedule.run": "schedule.ran"},
	Summary: "Run a schedule once, now; its planned times stay as they are",
}, load, run).Prepared(prepareRun)

// RunInput names a schedule.
type RunInput struct {
	op.ByID
	Planned *time.Time `json:"-"` // the time that has come; nil for now. The job alone gives it
}

// ready is a request about to be filed.
type ready struct {
	of      time.Time // when the schedule was changed last
	request op.Ready[request.CreateInput]
	refused error
}

// prepareRun prepares the request that a schedule files.
func prepareRun(ctx context.Context, tx *op.Tx, in RunInput) (any, error) {
	s, err := tx.Schedule.Get(ctx, in.ID)
	if err != nil {
		return nil, ent.MaskNotFound(err) // the operation finds out
	}
	out := ready{of: s.UpdatedAt}
	if s.OfferingID == nil {
		return out, nil
	}
	_, t, err := settingsOf(s)
	if err != nil {
		return nil, err
	}
	off, err := tx.Offering.Get(ctx, *s.OfferingID)
	if err != nil {
		return nil, fmt.Errorf("read the offering: %w", err)
	}
	out.request, err = op.PrepareWithin(ctx, tx, request.Create, t.Request.of(off))
	if err != nil && apperr.Refuses(err) {
		out.refused, err = err, nil
	}
	return out, err
}

func run(ctx context.Context, tx *op.Tx, s *ent.Schedule, in RunInput) (*ent.ScheduleRun, error) {
	prepared, _ := op.Preparation[ready](tx)
	if !prepared.of.Equal(s.UpdatedAt) {
		return nil, op.ErrOutdated
	}
	if prepared.refused != nil {
		return nil, prepared.refused
	}
	planned, err := in.at(ctx, tx, s)
	if err != nil {
		return nil, err
	}
	c := tx.ScheduleRun.Create().SetScheduleID(s.ID).SetPlannedAt(planned).SetStartedAt(tx.Now(ctx)).SetStatus(schedulerun.StatusSTARTED)
	if s.WorkflowID != nil {
		call, err := variables(s, planned)
		if err != nil {
			return nil, err
		}
		e, err := execution.Launch{WorkflowID: *s.WorkflowID, Webhook: call}.Start(ctx, tx)
		if err != nil {
			return nil, err
		}
		c.SetExecutionID(e.ID)
		tx.ChangedField("executionId", nil, e.ID)
	} else {
		r, err := op.RunReady(ctx, tx, request.Create, prepared.request)
		if err != nil {
			return nil, err
		}
		c.SetRequestID(r.ID)
		tx.ChangedField("requestId", nil, r.ID)
	}
	out, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("note the run: %w", err)
	}
	return out, forget(ctx, tx, s.ID)
}

// at returns the planned time: that of the input, or now. A run has a time of its own.
func (in RunInput) at(ctx context.Context, tx *op.Tx, s *ent.Schedule) (time.Time, error) {
	if in.Planned != nil {
		return *in.Planned, nil
	}
	now := tx.Now(ctx).UTC().Truncate(time.Microsecond)
	last, err := tx.ScheduleRun.Query().Where(schedulerun.ScheduleID(s.ID), schedulerun.PlannedAtGTE(now)).Order(ent.Desc(schedulerun.FieldPlannedAt)).First(ctx)
	if err != nil {
		return now, ent.MaskNotFound(err)
	}
	return last.PlannedAt.Add(time.Microsecond), nil
}

// variables are what the workflow's expressions read as webhook.
func variables(s *ent.Schedule, planned time.Time) (json.RawMessage, error) {
	at := planned.UTC().Format(time.RFC3339)
	call, err := json.Marshal(map[string]any{
		"method": "", "headers": strictjson.Object{}, "receivedAt": at,
		"body": map[string]any{"schedule": map[string]any{"id": s.ID, "name": s.Name}, "plannedAt": at},
	})
	if err != nil {
		return nil, fmt.Errorf("write what the workflow reads: %w", err)
	}
	return call, nil
}

// forget deletes the runs of a schedule beyond the last that are kept.
func forget(ctx context.Context, tx *op.Tx, scheduleID string) error {
	old, err := tx.ScheduleRun.Query().Where(schedulerun.ScheduleID(scheduleID)).
		Order(ent.Desc(schedulerun.FieldCreatedAt, schedulerun.FieldID)).Offset(kept).Limit(kept).IDs(ctx)
	if err == nil && len(old) > 0 {
		_, err = tx.ScheduleRun.Delete().Where(schedulerun.IDIn(old...)).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("forget old runs: %w", err)
	}
	return nil
}
