package graph

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/platform/period"
	"atrium/internal/platform/text"
	"atrium/internal/webhook"
)

func (r *queryResolver) WebhookDeliveries(ctx context.Context, subscription *string, outcome []webhookdelivery.Outcome, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.WebhookDelivery], error) {
	in := &webhook.ListDeliveriesInput{SubscriptionID: plain(subscription)}
	for _, o := range outcome {
		in.Outcome = append(in.Outcome, string(o))
	}
	return resolve.List(ctx, r.Engine, webhook.ListDeliveries, in, first, after, orderBy)
}

func (r *queryResolver) WebhookStats(ctx context.Context, from, to time.Time, by generated.WebhookStatsBy) ([]*webhook.Stat, error) {
	return resolve.Run(ctx, r.Engine, webhook.Stats, webhook.StatsInput{Input: period.Input{From: from, To: to}, By: string(by)})
}

func (r *mutationResolver) CreateWebhookSubscription(ctx context.Context, input webhook.CreateSubscriptionInput) (*generated.CreateWebhookSubscriptionPayload, error) {
	s, err := resolve.Change(ctx, r.Engine, webhook.CreateSubscription, input, "")
	return &generated.CreateWebhookSubscriptionPayload{WebhookSubscription: s.Subscription, SigningSecret: string(s.SigningSecret)}, err
}

func (r *mutationResolver) RotateWebhookSecret(ctx context.Context, input webhook.RotateSecretInput) (*generated.RotateWebhookSecretPayload, error) {
	s, err := resolve.Change(ctx, r.Engine, webhook.RotateSecret, input, "id")
	return &generated.RotateWebhookSecretPayload{WebhookSubscription: s.Subscription, SigningSecret: string(s.SigningSecret)}, err
}

func (r *mutationResolver) ReplayWebhookEvents(ctx context.Context, input webhook.ReplayEventsInput) (*generated.ReplayWebhookEventsPayload, error) {
	out, err := resolve.Change(ctx, r.Engine, webhook.ReplayEvents, input, "")
	return &generated.ReplayWebhookEventsPayload{WebhookSubscription: out.Subscription, Events: out.Events}, err
}

func (r *subscriptionResolver) WebhookDeliveryChanged(ctx context.Context, subscription *string) (<-chan *generated.WebhookDeliveryChange, error) {
	in := webhook.LookUpDeliveriesInput{SubscriptionID: plain(subscription)}
	return watch(ctx, watched{feed.Deliveries, feed.Filter{ParentID: op.Or(subscription, "")}}, func(ctx context.Context, ids, _ []string) (map[string]*ent.WebhookDelivery, error) {
		in.IDs = ids
		return resolve.Run(ctx, r.Engine, webhook.LookUpDeliveries, in)
	}, func(kind generated.ChangeKind, d *ent.WebhookDelivery) *generated.WebhookDeliveryChange {
		return &generated.WebhookDeliveryChange{Change: kind, WebhookDelivery: d}
	})
}

// plain returns an id that every database can be asked for; no row has one that it had to change.
func plain(id *string) *string {
	if id == nil {
		return nil
	}
	return new(text.Plain(*id))
}

func (r *webhookDeliveryResolver) Attempts(_ context.Context, d *ent.WebhookDelivery) ([]*webhook.Attempt, error) {
	attempts, err := webhook.AttemptsOf(d)
	out := make([]*webhook.Attempt, len(attempts))
	for i := range attempts {
		out[i] = &attempts[i]
	}
	return out, err
}
