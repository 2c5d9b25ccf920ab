package mfa

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/factor"
	"atrium/ent/recoverycode"
	"atrium/ent/user"
	"atrium/internal/platform/store"
)

// maxFactors bounds how many factors an account may have.
const maxFactors = 20

// ErrTooMany is returned by Add when the account already has maxFactors factors.
var ErrTooMany = errors.New("too many factors")

// Enrolled reports whether the account has a second factor.
func Enrolled(ctx context.Context, db *ent.Client, accountID string) (bool, error) {
	yes, err := db.Factor.Query().Where(factor.AccountID(accountID)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the account's factors: %w", err)
	}
	return yes, nil
}

// Factors returns the account's factors, the oldest first.
func Factors(ctx context.Context, db *ent.Client, accountID string) ([]*ent.Factor, error) {
	all, err := db.Factor.Query().Where(factor.AccountID(accountID)).Order(factor.ByCreatedAt(), factor.ByID()).Limit(maxFactors).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the account's factors: %w", err)
	}
	return all, nil
}

// OfKind returns the factors of a kind.
func OfKind(all []*ent.Factor, kind factor.Kind) []*ent.Factor {
	return slices.DeleteFunc(slices.Clone(all), func(f *ent.Factor) bool { return f.Kind != kind })
}

// Lock locks the account, so that changes to its factors run one after another.
func Lock(ctx context.Context, tx *store.Tx, accountID string) error {
	if _, err := store.Lock(tx, tx.Account.Query().Where(account.ID(accountID))).OnlyID(ctx); err != nil {
		return fmt.Errorf("lock the account: %w", err)
	}
	return nil
}

// Add stores a new factor in the transaction. The first factor of an account sets User.mfaEnabled and creates recovery codes,
// which are returned. Returns ErrTooMany.
func Add(ctx context.Context, tx *store.Tx, f *ent.FactorCreate, accountID string) (made *ent.Factor, codes []string, err error) {
	if err := Lock(ctx, tx, accountID); err != nil {
		return nil, nil, err
	}
	n, err := tx.Factor.Query().Where(factor.AccountID(accountID)).Count(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("count the factors: %w", err)
	}
	if n >= maxFactors {
		return nil, nil, ErrTooMany
	}
	if made, err = f.SetAccountID(accountID).Save(ctx); err != nil {
		return nil, nil, fmt.Errorf("keep the factor: %w", err)
	}
	if n == 0 {
		if err := mirror(ctx, tx.Client, accountID, true); err != nil {
			return nil, nil, err
		}
		if codes, err = RenewCodes(ctx, tx, accountID); err != nil {
			return nil, nil, err
		}
	}
	return made, codes, nil
}

// Remove deletes a factor in the transaction, and the recovery codes together with the last factor. Returns false when the
// factor no longer exists.
func Remove(ctx context.Context, tx *store.Tx, f *ent.Factor) (bool, error) {
	n, err := tx.Factor.Delete().Where(factor.ID(f.ID), factor.AccountID(f.AccountID)).Exec(ctx)
	if err != nil || n == 0 {
		return false, err
	}
	left, err := Enrolled(ctx, tx.Client, f.AccountID)
	if err != nil || left {
		return true, err
	}
	return true, Forget(ctx, tx.Client, f.AccountID)
}

// Forget deletes the account's second factors and recovery codes.
func Forget(ctx context.Context, db *ent.Client, accountID string) error {
	if _, err := db.Factor.Delete().Where(factor.AccountID(accountID)).Exec(ctx); err != nil {
		return fmt.Errorf("delete the factors: %w", err)
	}
	if _, err := db.RecoveryCode.Delete().Where(recoverycode.AccountID(accountID)).Exec(ctx); err != nil {
		return fmt.Errorf("delete the recovery codes: %w", err)
	}
	return mirror(ctx, db, accountID, false)
}

// mirror sets mfaEnabled of the account's active users.
func mirror(ctx context.Context, db *ent.Client, accountID string, enabled bool) error {
	err := db.User.Update().Where(user.AccountID(accountID), user.StatusEQ(user.StatusActive), user.MfaEnabledNEQ(enabled)).
		SetMfaEnabled(enabled).Exec(ctx)
	if err != nil {
		return fmt.Errorf("show the factors at the account's users: %w", err)
	}
	return nil
}
