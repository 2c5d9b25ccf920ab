package secret

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/secret"
	"atrium/internal/op"
)

// Hide returns a function that masks the values of all secrets of the context's company, and pasted keys, in a JSON value. Do
// not call it in a transaction: it decrypts the secrets, like Open.
func Hide(ctx context.Context, db *ent.Client, sealer op.Sealer) (func(any) any, error) {
	rows, err := db.Secret.Query().Order(secret.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the secrets: %w", err)
	}
	values := make([]string, 0, len(rows))
	for _, s := range rows {
		value, err := unseal(sealer, s)
		if err != nil {
			return nil, fmt.Errorf("unseal the secret %s: %w", s.Name, err)
		}
		values = append(values, string(value))
	}
	return NewMasker(values...).WithKeys().Value, nil
}
