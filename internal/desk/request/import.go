package request

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/desk/form"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// Import keeps a request of another system, with its dates and its status there. Nobody is told of it, it starts no workflow and no
// clock, and it writes no event. Package requestimport runs it for the rows of a table; no door has it by itself.
var Import = op.New("request.import", op.Spec{
	Resource: "Request", Action: op.Create, Scope: "requests:write",
	Summary: "Keep a request of another system",
}, keep).Prepared(func(ctx context.Context, tx *op.Tx, in ImportInput) (any, error) {
	return prepareFields(ctx, tx, in.OfferingID, in.Fields, noAnswers, noFiles)
})

// noAnswers has prepareFields ask for no answer that is not given: an old request may have been filed by another form.
var noAnswers = map[string]any{}

// noFiles has prepareFields refuse files: a table brings none.
var noFiles = form.NoFiles("A table brings no files.")

// ImportInput describes a request of another system. Its rows are checked before: what they name is there.
type ImportInput struct {
	Title       string            `json:"title" minLength:"1" maxLength:"300" pattern:"\\S" patternDescription:"more than blanks"`
	Description string            `json:"description" maxLength:"10000"`
	Format      string            `json:"format" enum:"plain,markdown"`
	Status      string            `json:"status" enum:"PENDING,IN_PROGRESS,COMPLETED,CANCELLED"`
	Priority    string            `json:"priority" enum:"LOW,MEDIUM,HIGH,URGENT"`
	Tags        map[string]string `json:"tags"`

	ID          string            `json:"-"` // of the row; empty for a new one
	ServiceID   string            `json:"-"`
	OfferingID  string            `json:"-"`
	Fields      strictjson.Object `json:"-"`
	RequesterID string            `json:"-"`
	AssigneeID  *string           `json:"-"`
	TeamID      *string           `json:"-"`

	CreatedAt  time.Time  `json:"-"`
	AcceptedAt *time.Time `json:"-"`
	EndedAt    *time.Time `json:"-"` // when it was completed or cancelled; when it was created, if nobody knows
}

// ImportFaults returns what is wrong with answers that are brought in, by the offering's form as it is now. Call it outside of
// transactions.
func ImportFaults(ctx context.Context, tx *op.Tx, off *ent.Offering, fields map[string]any) ([]apperr.Detail, error) {
	forgetOlder(off)
	c, err := prepareFields(ctx, tx, off.ID, fields, noAnswers, noFiles)
	return c.faults, err
}

func keep(ctx context.Context, tx *op.Tx, in ImportInput) (*ent.Request, error) {
	ready, _ := op.Preparation[fieldsChecked](tx)
	if len(ready.faults) > 0 {
		return nil, apperr.Invalid(ready.faults...)
	}
	if lifecycle.RequestOpen(request.Status(in.Status)) {
		var refs op.Refs
		if checkAssignee(ctx, tx, &refs, in.AssigneeID); refs.Err() != nil {
			return nil, refs.Err()
		}
	}
	number, err := tx.Number(ctx, request.Table)
	if err != nil {
		return nil, err
	}
	priority := request.Priority(in.Priority)
	c := tx.Request.Create().
		SetNumber(number).
		SetServiceID(in.ServiceID).
		SetOfferingID(in.OfferingID).
		SetTitle(in.Title).
		SetDescription(in.Description).
		SetFormat(request.Format(in.Format)).
		SetStatus(request.Status(in.Status)).
		SetPriority(priority).
		SetPriorityRank(rank(priority)).
		SetFields(ready.raw).
		SetTags(in.Tags).
		SetCreatedBy(tx.Principal().ID).
		SetRequesterID(in.RequesterID).
		SetNillableAssigneeID(in.AssigneeID).
		SetNillableTeamID(in.TeamID).
		SetCreatedAt(in.CreatedAt).
		SetNillableFirstResponseAt(in.AcceptedAt).
		SetNillableAcceptedAt(in.AcceptedAt)
	if in.ID != "" {
		c.SetID(in.ID)
	}
	switch ended := op.Or(in.EndedAt, in.CreatedAt); request.Status(in.Status) {
	case request.StatusCOMPLETED:
		c.SetCompletedAt(ended)
	case request.StatusCANCELLED:
		c.SetCancelledAt(ended)
	case request.StatusPENDING, request.StatusIN_PROGRESS:
	}
	r, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the request: %w", err)
	}
	tx.Changed(nil, r)
	return r, nil
}
