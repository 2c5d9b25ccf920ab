package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"time"

	"atrium/ent"
	"atrium/internal/op"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32

	defaultOverlap = 24 * time.Hour
)

// Secret signs the deliveries of one subscription: whsec_ and the key in base64. It prints as ***; only Reveal returns the value.
type Secret string

// newSecret returns a random secret.
func newSecret() Secret {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// Reveal returns the secret itself, for the one answer that shows it.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (Secret) String() string { return "***" }

// GoString hides the secret.
func (Secret) GoString() string { return `"***"` }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// seal encrypts the secret for one subscription.
func (s Secret) seal(sealer op.Sealer, subscriptionID string) ([]byte, error) {
	sealed, err := sealer.Seal([]byte(s), []byte(subscriptionID))
	if err != nil {
		return nil, fmt.Errorf("seal the signing secret: %w", err)
	}
	return sealed, nil
}

// openSecrets returns the secrets that sign for a subscription at a moment: the current one and, while a rotation overlaps, the
// previous one. Do not call it in a transaction: with a KMS the first value of a data key takes a network call.
func openSecrets(sealer op.Sealer, s *ent.WebhookSubscription, now time.Time) ([]Secret, error) {
	sealed := [][]byte{s.SecretSealed}
	if s.PreviousUntil != nil && now.Before(*s.PreviousUntil) && len(s.PreviousSealed) > 0 {
		sealed = append(sealed, s.PreviousSealed)
	}
	return Unseal(sealer, s.ID, sealed...)
}

// RotateSecret replaces a subscription's signing secret.
var RotateSecret = op.OnRow("webhooksubscription.rotate", op.Spec{
	Resource: "WebhookSubscription", Action: op.Update, AdminLayer: true, Summary: "Replace a webhook subscription's signing secret",
}, loadSubscription, rotateSecret)

// RotateSecretInput says for how long deliveries are also signed with the old secret.
type RotateSecretInput struct {
	op.ByID
	OverlapSeconds *int `json:"overlapSeconds,omitempty" nullable:"true" minimum:"0" maximum:"604800" doc:"For so long deliveries carry a second signature, by the old secret: at most 7 days; a day when not given."`
}

func rotateSecret(ctx context.Context, tx *op.Tx, before *ent.WebhookSubscription, in RotateSecretInput) (IssuedSubscription, error) {
	out := IssuedSubscription{ID: before.ID, SigningSecret: newSecret()}
	sealed, err := out.SigningSecret.seal(tx.Sealer(), before.ID)
	if err != nil {
		return IssuedSubscription{}, err
	}
	overlap := time.Duration(op.Or(in.OverlapSeconds, int(defaultOverlap/time.Second))) * time.Second
	u := before.Update().SetSecretSealed(sealed)
	if overlap > 0 {
		u.SetPreviousSealed(before.SecretSealed).SetPreviousUntil(tx.Now(ctx).Add(overlap))
	} else {
		u.ClearPreviousSealed().ClearPreviousUntil()
	}
	if out.Subscription, err = u.Save(ctx); err != nil {
		return IssuedSubscription{}, fmt.Errorf("rotate the signing secret: %w", err)
	}
	tx.Changed(before, out.Subscription)
	return out, nil
}
