package mfa

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/recoverycode"
	"atrium/internal/platform/store"
)

// Recovery codes are four groups of four characters: 80 random bits, so a plain hash is enough.
const (
	recoveryCodes = 10
	RecoveryChars = 16 // of a code, without hyphens
)

// RenewCodes replaces the account's recovery codes and returns the new ones in the form that people read.
func RenewCodes(ctx context.Context, tx *store.Tx, accountID string) ([]string, error) {
	if _, err := tx.RecoveryCode.Delete().Where(recoverycode.AccountID(accountID)).Exec(ctx); err != nil {
		return nil, fmt.Errorf("delete the old recovery codes: %w", err)
	}
	codes := make([]string, recoveryCodes)
	for i := range codes {
		plain := rand.Text()[:RecoveryChars]
		if err := tx.RecoveryCode.Create().SetAccountID(accountID).SetHash(recoveryHash(accountID, plain)).Exec(ctx); err != nil {
			return nil, fmt.Errorf("keep a recovery code: %w", err)
		}
		codes[i] = plain[:4] + "-" + plain[4:8] + "-" + plain[8:12] + "-" + plain[12:]
	}
	return codes, nil
}

func recoveryHash(accountID, plain string) []byte {
	sum := sha256.Sum256([]byte(accountID + "/" + plain))
	return sum[:]
}

// SpendCode marks a recovery code as used and reports whether it was valid. Of two concurrent calls with the same code, one
// gets true.
func SpendCode(ctx context.Context, tx *store.Tx, accountID, code string, now time.Time) (bool, error) {
	plain := strings.ToUpper(code)
	if len(plain) != RecoveryChars {
		return false, nil
	}
	n, err := tx.RecoveryCode.Update().
		Where(recoverycode.AccountID(accountID), recoverycode.Hash(recoveryHash(accountID, plain)), recoverycode.UsedAtIsNil()).
		SetUsedAt(now).Save(ctx)
	if err != nil {
		return false, fmt.Errorf("use the recovery code up: %w", err)
	}
	return n == 1, nil
}

// CodesLeft counts the account's unused recovery codes.
func CodesLeft(ctx context.Context, db *ent.Client, accountID string) (int, error) {
	n, err := db.RecoveryCode.Query().
		Where(recoverycode.AccountID(accountID), recoverycode.UsedAtIsNil()).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the recovery codes: %w", err)
	}
	return n, nil
}
