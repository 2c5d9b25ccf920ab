package signin

import (
	"context"
	"fmt"

	"atrium/ent/factor"
)

// How a person proved who it is, as the claim amr names it (RFC 8176).
const (
	methodPassword = "pwd"
	methodOTP      = "otp"
	methodSMS      = "sms"
	methodKey      = "hwk"
	methodMFA      = "mfa"
)

// enrolled tells whether the account has a second factor.
func (s *SignIns) enrolled(ctx context.Context, accountID string) (bool, error) {
	yes, err := s.store.Reader().Factor.Query().Where(factor.AccountID(accountID)).Exist(s.system(ctx))
	if err != nil {
		return false, fmt.Errorf("look for the account's factors: %w", err)
	}
	return yes, nil
}
