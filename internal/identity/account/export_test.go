package account

import (
	"context"

	"atrium/ent"
	"atrium/internal/identity/signin"
	"atrium/internal/platform/store"
)

// SendAll mails the user each mail of the package once.
func SendAll(ctx context.Context, tx *store.Tx, l *Mails, u *ent.User) error {
	acc, err := tx.Account.Get(ctx, u.AccountID)
	if err != nil {
		return err
	}
	const token = "TOKEN"
	steps := []func() error{
		func() error { return l.invite(ctx, tx, u, nil) },
		func() error { return l.reset(ctx, tx, acc, "") },
		func() error { return l.confirmEmail(ctx, tx, acc, u.Email, token) },
		func() error { return l.emailChanged(ctx, tx, acc.ID, u.Email, "new@x.test") },
		func() error { return l.openCompany(ctx, tx, u.Email, token, "de") },
	}
	for _, kind := range []string{PasswordChanged, signin.FactorAdded, signin.FactorRemoved, signin.CodesRenewed, signin.CodeUsed, signin.FactorsReset} {
		steps = append(steps, func() error { return l.Notify(ctx, tx, acc.ID, kind) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
