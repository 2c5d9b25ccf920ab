package webhook

import (
	"context"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/ent/webhooksubscription"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// LookUpDeliveries reads those of the given deliveries that the caller may see; the others are left out. The GraphQL subscription
// to deliveries uses it.
var LookUpDeliveries = op.New("webhookdelivery.lookup", op.Spec{
	Resource: "WebhookDelivery", Action: op.Read, AdminLayer: true, Summary: "Look webhook deliveries up by their ids",
}, lookUpDeliveries)

// LookUpDeliveriesInput names deliveries. Without ids nothing is read: only the caller's rights are checked, and not_found is
// returned for a subscription that the company does not have.
type LookUpDeliveriesInput struct {
	SubscriptionID *string  `json:"-"` // only deliveries of this subscription
	IDs            []string `json:"-"`
}

func lookUpDeliveries(ctx context.Context, tx *op.Tx, in LookUpDeliveriesInput) (map[string]*ent.WebhookDelivery, error) {
	if len(in.IDs) == 0 {
		out := map[string]*ent.WebhookDelivery{}
		if in.SubscriptionID == nil {
			return out, nil
		}
		_, err := tx.WebhookSubscription.Query().Where(webhooksubscription.ID(*in.SubscriptionID)).OnlyID(ctx)
		return out, err
	}
	q := tx.WebhookDelivery.Query()
	if in.SubscriptionID != nil {
		q.Where(webhookdelivery.SubscriptionID(*in.SubscriptionID))
	}
	return paging.LookUp(ctx, q, paging.ByIDs{IDs: in.IDs})
}
