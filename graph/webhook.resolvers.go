package graph

import (
	"context"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/feed"
	"atrium/internal/op"
	"atrium/internal/webhook"
)

func (r *queryResolver) WebhookSubscriptions(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.WebhookSubscription], error) {
	return list(ctx, r.engine, webhook.ListSubscriptions, nil, first, after, orderBy)
}

func (r *queryResolver) WebhookDeliveries(ctx context.Context, subscription *string, outcome []webhookdelivery.Outcome, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.WebhookDelivery], error) {
	in := &webhook.ListDeliveriesInput{SubscriptionID: subscription}
	for _, o := range outcome {
		in.Outcome = append(in.Outcome, string(o))
	}
	return list(ctx, r.engine, webhook.ListDeliveries, in, first, after, orderBy)
}

func (r *mutationResolver) CreateWebhookSubscription(ctx context.Context, input map[string]any) (*generated.CreateWebhookSubscriptionPayload, error) {
	s, err := change(ctx, r.engine, webhook.CreateSubscription, input, none)
	return &generated.CreateWebhookSubscriptionPayload{WebhookSubscription: s.Subscription, SigningSecret: s.SigningSecret.Reveal()}, err
}

func (r *mutationResolver) UpdateWebhookSubscription(ctx context.Context, input map[string]any) (*generated.UpdateWebhookSubscriptionPayload, error) {
	s, err := change(ctx, r.engine, webhook.UpdateSubscription, input, id)
	return &generated.UpdateWebhookSubscriptionPayload{WebhookSubscription: s}, err
}

func (r *mutationResolver) RotateWebhookSecret(ctx context.Context, input map[string]any) (*generated.RotateWebhookSecretPayload, error) {
	s, err := change(ctx, r.engine, webhook.RotateSecret, input, id)
	return &generated.RotateWebhookSecretPayload{WebhookSubscription: s.Subscription, SigningSecret: s.SigningSecret.Reveal()}, err
}

func (r *mutationResolver) DeleteWebhookSubscription(ctx context.Context, input map[string]any) (*generated.DeleteWebhookSubscriptionPayload, error) {
	_, err := change(ctx, r.engine, webhook.DeleteSubscription, input, id)
	return &generated.DeleteWebhookSubscriptionPayload{ID: idOf(input)}, err
}

func (r *mutationResolver) SendTestEvent(ctx context.Context, input map[string]any) (*generated.SendTestEventPayload, error) {
	d, err := change(ctx, r.engine, webhook.SendTestEvent, input, none)
	return &generated.SendTestEventPayload{WebhookDelivery: d}, err
}

func (r *mutationResolver) ReplayWebhookDelivery(ctx context.Context, input map[string]any) (*generated.ReplayWebhookDeliveryPayload, error) {
	d, err := change(ctx, r.engine, webhook.ReplayDelivery, input, id)
	return &generated.ReplayWebhookDeliveryPayload{WebhookDelivery: d}, err
}

func (r *mutationResolver) ReplayWebhookEvents(ctx context.Context, input map[string]any) (*generated.ReplayWebhookEventsPayload, error) {
	out, err := change(ctx, r.engine, webhook.ReplayEvents, input, none)
	return &generated.ReplayWebhookEventsPayload{WebhookSubscription: out.Subscription, Events: out.Events}, err
}

func (r *subscriptionResolver) WebhookDeliveryChanged(ctx context.Context, subscription *string) (<-chan *generated.WebhookDeliveryChange, error) {
	in := webhook.LookUpDeliveriesInput{SubscriptionID: subscription, Lean: lean[ent.WebhookDelivery](ctx, "webhookDelivery.", nil)}
	return watch(ctx, watched{feed.Deliveries, feed.Filter{ParentID: op.Or(subscription, "")}}, func(ctx context.Context, ids []string) (map[string]*ent.WebhookDelivery, error) {
		in.IDs = ids
		return run(ctx, r.engine, webhook.LookUpDeliveries, in)
	}, func(kind generated.ChangeKind, d *ent.WebhookDelivery) *generated.WebhookDeliveryChange {
		return &generated.WebhookDeliveryChange{Change: kind, WebhookDelivery: d}
	})
}

// WebhookSubscription returns the resolver of a subscription's fields that are no columns.
func (r *Resolver) WebhookSubscription() generated.WebhookSubscriptionResolver {
	return &webhookSubscriptionResolver{r}
}

type webhookSubscriptionResolver struct{ *Resolver }

func (r *webhookSubscriptionResolver) Description(_ context.Context, s *ent.WebhookSubscription) (*string, error) {
	return textOrNil(s.Description), nil
}

// WebhookDelivery returns the resolver of a delivery's fields that are no columns.
func (r *Resolver) WebhookDelivery() generated.WebhookDeliveryResolver {
	return &webhookDeliveryResolver{r}
}

type webhookDeliveryResolver struct{ *Resolver }

func (r *webhookDeliveryResolver) Attempts(_ context.Context, d *ent.WebhookDelivery) ([]*webhook.Attempt, error) {
	attempts, err := webhook.AttemptsOf(d)
	out := make([]*webhook.Attempt, len(attempts))
	for i := range attempts {
		out[i] = &attempts[i]
	}
	return out, err
}
