package inbound

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/secret"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32

	leastSecret = 16 // characters of a secret that is given
	mostSecret  = 256

	defaultOverlap = 24 * time.Hour
)

// newSecret returns a random secret: whsec_ and the key in base64.
func newSecret() secret.Value {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return secret.Value(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

func givenOrNew(given *secret.Value) secret.Value {
	if given != nil {
		return *given
	}
	return newSecret()
}

// checkSecret reports what is wrong with a secret that is given.
func checkSecret(v secret.Value) error {
	n := utf8.RuneCountInString(string(v))
	switch {
	case n < leastSecret || n > mostSecret:
		return fmt.Errorf("must have %d to %d characters", leastSecret, mostSecret)
	case strings.ContainsFunc(string(v), func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.TrimSpace(string(v)) != string(v):
		return errors.New("must not hold control characters, nor begin or end with blanks")
	}
	return nil
}

// sealSecret encrypts a secret for one webhook.
func sealSecret(sealer op.Sealer, v secret.Value, webhookID string) ([]byte, error) {
	sealed, err := sealer.Seal([]byte(v), []byte(webhookID))
	if err != nil {
		return nil, fmt.Errorf("seal the signing secret: %w", err)
	}
	return sealed, nil
}

// openSecrets returns the secrets that verify a webhook's calls at a moment: the current one and, while a rotation overlaps, the
// previous one. Do not call it in a transaction: with a KMS the first value of a data key takes a network call.
func openSecrets(sealer op.Sealer, w *ent.InboundWebhook, now time.Time) ([]secret.Value, error) {
	sealed := [][]byte{w.SecretSealed}
	if w.PreviousUntil != nil && now.Before(*w.PreviousUntil) && len(w.PreviousSealed) > 0 {
		sealed = append(sealed, w.PreviousSealed)
	}
	secrets := make([]secret.Value, len(sealed))
	for i, b := range sealed {
		plain, err := sealer.Unseal(b, []byte(w.ID))
		if err != nil {
			return nil, fmt.Errorf("unseal a signing secret: %w", err)
		}
		secrets[i] = secret.Value(plain)
	}
	return secrets, nil
}

// RotateSecret replaces a webhook's signing secret.
var RotateSecret = op.OnRow("inboundwebhook.rotate", op.Spec{
	Resource: "InboundWebhook", Action: op.Update, AdminLayer: true, Summary: "Replace an inbound webhook's signing secret",
}, loadWebhook, rotateSecret)

// RotateSecretInput says for how long the old secret also verifies.
type RotateSecretInput struct {
	op.ByID
	OverlapSeconds *int          `json:"overlapSeconds,omitempty" nullable:"true" minimum:"0" maximum:"604800" doc:"For so long calls may be signed with the old secret, too: at most 7 days; a day when not given."`
	SigningSecret  *secret.Value `json:"signingSecret,omitempty" nullable:"true" writeOnly:"true" doc:"The secret that the sender has chosen, 16 to 256 characters; drawn when not given."`
}

func rotateSecret(ctx context.Context, tx *op.Tx, before *ent.InboundWebhook, in RotateSecretInput) (Issued, error) {
	if err := (target{}).check(ctx, tx, in.SigningSecret); err != nil {
		return Issued{}, err
	}
	out := Issued{ID: before.ID, SigningSecret: givenOrNew(in.SigningSecret)}
	sealed, err := sealSecret(tx.Sealer(), out.SigningSecret, before.ID)
	if err != nil {
		return Issued{}, err
	}
	overlap := time.Duration(op.Or(in.OverlapSeconds, int(defaultOverlap/time.Second))) * time.Second
	u := before.Update().SetSecretSealed(sealed)
	if overlap > 0 {
		u.SetPreviousSealed(before.SecretSealed).SetPreviousUntil(tx.Now(ctx).Add(overlap))
	} else {
		u.ClearPreviousSealed().ClearPreviousUntil()
	}
	if out.Webhook, err = u.Save(ctx); err != nil {
		return Issued{}, fmt.Errorf("rotate the signing secret: %w", err)
	}
	tx.Changed(before, out.Webhook)
	return out, nil
}
