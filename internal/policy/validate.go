package policy

import (
	"context"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Validate returns the faults of a draft, and changes nothing.
var Validate = op.New("accesspolicy.validate", op.Spec{
	Resource: "AccessPolicy", Action: op.Read, AdminLayer: true,
	Summary: "Check a draft of an access policy",
}, validate)

// ValidateInput is the draft.
type ValidateInput struct {
	Draft
}

// Validity is the result for a draft.
type Validity struct {
	Valid   bool
	Details []apperr.Detail // one for each fault, named as when the policy is saved
}

func validate(ctx context.Context, tx *op.Tx, in ValidateInput) (Validity, error) {
	err := tx.Costly(ctx, func(ctx context.Context) error {
		_, err := in.compile(ctx, tx)
		return err
	})
	if err == nil {
		return Validity{Valid: true, Details: []apperr.Detail{}}, nil
	}
	if apperr.CodeOf(err) != apperr.Validation {
		return Validity{}, err
	}
	return Validity{Details: apperr.From(err).Details}, nil
}
