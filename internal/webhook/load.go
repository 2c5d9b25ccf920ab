package webhook

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/op"
	"atrium/internal/principal"
)

const (
	loadTimeout = 10 * time.Second
	maxLoad     = 32 // deliveries that are read at once
)

// load reads deliveries with their subscriptions and events; nil stands for one that is gone.
func (d *Dispatcher) load(ctx context.Context, ids []string) ([]*ent.WebhookDelivery, error) {
	ctx, cancel := context.WithTimeout(principal.System(ctx, "jobs of all companies are loaded together"), loadTimeout)
	defer cancel()
	rows, err := d.store.Reader().WebhookDelivery.Query().Where(webhookdelivery.IDIn(op.Padded(ids)...)).WithSubscription().WithSource().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load deliveries: %w", err)
	}
	byID := make(map[string]*ent.WebhookDelivery, len(rows))
	for _, row := range rows {
		if row.Edges.Subscription != nil && row.Edges.Source != nil { // else deleted between the reads
			byID[row.ID] = row
		}
	}
	out := make([]*ent.WebhookDelivery, len(ids))
	for i, id := range ids {
		out[i] = byID[id]
	}
	return out, nil
}
