package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
)

// Characters of a secret that is given.
const (
	leastSecret = 16
	mostSecret  = 256
)

func givenOrNew(given *secret.Value) secret.Value {
	if given != nil {
		return *given
	}
	return signing.New()
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

// RotateSecret replaces a webhook's signing secret.
var RotateSecret = op.OnRow("inboundwebhook.rotate", op.Spec{
	Resource: "InboundWebhook", Action: op.Update, AdminLayer: true, Summary: "Replace an inbound webhook's signing secret",
}, loadWebhook, rotateSecret)

// RotateSecretInput names a webhook and, if the sender has chosen one, the new secret.
type RotateSecretInput struct {
	op.ByID
	signing.Overlap
	SigningSecret *secret.Value `json:"signingSecret,omitempty" nullable:"true" writeOnly:"true" doc:"The secret that the sender has chosen, 16 to 256 characters; drawn when not given."`
}

func rotateSecret(ctx context.Context, tx *op.Tx, before *ent.InboundWebhook, in RotateSecretInput) (Issued, error) {
	if err := (target{}).check(ctx, tx, in.SigningSecret); err != nil {
		return Issued{}, err
	}
	out, u := Issued{ID: before.ID, SigningSecret: givenOrNew(in.SigningSecret)}, before.Update()
	err := signing.Rotate(ctx, tx, u, before.ID, before.SecretSealed, out.SigningSecret, in.Overlap)
	if err != nil {
		return Issued{}, err
	}
	if out.Webhook, err = u.Save(ctx); err != nil {
		return Issued{}, fmt.Errorf("rotate the signing secret: %w", err)
	}
	tx.Changed(before, out.Webhook)
	return out, nil
}
