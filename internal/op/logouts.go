package op

import (
	"context"

	"atrium/ent"
	"atrium/internal/store"
)

// Logouts tells applications that people were signed out of them, by jobs in the transactions that did so. The identity
// provider does; op stands below it, and so names only what it needs.
type Logouts interface {
	// TellClients has the clients of the grants told, as far as they want to hear of logouts. The grants were just revoked.
	TellClients(ctx context.Context, tx *store.Tx, revoked []*ent.Grant) error
}

// TellClients has the clients of grants that the operation revoked told that the people are signed out. An engine without
// an identity provider tells nobody.
func (tx *Tx) TellClients(ctx context.Context, revoked []*ent.Grant) error {
	if tx.engine.Logouts == nil || len(revoked) == 0 {
		return nil
	}
	return tx.engine.Logouts.TellClients(ctx, tx.db, revoked) //nolint:wrapcheck // says what it was doing
}
