package webhook

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
)

// SendTestEvent sends a test event to one subscription.
var SendTestEvent = op.OnRow("webhooksubscription.test", op.Spec{
	Resource: "WebhookSubscription", Action: op.Update, AdminLayer: true,
	Summary: "Send a test event to one subscription: signed, retried and kept like any other, with data that is made up",
}, loadSubscription, sendTestEvent)

// SendTestEventInput names the event.
type SendTestEventInput struct {
	BySubscription
	Event string `json:"event" maxLength:"40" doc:"Any of the events, whether the subscription asks for it or not."`
}

// sendTestEvent returns the delivery. The event's subject is the subscription, so it is about no other row and no replay of
// events includes it. Returns conflict for a disabled subscription.
func sendTestEvent(ctx context.Context, tx *op.Tx, s *ent.WebhookSubscription, in SendTestEventInput) (*ent.WebhookDelivery, error) {
	kind, ok := events.Find(in.Event)
	if !ok {
		return nil, apperr.InvalidField("event", "must be a known event")
	}
	if !s.Enabled {
		return nil, errDisabled()
	}
	now := tx.Now(ctx)
	e, err := events.Record(ctx, tx.Client, events.Event{Name: kind.Name, SubjectID: s.ID, At: now, Data: kind.Example})
	if err != nil {
		return nil, err
	}
	d, err := delivery(tx.Client, s, e).SetNextAttemptAt(now).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the delivery: %w", err)
	}
	if err := tx.Insert(ctx, first(d, 0), time.Time{}); err != nil {
		return nil, err
	}
	tx.ChangedField("event", nil, kind.Name)
	return d, nil
}
