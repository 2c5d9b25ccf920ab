package request

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/events"
)

// emit writes an event about the request as it is after the change.
func emit(ctx context.Context, tx *op.Tx, event string, r *ent.Request, cause events.Cause) error {
	return tx.EmitAs(ctx, events.Event{Name: event, SubjectID: r.ID, Cause: cause, Data: events.Request{
		ID: r.ID, ServiceID: r.ServiceID, Title: r.Title,
		Status: string(r.Status), Priority: string(r.Priority), CreatedBy: r.CreatedBy,
	}})
}

// emitFiled writes an event about a request that was filed against an offering, and returns the row as it is afterwards: a
// subscriber of the event may have started the offering's workflow.
func emitFiled(ctx context.Context, tx *op.Tx, event string, r *ent.Request, off *ent.Offering, cause events.Cause) (*ent.Request, error) {
	if err := emit(ctx, tx, event, r, cause); err != nil || off.WorkflowID == nil {
		return r, err
	}
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "the row that was just written"), r.ID)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return r, nil
}
