package signin

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/factor"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/identity/mfa"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// ResetMFA removes the second factors of a person who has lost them. It requires a person with a recent sign-in;
// resetting an owner's factors requires the right to change owners.
var ResetMFA = op.OnRow("user.reset_mfa", op.Spec{
	Resource: "User", Action: op.Update, AdminLayer: true, Past: map[string]string{"user.reset_mfa": "user.mfa_reset"},
	Summary: "Remove a user's second factors and recovery codes, so that new ones can be enrolled",
}, loadUser, resetMFA).WithRowVerbs(func(row any, _ op.ByID) []string {
	if u, ok := row.(*ent.User); ok && u.Role == user.RoleOwner {
		return []string{"user.update_owner"}
	}
	return nil
})

func loadUser(ctx context.Context, tx *op.Tx, userID string) (*ent.User, error) {
	return op.Lock(tx, tx.User.Query().Where(user.ID(userID))).
		WithMemberships(func(q *ent.TeamMemberQuery) { q.Order(teammember.ByTeamID()) }).Only(ctx)
}

// resetMFA deletes the factors and recovery codes of the user's account. It ends the account's sign-ins at the hosted
// pages and everything that came from them, because somebody who has the lost device may have an open session on it. The
// next sign-in therefore starts with the password and, if the company requires it, enrolment. The person is notified by
// mail. resetMFA changes nothing for an account without factors.
//
// Returns conflict for a person who is not active, and when the account also belongs to other companies: the factors
// protect these as well, and their administrators were not asked. The operator may still do it.
func resetMFA(ctx context.Context, tx *op.Tx, before *ent.User, _ op.ByID) (*ent.User, error) {
	if before.Status != user.StatusActive {
		return nil, apperr.New(apperr.Conflict, "The user is not active.")
	}
	after, had := *before, false
	err := tx.AsSystem(ctx, "factors are the account's, which belongs to no company", func(ctx context.Context) error {
		if _, err := op.Lock(tx, tx.Account.Query().Where(account.ID(before.AccountID))).OnlyID(ctx); err != nil {
			return fmt.Errorf("lock the account: %w", err)
		}
		if err := mayReset(ctx, tx, before); err != nil {
			return err
		}
		var err error
		if had, err = tx.Factor.Query().Where(factor.AccountID(before.AccountID)).Exist(ctx); err != nil {
			return fmt.Errorf("look for the account's factors: %w", err)
		}
		return mfa.Forget(ctx, tx.Client, before.AccountID)
	})
	if err != nil {
		return nil, err
	}
	scope := access.SignIns(before.AccountID)
	if !had {
		scope = scope.PagesOnly() // somebody may be about to enrol a first factor
	}
	if _, err := access.End(ctx, tx, scope, access.FactorsReset); err != nil {
		return nil, err
	}
	if !had {
		return before, nil
	}
	after.MfaEnabled = false
	tx.Changed(before, &after)
	err = tx.Mail(func(m op.Mailer, db *store.Tx) error { return m.Notify(ctx, db, before.AccountID, FactorsReset) })
	if err != nil {
		return nil, fmt.Errorf("tell the person: %w", err)
	}
	return &after, nil
}

// mayReset returns conflict when other companies rely on the account's factors: those in which the person has ever
// accepted, whatever the user's status there. Invitations that nobody accepted do not count.
func mayReset(ctx context.Context, tx *op.Tx, u *ent.User) error {
	if tx.Principal().Type == principal.TypeOperator {
		return nil
	}
	elsewhere, err := tx.User.Query().
		Where(user.AccountID(u.AccountID), user.CompanyIDNEQ(u.CompanyID), user.LiveUserIDIsNil(), user.AcceptedAtNotNil()).Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for the account's other companies: %w", err)
	}
	if elsewhere {
		return apperr.New(apperr.Conflict, "The person's second factors guard more than this company. Only the operator can reset them.")
	}
	return nil
}
