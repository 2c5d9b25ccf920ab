package request

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
)

// Reopen opens a completed request again: staff at any time, others their own within the days that the offering gives. An update of
// the status does the same for staff.
var Reopen = op.OnRow("request.reopen", op.Spec{
	Resource: "Request", Action: op.Update, Scope: "requests:write",
	Summary: "Open a completed request again",
}, load, reopen)

// ReopenInput says why a request is opened again.
type ReopenInput struct {
	op.ByID
	Reason *string `json:"reason,omitempty" nullable:"true" maxLength:"1000" doc:"Why; whoever hears of it reads it, the request's history tells it to staff, and the audit entry keeps it." example:"It broke again."`
}

func reopen(ctx context.Context, tx *op.Tx, r *ent.Request, in ReopenInput) (*ent.Request, error) {
	if r.Status != request.StatusCOMPLETED {
		return nil, noWay(r.Status, request.StatusIN_PROGRESS)
	}
	if tx.OwnOnly() {
		within, days, err := reopenable(ctx, tx, r)
		if err != nil {
			return nil, err
		}
		if !within {
			refusal := apperr.New(apperr.Forbidden, "Its requester may open a request again within %d days of its completion.", days)
			if days == 0 {
				refusal = apperr.New(apperr.Forbidden, "Only staff open requests of this offering again.")
			}
			refusal.Reason = "reopenDays"
			return nil, refusal
		}
	}
	if in.Reason != nil && *in.Reason != "" {
		tx.ChangedField("reason", nil, *in.Reason)
	}
	return update(ctx, tx, r, UpdateInput{ByID: in.ByID, Status: op.SetTo(string(request.StatusIN_PROGRESS))})
}

// reopenable reports whether a completed request was completed so recently that its requester may open it again, and within how many
// days they may.
func reopenable(ctx context.Context, tx *op.Tx, r *ent.Request) (within bool, days int, err error) {
	days, err = tx.Offering.Query().Where(offering.ID(r.OfferingID)).Select(offering.FieldReopenDays).
		Int(tx.Unfiltered(ctx, "the offering's days count for everybody who filed against it"))
	if err != nil {
		return false, 0, fmt.Errorf("read the offering's days: %w", err)
	}
	return r.CompletedAt != nil && tx.Now(ctx).Before(r.CompletedAt.Add(time.Duration(days)*24*time.Hour)), days, nil
}

// reopenFor opens a request again when its requester has commented on it in time, as the requester; later, a new request follows. If the
// access policies do not let them, what they wrote stays a comment.
func reopenFor(ctx context.Context, tx *op.Tx, r *ent.Request, c *ent.Comment) error {
	within, _, err := reopenable(ctx, tx, r)
	if err != nil {
		return err
	}
	if !within {
		return tx.Insert(ctx, FollowUpArgs{Company: r.CompanyID, Comment: c.ID}, time.Time{})
	}
	open := *r
	open.Status, open.CompletedAt, open.ReopenCount = request.StatusIN_PROGRESS, nil, r.ReopenCount+1
	for _, row := range []*ent.Request{r, &open} {
		if may, err := tx.Permits(ctx, Reopen.Info(), row); err != nil || !may {
			return err
		}
	}
	_, err = op.RunIn(ctx, tx, Reopen, ReopenInput{ByID: op.ByID{ID: r.ID}})
	return err
}

// goOn has the clocks of a request and of its tasks go on that was opened again. The time for which it was completed is a pause.
func goOn(ctx context.Context, tx *op.Tx, completed *ent.Request, now time.Time) error {
	for _, p := range []struct {
		paused bool
		at     time.Time
	}{{true, *completed.CompletedAt}, {false, now}} {
		if err := timer.Pause(ctx, tx, completed.ID, p.paused, p.at); err != nil {
			return err
		}
	}
	return timer.MarkTasks(tx.Unfiltered(ctx, "the clock's log is the product's own"), tx, now, task.RequestID(completed.ID))
}

// reopened emits the event of a request that was opened again, and returns the row with its clock as they are afterwards: a
// subscriber of the event may have started a workflow. Its clock may have ended where a request has no state, so it is derived.
func reopened(ctx context.Context, tx *op.Tx, before, after *ent.Request, now time.Time, cause events.Cause) (*ent.Request, error) {
	if err := emit(ctx, tx, events.RequestReopened, after, cause); err != nil {
		return nil, err
	}
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "the row that was just written"), after.ID)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	wide, c := clocksOf(ctx, tx, now, cause)
	if r, err = timer.Advance(wide, c.Log, c, r); err != nil {
		return nil, err
	}
	tx.As(events.RequestReopened)
	tx.Changed(before, r)
	return r, nil
}
