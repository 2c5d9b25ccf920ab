package request

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
)

// Rate says how content the requester is with a request. They are asked once, when it is completed, if its offering says so; for a week
// after their first answer they may change it. The mail's link asks without a sign-in.
var Rate = op.OnRow("request.rate", op.Spec{
	Resource: "Request", Action: op.Update, Scope: "requests:write",
	Summary: "Say how content one is with one's request",
}, load, rate)

// rateFor is how long an answer may be changed.
const rateFor = 7 * 24 * time.Hour

// RateInput is the requester's answer.
type RateInput struct {
	op.ByID
	Satisfaction int     `json:"satisfaction" minimum:"1" maximum:"5" doc:"How content the requester is: 1 for not at all, 5 for very." example:"5"`
	Comment      *string `json:"comment,omitempty" nullable:"true" maxLength:"1000" doc:"What they say about it; staff read it." example:"Quick and friendly."`
}

func rate(ctx context.Context, tx *op.Tx, r *ent.Request, in RateInput) (*ent.Request, error) {
	if r.RequesterID != tx.Principal().ID {
		refusal := apperr.New(apperr.Forbidden, "Only its requester rates a request.")
		refusal.Reason = "requester"
		return nil, refusal
	}
	now := tx.Now(ctx)
	switch {
	case r.SatisfactionAskedAt == nil:
		return nil, apperr.New(apperr.Conflict, "A request is rated once it is completed, if its offering asks for that.")
	case r.SatisfactionAt != nil && !now.Before(r.SatisfactionAt.Add(rateFor)):
		return nil, apperr.New(apperr.Conflict, "A rating may be changed within seven days.")
	}
	u := r.Update().SetSatisfaction(in.Satisfaction)
	if r.SatisfactionAt == nil {
		u.SetSatisfactionAt(now)
	}
	if comment := op.Or(in.Comment, ""); comment != "" {
		u.SetSatisfactionComment(comment)
	} else {
		u.ClearSatisfactionComment()
	}
	after, err := op.Save(ctx, tx, r, u)
	if err != nil || after == r {
		return after, err
	}
	return after, tx.EmitAs(ctx, events.Event{Name: events.RequestRated, SubjectID: r.ID, Data: events.RequestRating{Request: dataOf(after), Satisfaction: *after.Satisfaction}})
}

// askLater notes that the requester is asked how content they are, when a request is completed for the first time and its offering says
// so. The notice of its completion asks.
func askLater(ctx context.Context, tx *op.Tx, u *ent.RequestUpdateOne, r *ent.Request, now time.Time) error {
	if r.SatisfactionAskedAt != nil {
		return nil
	}
	asks, err := tx.Offering.Query().Where(offering.ID(r.OfferingID), offering.AskSatisfaction(true)).
		Exist(tx.Unfiltered(ctx, "the offering's question is for everybody who filed against it"))
	if err != nil {
		return fmt.Errorf("read whether the offering asks: %w", err)
	}
	if asks {
		u.SetSatisfactionAskedAt(now)
	}
	return nil
}
