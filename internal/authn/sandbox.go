package authn

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/serviceaccount"
	"atrium/ent/user"
	"atrium/internal/store"
)

// mirrorUser makes the person behind the credential a member of the sandbox, so that what the credential makes there
// has a creator who can be found there. The role that counts stays the live one.
func (a *Authenticator) mirrorUser(ctx context.Context, c *Credential) error {
	liveID := c.Principal.ID
	find := func(ctx context.Context, db *ent.Client) (string, error) {
		return db.User.Query().Where(user.CompanyID(c.Principal.CompanyID), user.LiveUserID(liveID)).OnlyID(ctx)
	}
	return a.mirror(ctx, c, find, func(ctx context.Context, tx *store.Tx) (string, error) {
		live, err := tx.User.Get(ctx, liveID)
		if err != nil {
			return "", fmt.Errorf("read the live user: %w", err)
		}
		m, err := tx.User.Create().SetCompanyID(c.Principal.CompanyID).SetAccountID(live.AccountID).SetLiveUserID(live.ID).
			SetEmail(live.Email).SetName(live.Name).SetRole(live.Role).Save(ctx)
		if err != nil {
			return "", fmt.Errorf("make the mirror: %w", err)
		}
		return m.ID, nil
	})
}

// mirrorAccount does the same for a service account.
func (a *Authenticator) mirrorAccount(ctx context.Context, c *Credential) error {
	liveID := c.Principal.ID
	find := func(ctx context.Context, db *ent.Client) (string, error) {
		return db.ServiceAccount.Query().
			Where(serviceaccount.CompanyID(c.Principal.CompanyID), serviceaccount.LiveAccountID(liveID)).
			Order(serviceaccount.ByID()).FirstID(ctx)
	}
	return a.mirror(ctx, c, find, func(ctx context.Context, tx *store.Tx) (string, error) {
		live, err := store.Lock(tx, tx.ServiceAccount.Query().Where(serviceaccount.ID(liveID))).Only(ctx) // no index keeps a second mirror out
		if err != nil {
			return "", fmt.Errorf("read the live account: %w", err)
		}
		if id, err := find(ctx, tx.Client); err == nil || !ent.IsNotFound(err) {
			return id, err
		}
		m, err := tx.ServiceAccount.Create().SetCompanyID(c.Principal.CompanyID).SetLiveAccountID(live.ID).
			SetName(live.Name).SetRole(live.Role).Save(ctx)
		if err != nil {
			return "", fmt.Errorf("make the mirror: %w", err)
		}
		return m.ID, nil
	})
}

// mirror sets the caller's id to that of its mirror, which is made where find does not find it.
func (a *Authenticator) mirror(ctx context.Context, c *Credential,
	find func(context.Context, *ent.Client) (string, error), create func(context.Context, *store.Tx) (string, error),
) error {
	var id string
	err := a.store.WriteOrRetry(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if id, err = find(ctx, tx.Client); ent.IsNotFound(err) {
			id, err = create(ctx, tx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("find the caller in the sandbox: %w", err)
	}
	c.Principal.ID = id
	return nil
}
