package webhook

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/ent/webhooksubscription"
	"atrium/internal/op"
)

// LookUpDeliveries reads those of many deliveries that the caller may see; the others are left out. Whoever watches for
// changes reads them by it.
var LookUpDeliveries = op.New("webhookdelivery.lookup", op.Spec{
	Resource: "WebhookDelivery", Action: op.Read, AdminLayer: true, Summary: "Look webhook deliveries up by their ids",
}, lookUpDeliveries)

// LookUpDeliveriesInput names deliveries. Without ids nothing is read, but the caller's rights are asked, and not_found is
// returned for a subscription that the company does not have.
type LookUpDeliveriesInput struct {
	SubscriptionID *string  `json:"-"` // of one subscription
	IDs            []string `json:"-"`
	Lean           bool     `json:"-"`
}

func lookUpDeliveries(ctx context.Context, tx *op.Tx, in LookUpDeliveriesInput) (map[string]*ent.WebhookDelivery, error) {
	out := map[string]*ent.WebhookDelivery{}
	if len(in.IDs) == 0 {
		if in.SubscriptionID == nil {
			return out, nil
		}
		_, err := tx.WebhookSubscription.Query().Where(webhooksubscription.ID(*in.SubscriptionID)).OnlyID(ctx)
		return out, err //nolint:wrapcheck // the pipeline reads Ent's own error
	}
	q := op.Lean[ent.WebhookDelivery](tx.WebhookDelivery.Query(), in.Lean).Where(webhookdelivery.IDIn(op.Padded(in.IDs)...))
	if in.SubscriptionID != nil {
		q.Where(webhookdelivery.SubscriptionID(*in.SubscriptionID))
	}
	rows, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look deliveries up: %w", err)
	}
	for _, d := range rows {
		out[d.ID] = d
	}
	return out, nil
}
