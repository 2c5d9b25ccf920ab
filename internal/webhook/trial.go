package webhook

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/internal/apperr"
	"atrium/internal/events"
	"atrium/internal/op"
	"atrium/internal/outbox"
	"atrium/internal/store"
)

// SendTestEvent tries a subscription out.
var SendTestEvent = op.OnRow("webhooksubscription.test", op.Spec{
	Resource: "WebhookSubscription", Action: op.Update, AdminLayer: true,
	Summary: "Send a test event to one subscription: signed, retried and kept like any other, with data that is made up",
}, loadSubscription, sendTestEvent)

// SendTestEventInput names the event.
type SendTestEventInput struct {
	BySubscription
	Event string `json:"event" maxLength:"40" doc:"Any of the events, whether the subscription asks for it or not."`
}

// sendTestEvent returns the delivery. The event's subject is the subscription: it is about no other row, and is not
// replayed to others. Returns conflict for a disabled subscription.
func sendTestEvent(ctx context.Context, tx *op.Tx, s *ent.WebhookSubscription, in SendTestEventInput) (*ent.WebhookDelivery, error) {
	kind, ok := events.Find(in.Event)
	if !ok {
		return nil, apperr.InvalidField("event", "must be a known event")
	}
	if !s.Enabled {
		return nil, errDisabled()
	}
	var d *ent.WebhookDelivery
	err := tx.Enqueue(func(db *store.Tx) error {
		eventID, err := outbox.Record(ctx, db, outbox.Event{
			CompanyID: s.CompanyID, Name: kind.Name, SubjectID: s.ID, At: tx.Now(ctx), Data: kind.Example,
		})
		if err != nil {
			return err //nolint:wrapcheck // says what it was doing
		}
		tx.Known(ctx, eventID)
		d, err = tx.WebhookDelivery.Create().SetSubscriptionID(s.ID).SetEventID(eventID).SetEvent(kind.Name).SetNextAttemptAt(tx.Now(ctx)).Save(ctx)
		if err != nil {
			return fmt.Errorf("make the delivery: %w", err)
		}
		return outbox.Insert(ctx, db, []outbox.Job{{Args: first(d, 0)}}) //nolint:wrapcheck // says what it was doing
	})
	if err != nil {
		return nil, err
	}
	tx.ChangedField("event", nil, kind.Name)
	return d, nil
}
