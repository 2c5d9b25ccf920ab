package signin

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/auditentry"
	"atrium/ent/factor"
	"atrium/ent/recoverycode"
	"atrium/ent/user"
	"atrium/internal/audit"
	"atrium/internal/store"
)

// How a person proved who it is, as the claim amr names it (RFC 8176).
const (
	methodPassword = "pwd"
	methodOTP      = "otp"
	methodSMS      = "sms"
	methodKey      = "hwk"
	methodMFA      = "mfa"
)

// maxFactors bounds how many factors an account may have.
const maxFactors = 20

// enrolled tells whether the account has a second factor.
func (s *SignIns) enrolled(ctx context.Context, accountID string) (bool, error) {
	yes, err := s.store.Reader().Factor.Query().Where(factor.AccountID(accountID)).Exist(s.system(ctx))
	if err != nil {
		return false, fmt.Errorf("look for the account's factors: %w", err)
	}
	return yes, nil
}

// factors returns the account's factors, the oldest first.
func (s *Server) factors(ctx context.Context, accountID string) ([]*ent.Factor, error) {
	all, err := s.store.Reader().Factor.Query().Where(factor.AccountID(accountID)).
		Order(factor.ByCreatedAt(), factor.ByID()).Limit(maxFactors).All(s.signIns.system(ctx))
	if err != nil {
		return nil, fmt.Errorf("read the account's factors: %w", err)
	}
	return all, nil
}

// ofKind returns the factors of a kind.
func ofKind(all []*ent.Factor, kind factor.Kind) []*ent.Factor {
	return slices.DeleteFunc(slices.Clone(all), func(f *ent.Factor) bool { return f.Kind != kind })
}

// addFactor keeps a new factor in the transaction: the account's users show it, its companies' logs and the person are
// told, and a first factor brings recovery codes, which are returned.
func (s *Server) addFactor(ctx context.Context, tx *store.Tx, from audit.Origin, f *ent.FactorCreate, accountID string) (codes []string, err error) {
	if err := lockAccount(ctx, tx, accountID); err != nil {
		return nil, err
	}
	n, err := tx.Factor.Query().Where(factor.AccountID(accountID)).Count(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the factors: %w", err)
	}
	if n >= maxFactors {
		return nil, errTooMany
	}
	made, err := f.SetAccountID(accountID).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the factor: %w", err)
	}
	if n == 0 {
		if err := mirror(ctx, tx.Client, accountID, true); err != nil {
			return nil, err
		}
		if codes, err = renewCodes(ctx, tx, accountID); err != nil {
			return nil, err
		}
	}
	e := event{action: "factor.created", resource: "User", outcome: auditentry.OutcomeAllowed, changes: map[string]audit.Change{"factor": {To: made.Kind}}}
	if err := auditAll(ctx, tx, from, accountID, e); err != nil {
		return nil, err
	}
	return codes, s.tell(ctx, tx, accountID, FactorAdded)
}

// removeFactor takes a factor from its account in the transaction; with the last one go the recovery codes.
func (s *Server) removeFactor(ctx context.Context, tx *store.Tx, from audit.Origin, f *ent.Factor) error {
	n, err := tx.Factor.Delete().Where(factor.ID(f.ID), factor.AccountID(f.AccountID)).Exec(ctx)
	if err != nil || n == 0 {
		return err
	}
	left, err := tx.Factor.Query().Where(factor.AccountID(f.AccountID)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for other factors: %w", err)
	}
	if !left {
		if err := forgetFactors(ctx, tx.Client, f.AccountID); err != nil {
			return err
		}
	}
	e := event{action: "factor.deleted", resource: "User", outcome: auditentry.OutcomeAllowed, changes: map[string]audit.Change{"factor": {From: f.Kind}}}
	if err := auditAll(ctx, tx, from, f.AccountID, e); err != nil {
		return err
	}
	return s.tell(ctx, tx, f.AccountID, FactorRemoved)
}

// lockAccount makes changes of one account's factors come after one another.
func lockAccount(ctx context.Context, tx *store.Tx, accountID string) error {
	if _, err := store.Lock(tx, tx.Account.Query().Where(account.ID(accountID))).OnlyID(ctx); err != nil {
		return fmt.Errorf("lock the account: %w", err)
	}
	return nil
}

// forgetFactors leaves the account without second factors.
func forgetFactors(ctx context.Context, db *ent.Client, accountID string) error {
	if _, err := db.Factor.Delete().Where(factor.AccountID(accountID)).Exec(ctx); err != nil {
		return fmt.Errorf("delete the factors: %w", err)
	}
	if _, err := db.RecoveryCode.Delete().Where(recoverycode.AccountID(accountID)).Exec(ctx); err != nil {
		return fmt.Errorf("delete the recovery codes: %w", err)
	}
	return mirror(ctx, db, accountID, false)
}

// mirror shows at the account's active users whether it has a second factor.
func mirror(ctx context.Context, db *ent.Client, accountID string, enabled bool) error {
	err := db.User.Update().Where(user.AccountID(accountID), user.StatusEQ(user.StatusActive), user.MfaEnabledNEQ(enabled)).
		SetMfaEnabled(enabled).Exec(ctx)
	if err != nil {
		return fmt.Errorf("show the factors at the account's users: %w", err)
	}
	return nil
}

// tell tells the person by mail, when somebody does that.
func (s *Server) tell(ctx context.Context, tx *store.Tx, accountID, kind string) error {
	if s.notify == nil {
		return nil
	}
	return s.notify(ctx, tx, accountID, kind)
}
