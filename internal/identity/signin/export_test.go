package signin

import (
	"context"

	"atrium/internal/identity/mfa"
	"atrium/internal/platform/store"
)

// SpendTwice lets two requests find the account's authenticator by the same code before either uses it up, and returns
// what each was told.
func (s *Server) SpendTwice(ctx context.Context, accountID, code string) (told [2]bool, err error) {
	var found [2]*mfa.UsedTOTP
	for i := range found {
		all, err := s.factors(ctx, accountID)
		if err != nil {
			return told, err
		}
		if found[i], err = mfa.FindTOTP(all, code, s.sealer, s.totpTimes()); err != nil || found[i] == nil {
			return told, err
		}
	}
	for i := range found {
		err := s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			told[i], err = found[i].Spend(ctx, tx, s.signIns.now())
			return err
		})
		if err != nil {
			return told, err
		}
	}
	return told, nil
}
