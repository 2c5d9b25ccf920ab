package request

import (
	"context"

	"atrium/ent"
	"atrium/internal/op"
)

// The events of a request's life.
const (
	EventCreated   = "request.created"
	EventAccepted  = "request.accepted"
	EventCompleted = "request.completed"
	EventCancelled = "request.cancelled"
)

// EventData is the data of every request event.
type EventData struct {
	ID        string `json:"id"`
	ServiceID string `json:"serviceId"`
	Title     string `json:"title"`
	Status    string `json:"status"`
	Priority  string `json:"priority"`
	CreatedBy string `json:"createdBy"`
}

// emit writes the event in the transaction, with the request as it is after the change.
func emit(ctx context.Context, tx *op.Tx, event string, r *ent.Request) error {
	return tx.Emit(ctx, event, r.ID, EventData{
		ID: r.ID, ServiceID: r.ServiceID, Title: r.Title,
		Status: string(r.Status), Priority: string(r.Priority), CreatedBy: r.CreatedBy,
	})
}
