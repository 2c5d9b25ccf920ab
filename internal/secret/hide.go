package secret

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/secret"
	"atrium/internal/op"
)

// Hide returns what takes the values of all secrets of the context's company, and pasted keys, out of a JSON value. Keep it out of
// transactions, as Open.
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
