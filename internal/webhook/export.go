package webhook

import (
	"fmt"
	"net/http"
	"time"

	"atrium/internal/op"
)

// Package agent signs the runs that it pushes to agents in the same way as deliveries. It uses these functions.

// NewSecret returns a random signing secret.
func NewSecret() Secret { return newSecret() }

// Seal encrypts the secret for the row with that id.
func (s Secret) Seal(sealer op.Sealer, id string) ([]byte, error) { return s.seal(sealer, id) }

// Unseal decrypts the secrets of the row with that id. Do not call it in a transaction: with a KMS it may take a network call.
func Unseal(sealer op.Sealer, id string, sealed ...[]byte) ([]Secret, error) {
	secrets := make([]Secret, len(sealed))
	for i, b := range sealed {
		plain, err := sealer.Unseal(b, []byte(id))
		if err != nil {
			return nil, fmt.Errorf("unseal a signing secret: %w", err)
		}
		secrets[i] = Secret(plain)
	}
	return secrets, nil
}

// Sign sets the headers of Standard Webhooks: the message's id, the time of sending and one signature for each secret.
func Sign(h http.Header, secrets []Secret, id string, at time.Time, body []byte) error {
	return sign(h, secrets, id, at, body)
}
