package secret

import (
	"context"
	"fmt"
	"strconv"

	"atrium/ent"
	"atrium/ent/secret"
	"atrium/internal/op"
)

// Open returns the current value of the named secret of the context's company, for a call that is about to be made.
// Returns Ent's not-found error when there is none, or the sealer's. Keep it out of transactions: with a KMS the first
// value of a data key takes a network call.
func Open(ctx context.Context, db *ent.Client, sealer op.Sealer, name string) (string, error) {
	s, err := db.Secret.Query().Where(secret.Name(name)).Only(ctx)
	if err != nil {
		return "", fmt.Errorf("look the secret %s up: %w", name, err)
	}
	value, err := sealer.Unseal(s.Sealed, associated(s.CompanyID, s.ID, s.Version))
	if err != nil {
		return "", fmt.Errorf("unseal the secret %s: %w", name, err)
	}
	return string(value), nil
}

// associated binds a sealed value to its row and version, so that it opens nowhere else.
func associated(companyID, rowID string, version int) []byte {
	return []byte(companyID + "/" + rowID + "/" + strconv.Itoa(version))
}
