package authn

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/ent/apikey"
	"atrium/internal/op"
)

// GetKey reads one API key, without its value. It takes a person, like all operations on keys.
var GetKey = op.Get("apikey.read", op.Spec{
	Resource: "APIKey", Action: op.Read, AdminLayer: true, Summary: "Get an API key",
}, func(ctx context.Context, tx *op.Tx, id string) (*ent.APIKey, error) {
	return tx.APIKey.Query().Where(apikey.ID(id)).Only(ctx)
})

// The states of an API key.
const (
	KeyActive  = "active"
	KeyRevoked = "revoked"
	KeyExpired = "expired"
)

// KeyStatus returns the state that a key is in at a moment.
func KeyStatus(k *ent.APIKey, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return KeyRevoked
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		return KeyExpired
	}
	return KeyActive
}
