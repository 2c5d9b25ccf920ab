package request

import (
	"context"

	"atrium/ent"
	"atrium/internal/events"
	"atrium/internal/op"
)

// The events of a request's life.
const (
	EventCreated   = events.RequestCreated
	EventAccepted  = events.RequestAccepted
	EventCompleted = events.RequestCompleted
	EventCancelled = events.RequestCancelled
)

// EventData is the data of every request event.
type EventData = events.Request

// emit writes the event in the transaction, with the request as it is after the change.
func emit(ctx context.Context, tx *op.Tx, event string, r *ent.Request) error {
	return tx.Emit(ctx, event, r.ID, EventData{
		ID: r.ID, ServiceID: r.ServiceID, Title: r.Title,
		Status: string(r.Status), Priority: string(r.Priority), CreatedBy: r.CreatedBy,
	})
}
