package request

import (
	"context"

	"atrium/ent"
	"atrium/internal/events"
	"atrium/internal/op"
)

// emit writes an event about the request as it is after the change.
func emit(ctx context.Context, tx *op.Tx, event string, r *ent.Request) error {
	return tx.Emit(ctx, event, r.ID, events.Request{
		ID: r.ID, ServiceID: r.ServiceID, Title: r.Title,
		Status: string(r.Status), Priority: string(r.Priority), CreatedBy: r.CreatedBy,
	})
}
