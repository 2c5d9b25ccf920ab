package op

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/internal/platform/apperr"
)

// InUse returns the conflict of a row that is to be deleted while others use it, for a query that finds the others. conflict words
// it: with one of them that the caller sees, or with nil where the caller sees none, whose names stay hidden then.
func InUse[Row any, Q interface {
	Clone() Q
	First(ctx context.Context) (*Row, error)
}](ctx context.Context, tx *Tx, users Q, conflict func(user *Row) error) error {
	_, err := users.Clone().First(tx.Unfiltered(ctx, "rows that the caller does not see are users, too"))
	if ent.IsNotFound(err) {
		return nil
	}
	var user *Row
	if err == nil {
		user, err = users.First(ctx)
	}
	if err != nil && !ent.IsNotFound(err) {
		return fmt.Errorf("look for what uses the row: %w", err)
	}
	return conflict(user)
}

// Refs collects the faults of ids in an input.
type Refs struct {
	details []apperr.Detail
	err     error
}

// Check looks id up (nil is fine) and records a fault at field if the company has no such row; what is the row's
// noun.
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

// FindShared returns a look-up for Check that finds rows by find and holds them as they are until the transaction ends: who is about to
// deactivate, archive or delete one waits, and then sees the row that names it.
func FindShared[Q interface {
	ForShare(opts ...sql.LockOption) Q
	Exist(ctx context.Context) (bool, error)
}](ctx context.Context, tx *Tx, find func(id string) Q) func(id string) (bool, error) {
	return func(id string) (bool, error) { return Share(tx, find(id)).Exist(ctx) }
}

// Fault records a fault at field.
func (r *Refs) Fault(field, message string) {
	r.details = append(r.details, apperr.Detail{Field: field, Message: message})
}

// Refused records the faults that err lists (nil is fine). Err returns any other error.
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

// Also is Refused for faults that may have been found before: it leaves out those of fields that have one.
func (r *Refs) Also(err error) {
	if err == nil {
		return
	}
	known := r.details
	r.Refused(err)
	r.details = append(known, unnamed(known, r.details[len(known):])...)
}

// unnamed returns the faults of fields that known does not name.
func unnamed(known, more []apperr.Detail) []apperr.Detail {
	fields := make(map[string]bool, len(known))
	for _, d := range known {
		fields[d.Field] = true
	}
	return slices.DeleteFunc(slices.Clone(more), func(d apperr.Detail) bool { return fields[d.Field] })
}

// Details returns the faults that a validation error lists, and every other error as it is.
func Details(err error) ([]apperr.Detail, error) {
	if known, ok := errors.AsType[*apperr.Error](err); ok && known.Code == apperr.Validation && len(known.Details) > 0 {
		return known.Details, nil
	}
	return nil, err
}

// Err returns the faults as one validation error, or the error of a failed look-up; nil when there is neither.
func (r *Refs) Err() error {
	if r.err != nil {
		return r.err
	}
	if len(r.details) > 0 {
		return apperr.Invalid(r.details...)
	}
	return nil
}
