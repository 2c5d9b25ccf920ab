package request

import (
	"context"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
)

// The transitions that have an operation of their own. They do the same as an update of the status, with the same
// rights, events and audit entries.
var (
	Accept = op.OnRow("request.accept", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Summary: "Accept a request from the inbox",
	}, load, func(ctx context.Context, tx *op.Tx, r *ent.Request, in op.ByID) (*ent.Request, error) {
		if r.Status == request.StatusCOMPLETED { // the same status by another transition, which is Reopen's
			return nil, noWay(r.Status, request.StatusIN_PROGRESS)
		}
		return update(ctx, tx, r, UpdateInput{ByID: in, Status: op.SetTo(string(request.StatusIN_PROGRESS))})
	})

	Decline = op.OnRow("request.decline", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"request.cancel": events.RequestCancelled},
		Summary: "Cancel a request, saying why",
	}, load, decline).WithVerbs(func(DeclineInput) []string { return []string{"request.cancel"} })
)

// DeclineInput says why a request is declined.
type DeclineInput struct {
	op.ByID
	Reason string `json:"reason" minLength:"1" maxLength:"1000" pattern:"\\S" patternDescription:"more than blanks" doc:"The requester reads it, and the audit entry keeps it."`
}

func decline(ctx context.Context, tx *op.Tx, r *ent.Request, in DeclineInput) (*ent.Request, error) {
	tx.ChangedField("reason", nil, in.Reason)
	return update(ctx, tx, r, UpdateInput{ByID: in.ByID, Status: op.SetTo(string(request.StatusCANCELLED)), DeclineReason: in.Reason})
}

// arrow is a transition.
type arrow struct {
	from  []request.Status
	to    request.Status
	verb  string // the right that it requires
	event string
	stamp func(*ent.RequestUpdateOne, time.Time) *ent.RequestUpdateOne
}

// arrows are the transitions. Where two lead to one status, the first is that whose right an update needs before its row is known.
var arrows = []arrow{
	{
		from: []request.Status{request.StatusPENDING}, to: request.StatusIN_PROGRESS,
		verb: "request.accept", event: events.RequestAccepted, stamp: (*ent.RequestUpdateOne).SetAcceptedAt,
	},
	{
		from: []request.Status{request.StatusCOMPLETED}, to: request.StatusIN_PROGRESS,
		verb: "request.reopen", event: events.RequestReopened, stamp: func(u *ent.RequestUpdateOne, _ time.Time) *ent.RequestUpdateOne {
			return u.ClearCompletedAt().AddReopenCount(1)
		},
	},
	{
		from: []request.Status{request.StatusIN_PROGRESS}, to: request.StatusCOMPLETED,
		verb: "request.complete", event: events.RequestCompleted, stamp: (*ent.RequestUpdateOne).SetCompletedAt,
	},
	{
		from: []request.Status{request.StatusPENDING, request.StatusIN_PROGRESS}, to: request.StatusCANCELLED,
		verb: "request.cancel", event: events.RequestCancelled, stamp: (*ent.RequestUpdateOne).SetCancelledAt,
	},
}

// arrowTo returns the first transition to a status; nil for none.
func arrowTo(to request.Status) *arrow {
	if i := slices.IndexFunc(arrows, func(a arrow) bool { return a.to == to }); i >= 0 {
		return &arrows[i]
	}
	return nil
}

// arrowBetween returns the transition from one status to another; nil for none.
func arrowBetween(from, to request.Status) *arrow {
	if i := slices.IndexFunc(arrows, func(a arrow) bool { return a.to == to && slices.Contains(a.from, from) }); i >= 0 {
		return &arrows[i]
	}
	return nil
}

// transition sets the transition to a status in the update, and returns the transition's event. Returns conflict when no
// arrow leads there from the request's status.
func transition(u *ent.RequestUpdateOne, from, to request.Status, now time.Time) (event string, err error) {
	a := arrowBetween(from, to)
	if a == nil {
		return "", noWay(from, to)
	}
	a.stamp(u.SetStatus(to), now)
	return a.event, nil
}

func noWay(from, to request.Status) error {
	return apperr.New(apperr.Conflict, "A request that is %s cannot become %s.", from, to)
}
