package webhook

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
)

// EraseEvents replaces what people wrote in the events about some rows by mark, and deletes the receivers' answers to them, which
// may repeat it.
func EraseEvents(ctx context.Context, db *ent.Client, mark string, about ...string) error {
	rows, err := db.Event.Query().Where(event.SubjectIDIn(about...)).All(ctx)
	if err != nil {
		return fmt.Errorf("look for events: %w", err)
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
		payload, err := events.Erased(row.Payload, mark)
		if err != nil {
			return err
		}
		if err := row.Update().SetPayload(payload).Exec(ctx); err != nil {
			return fmt.Errorf("erase an event: %w", err)
		}
	}
	deliveries, err := db.WebhookDelivery.Query().Where(webhookdelivery.EventIDIn(ids...), webhookdelivery.AttemptsNotNil()).All(ctx)
	if err != nil {
		return fmt.Errorf("look for deliveries: %w", err)
	}
	for _, row := range deliveries {
		attempts, err := AttemptsOf(row)
		if err != nil {
			return err
		}
		for i := range attempts {
			attempts[i].ResponseBody = nil
		}
		raw, err := json.Marshal(attempts)
		if err != nil {
			return fmt.Errorf("write the attempts: %w", err)
		}
		if err := row.Update().SetAttempts(raw).Exec(ctx); err != nil {
			return fmt.Errorf("erase a delivery: %w", err)
		}
	}
	return nil
}
