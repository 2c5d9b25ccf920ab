package signin

import (
	"context"
	"net/http"

	"atrium/internal/store"
)

// What tests of the package's outside look at.
var (
	AccountLimit = accountLimit
	DeviceLimit  = deviceLimit
	AddressLimit = addressLimit
)

// Limit is how many failures in a row are borne.
type Limit = limit

// Pause, After and Most show a limit.
func (l limit) Pause(failures int) int { return int(l.pause(failures).Seconds()) }

// After is the number of the failure that brings the first pause.
func (l limit) After() int { return l.after }

// AccountKey and AddressKey name counters.
func AccountKey(email string) string { return accountKey(email) }

// AddressKey names the counter of a request's address.
func AddressKey(r *http.Request) string { return addressKey(r) }

// SpendTwice lets two requests find the account's authenticator by the same code before either uses it up, and returns
// what each was told.
func (s *Server) SpendTwice(ctx context.Context, accountID, code string) (told [2]bool, err error) {
	var found [2]*usedTOTP
	for i := range found {
		all, err := s.factors(ctx, accountID)
		if err != nil {
			return told, err
		}
		if found[i], err = s.findTOTP(all, code); err != nil || found[i] == nil {
			return told, err
		}
	}
	for i := range found {
		err := s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			told[i], err = s.spendTOTP(ctx, tx, found[i])
			return err
		})
		if err != nil {
			return told, err
		}
	}
	return told, nil
}
