package request

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// Move files a request against another offering, as if it had been filed against that one. Service levels count from the time of
// filing. The workflow of the old offering is cancelled and that of the new one starts.
var Move = op.OnRow("request.move", op.Spec{
	Resource: "Request", Action: op.Update, Scope: "requests:write",
	Past:    map[string]string{"request.update": events.RequestMoved},
	Summary: "File a request that is PENDING against another offering",
}, load, moveTo).WithVerbs(MoveInput.verbs).Prepared(func(ctx context.Context, tx *op.Tx, in MoveInput) (any, error) {
	values, kept := map[string]any(in.Fields), json.RawMessage(nil)
	if in.Fields == nil {
		r, err := tx.Request.Get(ctx, in.ID)
		if err != nil {
			return moving{}, ent.MaskNotFound(err) // the operation reports the missing row
		}
		if values, err = fieldsOf(r); err != nil {
			return moving{}, err
		}
		kept = r.Fields
	}
	fields, err := prepareFields(ctx, tx, in.OfferingID, values, nil, attachment.Answerable(tx, in.ID))
	return moving{fields, kept}, err
})

// moving is the result of the preparation.
type moving struct {
	fields fieldsChecked
	kept   json.RawMessage // the request's answers, if they were checked instead of the input's
}

// MoveInput names the new offering.
type MoveInput struct {
	op.ByID
	OfferingID string            `json:"offeringId" minLength:"1" maxLength:"64" doc:"An active offering, of any service. Its service levels count from when the request was filed, and its workflow replaces the one that runs."`
	Fields     strictjson.Object `json:"fields,omitempty" nullable:"true" doc:"The answers to the form of that offering, by field key. When not given, the request keeps its answers, which must fit that form."`
}

func (MoveInput) verbs() []string { return []string{"request.update", "request.create"} }

func moveTo(ctx context.Context, tx *op.Tx, before *ent.Request, in MoveInput) (*ent.Request, error) {
	off, err := in.target(ctx, tx)
	if err != nil {
		return nil, err
	}
	if before.Status != request.StatusPENDING {
		return nil, apperr.New(apperr.Conflict, "A request that is %s cannot move to another offering.", before.Status)
	}
	ready, _ := op.Preparation[moving](tx)
	if in.Fields == nil && !bytes.Equal(ready.kept, before.Fields) {
		return nil, op.ErrOutdated
	}
	if err := ready.fields.check(off); err != nil {
		return nil, err
	}
	if err := takesRequests(off, off.Edges.Service.Status); err != nil {
		return nil, err
	}
	now := tx.Now(ctx)
	r, err := advance(ctx, tx, before, now, events.Cause{}) // what fell due before must fire before
	if err != nil {
		return nil, err
	}
	u := r.Update().SetServiceID(off.ServiceID).SetOfferingID(off.ID)
	if in.Fields != nil {
		ready.fields.setAnswers(u)
		if err := ready.fields.claim(ctx, tx, r.ID, nil); err != nil {
			return nil, err
		}
	}
	if changes, err := op.Changes(ctx, u.Mutation()); err != nil || !changes {
		return r, err
	}
	if r, err = u.ClearExecutionID().Save(ctx); err != nil {
		return nil, fmt.Errorf("move the request: %w", err)
	}
	if err := tx.MayCreate(ctx, r); err != nil {
		return nil, err
	}
	if err := tx.Agents().RequestChanged(ctx, tx, before, r); err != nil {
		return nil, err
	}
	wide, c := clocksOf(ctx, tx, now, events.Cause{})
	if r, err = timer.Advance(wide, c.Log, c, r); err != nil {
		return nil, err
	}
	if r, err = emitFiled(ctx, tx, events.RequestMoved, r, off, events.Cause{}); err != nil {
		return nil, err
	}
	tx.Changed(before, r)
	return r, nil
}

// Fits reports whether a request's answers fit the form of another offering. Call it outside of transactions.
func Fits(ctx context.Context, tx *op.Tx, r *ent.Request, offeringID string) (bool, error) {
	values, err := fieldsOf(r)
	if err != nil {
		return false, err
	}
	faults, err := FieldFaults(ctx, tx, offeringID, values, nil, attachment.Answerable(tx, r.ID))
	return len(faults) == 0, err
}

// target returns the offering to move to, with its service. Returns a validation error for one that the caller does not see.
func (in MoveInput) target(ctx context.Context, tx *op.Tx) (*ent.Offering, error) {
	off, err := tx.Offering.Query().Where(offering.ID(in.OfferingID)).WithService().Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return nil, fmt.Errorf("look the offering up: %w", err)
	}
	if off == nil || off.Edges.Service == nil {
		return nil, apperr.InvalidField("offeringId", "is no offering")
	}
	return off, nil
}
