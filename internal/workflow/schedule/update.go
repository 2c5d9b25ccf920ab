package schedule

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/schedule"
	"atrium/internal/op"
)

// UpdateInput changes the fields that it names.
type UpdateInput struct {
	op.ByID
	Name       op.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	WorkflowID op.Patch[string]   `json:"workflowId,omitzero" nullable:"true" minLength:"1" maxLength:"64" doc:"A published workflow to start. Takes the place of offeringId and request."`
	OfferingID op.Patch[string]   `json:"offeringId,omitzero" nullable:"true" minLength:"1" maxLength:"64" doc:"An offering against which requests are filed. Takes the place of workflowId."`
	Request    op.Patch[Template] `json:"request,omitzero" nullable:"true" doc:"What is filed; replaces the whole."`
	Cron       op.Patch[string]   `json:"cron,omitzero" nullable:"true" minLength:"1" maxLength:"200" doc:"Five fields: minute, hour, day of the month, month, day of the week. Takes the place of every."`
	Every      op.Patch[Every]    `json:"every,omitzero" nullable:"true" doc:"How often, without a cron expression. Takes the place of cron."`
	TimeZone   op.Patch[string]   `json:"timeZone,omitzero" minLength:"1" maxLength:"64" doc:"The zone whose clocks count."`
	CalendarID op.Patch[string]   `json:"calendarId,omitzero" nullable:"true" minLength:"1" maxLength:"64" doc:"The calendar whose days without working time are free."`
	OnClosed   op.Patch[string]   `json:"onClosed,omitzero" enum:"SKIP,NEXT_WORKING_DAY" doc:"What becomes of a time on a free day."`
	Missed     op.Patch[string]   `json:"missed,omitzero" enum:"ONCE,SKIP" doc:"What becomes of times that passed while no server ran."`
	Enabled    op.Patch[bool]     `json:"enabled,omitzero" doc:"Whether it runs."`
}

// settings returns what becomes of a schedule's.
func (in UpdateInput) settings(before *ent.Schedule) (timing, target, error) {
	w, t, err := settingsOf(before)
	if err != nil {
		return w, t, err
	}
	if instead(in.WorkflowID, &t.WorkflowID) && !in.OfferingID.IsSet() {
		t.OfferingID, t.Request = nil, nil
	}
	if instead(in.OfferingID, &t.OfferingID) && !in.WorkflowID.IsSet() {
		t.WorkflowID = nil
	}
	instead(in.Request, &t.Request)
	if instead(in.Cron, &w.Cron) && !in.Every.IsSet() {
		w.Every = nil
	}
	if instead(in.Every, &w.Every) && !in.Cron.IsSet() {
		w.Cron = nil
	}
	instead(in.CalendarID, &w.CalendarID)
	w.Zone, w.OnClosed, w.Enabled = op.Or(in.TimeZone.Value(), w.Zone), op.Or(in.OnClosed.Value(), w.OnClosed), op.Or(in.Enabled.Value(), w.Enabled)
	return w, t, nil
}

// instead puts a patch's value in the place of another, and reports whether it has one.
func instead[T any](p op.Patch[T], of **T) bool {
	if !p.IsSet() {
		return false
	}
	*of = p.Value()
	return *of != nil
}

func prepareUpdate(ctx context.Context, tx *op.Tx, in UpdateInput) (any, error) {
	before, err := tx.Schedule.Get(ctx, in.ID)
	if err != nil {
		return nil, ent.MaskNotFound(err) // the operation finds out
	}
	w, t, err := in.settings(before)
	if err != nil {
		return nil, err
	}
	out, err := prepare(ctx, tx, w, t)
	out.of = before.UpdatedAt
	return out, err
}

// checkUpdate returns everything that is wrong with a change, outside of a transaction.
func checkUpdate(ctx context.Context, tx *op.Tx, in UpdateInput) error {
	before, err := tx.Schedule.Get(ctx, in.ID)
	if err != nil {
		return err
	}
	w, t, err := in.settings(before)
	if err != nil {
		return err
	}
	found, err := prepare(ctx, tx, w, t)
	if err != nil {
		return err
	}
	return found.check(ctx, tx, w, t)
}

func update(ctx context.Context, tx *op.Tx, before *ent.Schedule, in UpdateInput) (*ent.Schedule, error) {
	found, _ := op.Preparation[checked](tx)
	if !found.of.Equal(before.UpdatedAt) {
		return nil, op.ErrOutdated
	}
	w, t, err := in.settings(before)
	if err != nil {
		return nil, err
	}
	if err := found.check(ctx, tx, w, t); err != nil {
		return nil, err
	}
	u := before.Update().SetRunsAs(tx.Principal().ID).SetTimeZone(w.Zone).SetOnClosed(schedule.OnClosed(w.OnClosed)).SetEnabled(w.Enabled)
	op.Set(in.Name, u.SetName)
	if missed, ok := op.Given(in.Missed); ok {
		u.SetMissed(schedule.Missed(missed))
	}
	setOrClear(t.WorkflowID, u.SetWorkflowID, u.ClearWorkflowID)
	setOrClear(t.OfferingID, u.SetOfferingID, u.ClearOfferingID)
	setOrClear(w.Cron, u.SetCron, u.ClearCron)
	setOrClear(w.CalendarID, u.SetCalendarID, u.ClearCalendarID)
	if err := encodeOrClear(t.Request, before.Request, u.SetRequest, u.ClearRequest); err != nil {
		return nil, err
	}
	if err := encodeOrClear(w.Every, before.Every, u.SetEvery, u.ClearEvery); err != nil {
		return nil, err
	}
	if err := plan(ctx, tx, before, u, w, found.times); err != nil {
		return nil, err
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the schedule: %w", err)
	}
	if before.NextRunAt != nil && after.NextRunAt != nil && before.NextRunAt.Equal(*after.NextRunAt) {
		return after, nil // it has its job
	}
	return after, wake(ctx, tx, after)
}

// plan sets the next time of a schedule whose times change. One that is due while its name changes stays due.
func plan(ctx context.Context, tx *op.Tx, before *ent.Schedule, u *ent.ScheduleUpdateOne, w timing, t *times) error {
	was, _, err := settingsOf(before)
	if err != nil || w.same(was) && (before.NextRunAt != nil || !w.Enabled) {
		return err
	}
	next, err := w.next(t, tx.Now(ctx))
	if err != nil {
		return err
	}
	if w.Enabled {
		u.SetNextRunAt(*next)
	} else {
		u.ClearNextRunAt()
	}
	return nil
}

func setOrClear[T, U any](v *T, set func(T) U, unset func() U) {
	if v == nil {
		unset()
		return
	}
	set(*v)
}

// encodeOrClear writes a value as JSON, or leaves the column as it is where it means the same.
func encodeOrClear[T, U any](v *T, before json.RawMessage, set func(json.RawMessage) U, unset func() U) error {
	if v == nil && len(before) > 0 {
		unset()
	}
	return encode(v, set)
}
