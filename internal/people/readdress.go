package people

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/mailedlink"
	"atrium/ent/predicate"
	"atrium/ent/user"
	"atrium/internal/platform/store"
)

// Readdress gives an account another address, which its person has proven, and shows it in the companies where the person
// is active. Invitations stay with the address that they were mailed to: those of the old address lose the account, and
// those of the new one get it. Returns false when the account's address is not from, and a unique violation when somebody
// else has proven the new one. The context must access rows of all companies and of none.
func Readdress(ctx context.Context, tx *store.Tx, accountID, from, to string) (bool, error) {
	for _, email := range []string{min(from, to), max(from, to)} {
		if err := tx.LockName(ctx, accountLock(email)); err != nil {
			return false, fmt.Errorf("lock the address: %w", err)
		}
	}
	invited, err := tx.User.Query().Where(user.AccountID(accountID), user.AcceptedAtIsNil(), user.LiveUserIDIsNil()).IDs(ctx)
	if err != nil {
		return false, fmt.Errorf("look for invitations of the old address: %w", err)
	}
	if err := giveWay(ctx, tx, to, accountID); err != nil {
		return false, err
	}
	n, err := tx.Account.Update().Where(account.ID(accountID), account.Email(from)).SetEmail(to).ClearUnprovenSince().Save(ctx)
	if err != nil || n != 1 {
		return false, err
	}
	if len(invited) > 0 {
		left, err := tx.Account.Create().SetEmail(from).Save(ctx)
		if err != nil {
			return false, fmt.Errorf("make an account of the old address: %w", err)
		}
		if err := move(ctx, tx, left.ID, user.Or(user.IDIn(invited...), user.LiveUserIDIn(invited...)), mailedlink.UserIDIn(invited...)); err != nil {
			return false, err
		}
	}
	return true, show(ctx, tx, accountID, to)
}

// giveWay moves the invitations of an address to the account that is about to get the address, and deletes the account
// that the invitations had created. An account whose address was proven stays.
func giveWay(ctx context.Context, tx *store.Tx, email, accountID string) error {
	old, err := store.Lock(tx, tx.Account.Query().Where(account.Email(email))).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an account of the new address: %w", err)
	}
	if proven, err := Proven(ctx, tx.Client, old); err != nil || proven {
		return err
	}
	if err := move(ctx, tx, accountID, user.AccountID(old.ID), mailedlink.AccountID(old.ID)); err != nil {
		return err
	}
	if err := tx.Account.DeleteOne(old).Exec(ctx); err != nil {
		return fmt.Errorf("delete the account that invitations made: %w", err)
	}
	return nil
}

// move reassigns users and links to an account.
func move(ctx context.Context, tx *store.Tx, accountID string, users predicate.User, links predicate.MailedLink) error {
	if err := tx.User.Update().Where(users).SetAccountID(accountID).Exec(ctx); err != nil {
		return fmt.Errorf("move the invited users: %w", err)
	}
	if err := tx.MailedLink.Update().Where(links).SetAccountID(accountID).Exec(ctx); err != nil {
		return fmt.Errorf("move their links: %w", err)
	}
	return nil
}

// show writes the account's address into its active users and their mirrors. If a company has invited the new address as
// another user, it keeps showing the old one, because two of its users cannot share an address.
func show(ctx context.Context, tx *store.Tx, accountID, email string) error {
	active, err := tx.User.Query().Where(user.AccountID(accountID), user.StatusEQ(user.StatusActive), user.LiveUserIDIsNil()).All(ctx)
	if err != nil {
		return fmt.Errorf("read the account's users: %w", err)
	}
	companies, ids := make([]string, len(active)), make(map[string]string, len(active))
	for i, u := range active {
		companies[i], ids[u.CompanyID] = u.CompanyID, u.ID
	}
	var taken []string
	err = tx.User.Query().Where(user.Email(email), user.CompanyIDIn(companies...)).Select(user.FieldCompanyID).Scan(ctx, &taken)
	if err != nil {
		return fmt.Errorf("look for users of the address: %w", err)
	}
	for _, companyID := range taken {
		delete(ids, companyID)
	}
	shown := slices.Collect(maps.Values(ids))
	err = tx.User.Update().Where(user.Or(user.IDIn(shown...), user.LiveUserIDIn(shown...))).SetEmail(email).SetMailState(user.MailStateOK).Exec(ctx)
	if err != nil {
		return fmt.Errorf("change the users' addresses: %w", err)
	}
	return nil
}
