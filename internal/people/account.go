package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/mailedlink"
	"atrium/ent/user"
	"atrium/internal/identity/mfa"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/store"
)

// A user row that was accepted once (accepted_at) belongs to an account. A row that nobody has accepted belongs to the
// invited address: it follows the account that has this address, and shows its company nothing of that account. The
// functions of this file need contexts that can access rows of all companies and of none.

// Proven reports whether somebody has proven that the account's address is theirs: by setting a password, which takes a
// mail to the address, or by accepting an invitation. An account that was made only by invitations gives way to somebody
// who proves the address.
func Proven(ctx context.Context, db *ent.Client, acc *ent.Account) (bool, error) {
	if acc.PasswordHash != "" {
		return true, nil
	}
	came, err := db.User.Query().Where(user.AccountID(acc.ID), user.AcceptedAtNotNil()).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for companies of the account: %w", err)
	}
	return came, nil
}

// Prove marks an account as its person's, because a link mailed to its address was used. An account that an import brought comes
// with a password that anybody could have chosen. Until this it keeps to the companies that were imported with it.
func Prove(ctx context.Context, tx *store.Tx, id string) error {
	if err := tx.Account.Update().Where(account.ID(id), account.UnprovenSinceNotNil()).ClearUnprovenSince().Exec(ctx); err != nil {
		return fmt.Errorf("mark the account as proven: %w", err)
	}
	return nil
}

// Unproven returns forbidden for an account that an import brought, when it would come into a company before Prove.
func Unproven() error {
	return apperr.New(apperr.Forbidden, "The address has an account that came with an imported company. Its owner asks for a new password first, at /forgot.")
}

// Taken reports whether somebody has proven that the address is theirs.
func Taken(ctx context.Context, db *ent.Client, email string) (bool, error) {
	acc, err := db.Account.Query().Where(account.Email(email)).Only(ctx)
	if ent.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look the address up: %w", err)
	}
	return Proven(ctx, db, acc)
}

// Accept makes an invited user active, under the given name if any, and invalidates the invitation. Returns false when
// the user is no longer invited, or when the account is active in the company as another user.
func Accept(ctx context.Context, tx *store.Tx, u *ent.User, name string) (bool, error) {
	twice, err := tx.User.Query().Where(user.AccountID(u.AccountID), user.CompanyID(u.CompanyID), user.StatusEQ(user.StatusActive)).Exist(ctx)
	if err != nil || twice {
		return false, err
	}
	mfa, err := mfa.Enrolled(ctx, tx.Client, u.AccountID)
	if err != nil {
		return false, err
	}
	now := clock.From(ctx).Now()
	up := tx.User.Update().Where(user.ID(u.ID), user.AccountID(u.AccountID), user.StatusEQ(user.StatusInvited)).
		SetStatus(user.StatusActive).SetAcceptedAt(now).SetMfaEnabled(mfa)
	if name != "" {
		up.SetName(name)
	}
	n, err := up.Save(ctx)
	if err != nil || n == 0 {
		return false, err
	}
	err = tx.MailedLink.Update().Where(mailedlink.UserID(u.ID), mailedlink.KindEQ(mailedlink.KindInvitation), mailedlink.UsedAtIsNil()).
		SetUsedAt(now).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("end the user's invitations: %w", err)
	}
	tx.AuthorityChanged()
	return true, nil
}

// accountOf returns the account of an e-mail address, and creates it if there is none. Accounts belong to no company.
func accountOf(ctx context.Context, tx *op.Tx, email string) (acc *ent.Account, err error) {
	err = tx.AsSystem(ctx, "invite: find or make the person's account", func(ctx context.Context) error {
		// If two companies invite the same person at once, the lock makes the second wait and find the account.
		if err := tx.LockName(ctx, accountLock(email)); err != nil {
			return err
		}
		acc, err = tx.Account.Query().Where(account.Email(email)).Only(ctx)
		if ent.IsNotFound(err) {
			acc, err = tx.Account.Create().SetEmail(email).Save(ctx)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find or make the account: %w", err)
	}
	return acc, nil
}

// accountLock names the lock for creating or replacing the account of an address.
func accountLock(email string) string { return "account/" + email }
