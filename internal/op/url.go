package op

import (
	"errors"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
)

// CheckURL returns validation_error, naming the field, if the egress guard would never call the address. An engine
// without a guard accepts only addresses on the public internet.
func (tx *Tx) CheckURL(field, url string) error {
	guard := tx.engine.Egress
	if guard == nil {
		guard = egress.NewGuard(nil)
	}
	err := guard.CheckURL(url)
	if told, ok := errors.AsType[*egress.URLError](err); ok {
		return apperr.InvalidField(field, "%s", told.Message)
	}
	return err
}
