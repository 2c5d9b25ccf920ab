package webhook

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/webhook/signing"
)

// RotateSecret replaces a subscription's signing secret.
var RotateSecret = op.OnRow("webhooksubscription.rotate", op.Spec{
	Resource: "WebhookSubscription", Action: op.Update, AdminLayer: true, Summary: "Replace a webhook subscription's signing secret",
}, loadSubscription, rotateSecret)

// RotateSecretInput names a subscription.
type RotateSecretInput struct {
	op.ByID
	signing.Overlap
}

func rotateSecret(ctx context.Context, tx *op.Tx, before *ent.WebhookSubscription, in RotateSecretInput) (IssuedSubscription, error) {
	out, u := IssuedSubscription{ID: before.ID, SigningSecret: signing.New()}, before.Update()
	err := signing.Rotate(ctx, tx, u, before.ID, before.SecretSealed, out.SigningSecret, in.Overlap)
	if err != nil {
		return IssuedSubscription{}, err
	}
	if out.Subscription, err = u.Save(ctx); err != nil {
		return IssuedSubscription{}, fmt.Errorf("rotate the signing secret: %w", err)
	}
	tx.Changed(before, out.Subscription)
	return out, nil
}
