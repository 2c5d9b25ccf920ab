package op

import (
	"errors"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
)

// Egress returns what calls addresses that customers choose; nil where nobody is called.
func (tx *Tx) Egress() *egress.Client { return tx.engine.Egress }

// CheckURL returns validation_error, naming the field, if the egress guard would never call the address. An engine
// without a guard accepts only addresses on the public internet.
func (tx *Tx) CheckURL(field, url string) error {
	var err error
	if client := tx.engine.Egress; client != nil {
		err = client.CheckURL(url)
	} else {
		err = egress.NewGuard(nil).CheckURL(url)
	}
	if told, ok := errors.AsType[*egress.URLError](err); ok {
		return apperr.InvalidField(field, "%s", told.Message)
	}
	return err
}
