package signin

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/grant"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// ResetMFA takes the second factors from a person who has lost them. It takes a person with a recent proof; resetting an
// owner's takes the right to change owners.
var ResetMFA = op.OnRow("user.reset_mfa", op.Spec{
	Resource: "User", Action: op.Update, AdminLayer: true, FreshProof: true,
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

// resetMFA deletes the factors and recovery codes of the user's account and signs it out of the hosted pages everywhere
// and of all that came from there (whoever has the lost device may have an open session on it), so that the next sign-in
// begins with the password and, where the company requires it, enrolment. The person is told by mail. It changes nothing
// for an account without factors.
//
// Returns conflict when the account is an active member of other companies as well: the factors guard those, too, and
// their administrators were not asked. The operator may still do it.
func resetMFA(ctx context.Context, tx *op.Tx, before *ent.User, _ op.ByID) (*ent.User, error) {
	tx.As("user.mfa_reset")
	after := *before
	err := tx.AsSystem(ctx, "factors are the account's, which belongs to no company", func(ctx context.Context) error {
		return tx.Enqueue(func(db *store.Tx) error {
			if err := lockAccount(ctx, db, before.AccountID); err != nil {
				return err
			}
			if err := mayReset(ctx, tx, before); err != nil {
				return err
			}
			if err := forgetFactors(ctx, db, before.AccountID); err != nil {
				return err
			}
			if !before.MfaEnabled {
				return EndAll(ctx, db, before.AccountID, "") // those that wait for an enrolment
			}
			return endWithGrants(ctx, tx, db, before.AccountID)
		})
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if !before.MfaEnabled {
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

// endWithGrants ends the account's sign-ins with their grants and sessions, and has applications told. The transaction's
// context reaches rows of all companies.
func endWithGrants(ctx context.Context, tx *op.Tx, db *store.Tx, accountID string) error {
	ids, err := db.SignIn.Query().Where(signin.AccountID(accountID), signin.EndedAtIsNil()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("find the account's sign-ins: %w", err)
	}
	revoked, err := db.Grant.Query().Where(grant.SignInIDIn(ids...), grant.RevokedAtIsNil()).All(ctx)
	if err != nil {
		return fmt.Errorf("find the grants of the account's sign-ins: %w", err)
	}
	now := tx.Now(ctx)
	if err := db.Grant.Update().Where(grant.SignInIDIn(ids...), grant.RevokedAtIsNil()).SetRevokedAt(now).Exec(ctx); err != nil {
		return fmt.Errorf("revoke the grants of the account's sign-ins: %w", err)
	}
	if err := db.Session.Update().Where(session.SignInIDIn(ids...), session.EndedAtIsNil()).SetEndedAt(now).Exec(ctx); err != nil {
		return fmt.Errorf("end the sessions of the account's sign-ins: %w", err)
	}
	if err := EndAll(ctx, db, accountID, ""); err != nil {
		return err
	}
	tx.AuthorityChanged()
	return tx.TellClients(ctx, revoked) //nolint:wrapcheck // says what it was doing
}

// mayReset returns conflict when other companies rely on the account's factors.
func mayReset(ctx context.Context, tx *op.Tx, u *ent.User) error {
	if tx.Principal().Type == principal.TypeOperator {
		return nil
	}
	elsewhere, err := tx.User.Query().
		Where(user.AccountID(u.AccountID), user.CompanyIDNEQ(u.CompanyID), user.LiveUserIDIsNil(), user.StatusEQ(user.StatusActive)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for the account's other companies: %w", err)
	}
	if elsewhere {
		return apperr.New(apperr.Conflict, "The person's second factors guard more than this company. Only the operator can reset them.")
	}
	return nil
}
