package identity

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/serviceaccount"
	"atrium/ent/user"
	"atrium/internal/platform/store"
)

// MirrorUser returns the id of a live user's mirror in the company's sandbox, and creates it if there is none. So rows
// that the person creates there have a creator who exists there. The live user's role still decides. When two callers
// create the mirror at once, a unique index refuses the second.
func MirrorUser(ctx context.Context, db *ent.Client, sandboxID, liveID string) (string, error) {
	id, err := db.User.Query().Where(user.CompanyID(sandboxID), user.LiveUserID(liveID)).OnlyID(ctx)
	if !ent.IsNotFound(err) {
		return id, err
	}
	live, err := db.User.Get(ctx, liveID)
	if err != nil {
		return "", fmt.Errorf("read the live user: %w", err)
	}
	m, err := db.User.Create().SetCompanyID(sandboxID).SetAccountID(live.AccountID).SetLiveUserID(live.ID).
		SetEmail(live.Email).SetName(live.Name).SetRole(live.Role).Save(ctx)
	if err != nil {
		return "", fmt.Errorf("make the mirror: %w", err)
	}
	return m.ID, nil
}

// MirrorAccount does the same for a service account. It locks the live account, because no index prevents a second mirror.
func MirrorAccount(ctx context.Context, tx *store.Tx, sandboxID, liveID string) (string, error) {
	live, err := store.Lock(tx, tx.ServiceAccount.Query().Where(serviceaccount.ID(liveID))).Only(ctx)
	if err != nil {
		return "", fmt.Errorf("read the live account: %w", err)
	}
	id, err := tx.ServiceAccount.Query().Where(serviceaccount.CompanyID(sandboxID), serviceaccount.LiveAccountID(liveID)).
		Order(serviceaccount.ByID()).FirstID(ctx)
	if !ent.IsNotFound(err) {
		return id, err
	}
	m, err := tx.ServiceAccount.Create().SetCompanyID(sandboxID).SetLiveAccountID(live.ID).SetName(live.Name).SetRole(live.Role).Save(ctx)
	if err != nil {
		return "", fmt.Errorf("make the mirror: %w", err)
	}
	return m.ID, nil
}
