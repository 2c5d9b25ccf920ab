package op

import (
	"fmt"

	"atrium/internal/apperr"
)

// Refs gathers the faults of ids that an input names.
type Refs struct {
	details []apperr.Detail
	err     error
}

// Check looks id up (nil is fine) and notes a fault at field when it is no row of the company; what is its noun.
func (r *Refs) Check(field string, id *string, what string, exists func(string) (bool, error)) {
	if id == nil || r.err != nil {
		return
	}
	ok, err := exists(*id)
	switch {
	case err != nil:
		r.err = fmt.Errorf("look %s up: %w", field, err)
	case !ok:
		r.Fault(field, "is no "+what+" of this company")
	}
}

// Fault notes a fault at field.
func (r *Refs) Fault(field, message string) {
	r.details = append(r.details, apperr.Detail{Field: field, Message: message})
}

// Refused notes the faults that a refusal names; nil is fine. Any other error is what Err returns.
func (r *Refs) Refused(err error) {
	if err == nil {
		return
	}
	details := apperr.From(err).Details
	if len(details) == 0 && r.err == nil {
		r.err = err
	}
	r.details = append(r.details, details...)
}

// Err returns the faults as one validation error, or what went wrong while looking; nil when all is well.
func (r *Refs) Err() error {
	if r.err != nil {
		return r.err
	}
	if len(r.details) > 0 {
		return apperr.Invalid(r.details...)
	}
	return nil
}
