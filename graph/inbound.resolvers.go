package graph

import (
	"context"

	"atrium/ent"
	"atrium/ent/inboundcall"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/platform/text"
	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/preset"
)

func (r *queryResolver) InboundCalls(ctx context.Context, webhook string, outcome []inboundcall.Outcome, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.InboundCall], error) {
	in := &inbound.ListCallsInput{WebhookID: text.Plain(webhook)}
	for _, o := range outcome {
		in.Outcome = append(in.Outcome, string(o))
	}
	return resolve.List(ctx, r.Engine, inbound.ListCalls, in, first, after, orderBy)
}

func (r *queryResolver) InboundPresets(ctx context.Context) ([]*inbound.Preset, error) {
	return resolve.Run(ctx, r.Engine, inbound.ListPresets, struct{}{})
}

func (r *mutationResolver) CreateInboundWebhook(ctx context.Context, input inbound.CreateWebhookInput) (*generated.CreateInboundWebhookPayload, error) {
	w, err := resolve.Change(ctx, r.Engine, inbound.CreateWebhook, input, "")
	return &generated.CreateInboundWebhookPayload{InboundWebhook: w.Webhook, SigningSecret: string(w.SigningSecret)}, err
}

func (r *mutationResolver) RotateInboundWebhookSecret(ctx context.Context, input inbound.RotateSecretInput) (*generated.RotateInboundWebhookSecretPayload, error) {
	w, err := resolve.Change(ctx, r.Engine, inbound.RotateSecret, input, "id")
	return &generated.RotateInboundWebhookSecretPayload{InboundWebhook: w.Webhook, SigningSecret: string(w.SigningSecret)}, err
}

func (r *inboundWebhookResolver) URL(_ context.Context, w *ent.InboundWebhook) (string, error) {
	return r.baseURL + inbound.Path(w.ID), nil
}

func (r *inboundWebhookResolver) Signature(_ context.Context, w *ent.InboundWebhook) (*preset.Signature, error) {
	return inbound.SignatureOf(w)
}

func (r *inboundWebhookResolver) Warning(_ context.Context, w *ent.InboundWebhook) (*string, error) {
	return inbound.Warning(w), nil
}
