package authn

import (
	"context"
	"fmt"

	"atrium/internal/identity"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// mirror replaces the caller by its counterpart in the sandbox, which is already the credential's
// company.
func (a *Authenticator) mirror(ctx context.Context, c *Credential) error {
	sandbox, live := c.Principal.CompanyID, c.Principal.ID
	err := a.store.WriteOrRetry(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if c.Principal.Type == principal.TypeServiceAccount {
			c.Principal.ID, err = identity.MirrorAccount(ctx, tx, sandbox, live)
		} else {
			c.Principal.ID, err = identity.MirrorUser(ctx, tx.Client, sandbox, live)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("find the caller in the sandbox: %w", err)
	}
	return nil
}
