package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/mailedlink"
	"atrium/ent/user"
	"atrium/internal/clock"
	"atrium/internal/identity/mfa"
	"atrium/internal/op"
	"atrium/internal/store"
)

// Who came once (accepted_at) belongs to an account. A row that nobody has accepted belongs to the address that was
// invited: it is with whichever account has that address, and tells its company nothing of the account. The contexts of
// this file's functions reach rows of all companies and of none.

// Proven reports whether somebody has shown that the account's address is theirs: by the password, which is set through a
// mail to it, or by having come to a company. An account that invitations alone have made gives way to whoever does.
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

// Taken reports whether the address is one that somebody has proven.
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

// Accept makes an invited user active, under the name if there is one, and uses its invitation up. Returns false when the
// user is not waiting any more, or when the account is active in the company as another user.
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

// accountOf returns the account of an e-mail address, and makes it where there is none. Accounts belong to no company.
func accountOf(ctx context.Context, tx *op.Tx, email string) (id string, err error) {
	err = tx.AsSystem(ctx, "invite: find or make the person's account", func(ctx context.Context) error {
		// Two companies that invite the same person at once do so one after the other: the second finds the account.
		if err := tx.LockName(ctx, accountLock(email)); err != nil {
			return err
		}
		id, err = tx.Account.Query().Where(account.Email(email)).OnlyID(ctx)
		if !ent.IsNotFound(err) {
			return err
		}
		made, err := tx.Account.Create().SetEmail(email).Save(ctx)
		if err != nil {
			return err
		}
		id = made.ID
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("find or make the account: %w", err)
	}
	return id, nil
}

// accountLock names the lock under which the account of an address is made, or gives way.
func accountLock(email string) string { return "account/" + email }
