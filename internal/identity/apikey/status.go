package apikey

import (
	"context"
	"time"

	"atrium/ent"
	entkey "atrium/ent/apikey"
	"atrium/internal/op"
)

// Get reads one API key, without its value. It requires a person, like all operations on keys.
var Get = op.Get("apikey.read", op.Spec{
	Resource: "APIKey", Action: op.Read, AdminLayer: true, Summary: "Get an API key",
}, func(ctx context.Context, tx *op.Tx, id string) (*ent.APIKey, error) {
	return tx.APIKey.Query().Where(entkey.ID(id)).Only(ctx)
})

// The states of an API key.
const (
	Active  = "active"
	Revoked = "revoked"
	Expired = "expired"
)

// Status returns the state of a key at a moment.
func Status(k *ent.APIKey, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return Revoked
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		return Expired
	}
	return Active
}
