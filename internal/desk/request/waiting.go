package request

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
)

// The changes that have an operation of their own because an inbox offers them. They do the same as an update of the field,
// with the same right and audit entry.
var (
	SetWaiting = op.OnRow("request.set_waiting", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Summary: "Say whether the requester owes an answer: the clock of the resolution stands still meanwhile",
	}, load, func(ctx context.Context, tx *op.Tx, r *ent.Request, in WaitingInput) (*ent.Request, error) {
		return update(ctx, tx, r, UpdateInput{ByID: in.ByID, Waiting: op.SetTo(in.Waiting)})
	}).WithVerbs(func(WaitingInput) []string { return []string{"request.update"} })

	Snooze = op.OnRow("request.snooze", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Summary: "Put a request off until a moment",
	}, load, func(ctx context.Context, tx *op.Tx, r *ent.Request, in SnoozeInput) (*ent.Request, error) {
		until := op.Clear[time.Time]()
		if in.Until != nil {
			until = op.SetTo(*in.Until)
		}
		r, err := update(ctx, tx, r, UpdateInput{ByID: in.ByID, SnoozedUntil: until})
		return r, renamed(err, "snoozedUntil", "until")
	}).WithVerbs(func(SnoozeInput) []string { return []string{"request.update"} })
)

// WaitingInput says whether a request waits for its requester.
type WaitingInput struct {
	op.ByID
	Waiting bool `json:"waiting" doc:"Whether the requester owes an answer. A public comment of the requester ends it."`
}

// SnoozeInput says until when a request is snoozed.
type SnoozeInput struct {
	op.ByID
	Until *time.Time `json:"until,omitempty" nullable:"true" doc:"A moment to come; null to see the request again."`
}

// renamed replaces a field's name in a refusal by its name in the operation's input.
func renamed(err error, from, to string) error {
	if err == nil {
		return nil
	}
	out := apperr.From(err)
	for i := range out.Details {
		if out.Details[i].Field == from {
			out.Details[i].Field = to
		}
	}
	return out
}

// wait sets the change of waiting in the update, and adds it to the log of the request's clock. A request that has ended
// does not wait.
func (in UpdateInput) wait(ctx context.Context, tx *op.Tx, u *ent.RequestUpdateOne, before *ent.Request, now time.Time) error {
	status := before.Status
	if to, ok := op.Given(in.Status); ok {
		status = request.Status(to)
	}
	final := !lifecycle.RequestOpen(status)
	waiting, given := op.Given(in.Waiting)
	switch {
	case final && given && waiting:
		return apperr.New(apperr.Conflict, "A request that is %s waits for nobody.", status)
	case final:
		waiting = false
	case !given:
		return nil
	}
	if waiting == before.Waiting {
		return nil
	}
	u.SetWaiting(waiting)
	if err := timer.Pause(ctx, tx, before.ID, waiting, now); err != nil {
		return err
	}
	// The clocks of the request's tasks pause together with its own.
	return timer.MarkTasks(tx.Unfiltered(ctx, "the clock's log is the product's own"), tx, now, task.RequestID(before.ID))
}

// snooze sets the change of the snooze in the update.
func (in UpdateInput) snooze(u *ent.RequestUpdateOne, before *ent.Request, now time.Time) error {
	until, ok := op.Given(in.SnoozedUntil)
	switch {
	case op.Cleared(in.SnoozedUntil):
		u.ClearSnoozedUntil()
	case ok && (before.SnoozedUntil == nil || !before.SnoozedUntil.Equal(until)):
		if !until.After(now) || until.UTC().Year() > clock.LastYear {
			return apperr.InvalidField("snoozedUntil", "must be a moment to come, before the year %d", clock.LastYear+1)
		}
		u.SetSnoozedUntil(until.UTC().Truncate(time.Millisecond))
	}
	return nil
}
