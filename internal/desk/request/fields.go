package request

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow"
)

// fieldsChecked is the result of checking values against an offering's form before the transaction.
type fieldsChecked struct {
	at     time.Time       // the offering's updatedAt
	raw    json.RawMessage // the values as the row stores them; nil for none
	faults []apperr.Detail
	files  []form.FileAnswer
}

// cheap is the Cost up to which values are checked without waiting for a turn: about a millisecond.
const cheap = 100_000

// prepareFields checks submitted values against the offering's form; without a form, any values within the size limits pass. An
// offering that does not exist yields no faults, because the operation reports it. Offerings' forms are cached, so this reads an
// offering only when it has changed. already holds the answers that the request has; nil when it is created. They may have faults, for
// the form may have changed since: those are ignored where the value stays, so who changes one answer need not correct the others.
func prepareFields(ctx context.Context, tx *op.Tx, offeringID string, values, already map[string]any, files form.FileLookup) (out fieldsChecked, err error) {
	c, err := formOf(ctx, tx, offeringID)
	if err != nil || c == nil {
		return out, err
	}
	out.at = c.at
	if out.raw, err = answers(values); err != nil {
		return out, err
	}
	if _, err := workflow.CalendarOf(ctx, tx.Client, c.calendar); err != nil { // compiles it here after a change, and not in the transaction
		return out, err
	}
	if c.form == nil {
		out.faults = form.ValidateWithoutForm(values)
		return out, nil
	}
	out.files = c.form.Files(values)
	check := func(ctx context.Context) error {
		// Callers may not name people whom they may not see.
		details, err := c.form.Validate(tx.Filtered(ctx), values, LookupsOf(tx, files))
		if err != nil {
			return fmt.Errorf("check the fields: %w", err)
		}
		if out.faults = details; len(details) == 0 || already == nil {
			return nil
		}
		before, err := c.form.Validate(tx.Filtered(ctx), already, LookupsOf(tx, files))
		if err != nil {
			return fmt.Errorf("check the fields as they are: %w", err)
		}
		out.faults = slices.DeleteFunc(details, func(d apperr.Detail) bool {
			key := strings.TrimPrefix(d.Field, "fields.")
			return slices.Contains(before, d) && reflect.DeepEqual(already[key], values[key]) || staysFile(key, values, already)
		})
		return nil
	}
	if c.form.Cost(values) > cheap {
		err = tx.Costly(ctx, check)
	} else {
		err = check(ctx)
	}
	return out, err
}

// staysFile reports whether a detail's place, such as photos[2], is that of a file which the answer has already.
func staysFile(place string, values, already map[string]any) bool {
	key, at, _ := strings.Cut(strings.TrimSuffix(place, "]"), "[")
	list, _ := values[key].([]any)
	kept, _ := already[key].([]any)
	i, err := strconv.Atoi(at)
	return err == nil && i < len(list) && slices.Index(list, list[i]) == i && slices.Contains(kept, list[i])
}

// FieldFaults returns the faults of values as the fields of a request for an offering, by its form as it is now; none for an
// offering that does not exist. It ignores faults that the answers of the request had already, as prepareFields does. Call it
// outside of transactions.
func FieldFaults(ctx context.Context, tx *op.Tx, offeringID string, values, already map[string]any, files form.FileLookup) ([]apperr.Detail, error) {
	off, err := tx.Offering.Get(tx.Unfiltered(ctx, "the form binds everybody, also those who do not see the offering"), offeringID)
	if err != nil {
		return nil, ent.MaskNotFound(err)
	}
	forgetOlder(off)
	c, err := prepareFields(ctx, tx, offeringID, values, already, files)
	return c.faults, err
}

// NewFieldFaults is FieldFaults for a request that is to be filed. What the form of an offering asks that the caller does not see is not told.
func NewFieldFaults(ctx context.Context, tx *op.Tx, offeringID string, values map[string]any, files form.FileLookup) ([]apperr.Detail, error) {
	if seen, err := tx.Offering.Query().Where(offering.ID(offeringID)).Exist(tx.Filtered(ctx)); err != nil || !seen {
		return nil, err
	}
	return FieldFaults(ctx, tx, offeringID, values, nil, files)
}

// check returns the faults that prepareFields found, or ErrOutdated if the offering has changed since.
func (c fieldsChecked) check(off *ent.Offering) error {
	switch {
	case !c.at.Equal(off.UpdatedAt):
		forgetOlder(off)
		return op.ErrOutdated
	case len(c.faults) > 0:
		return apperr.Invalid(c.faults...)
	}
	return nil
}

// answers encodes submitted values as the row stores them; nil for none.
func answers(values map[string]any) (json.RawMessage, error) {
	if len(values) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("write the fields: %w", err)
	}
	return raw, nil
}

// setAnswers replaces a request's answers in its update by those that were checked.
func (c fieldsChecked) setAnswers(u *ent.RequestUpdateOne) {
	if c.raw == nil {
		u.ClearFields()
		return
	}
	u.SetFields(c.raw)
}

// claim hands the drafts among the files of answers over to the request. already holds the answers that it has.
func (c fieldsChecked) claim(ctx context.Context, tx *op.Tx, requestID string, already map[string]any) error {
	return attachment.ClaimAnswers(ctx, tx, "fields", c.files, requestID, already)
}

// FilesOf returns the answers to questions for files, by the form of an offering; none for an offering without a form, or one that does
// not exist.
func FilesOf(ctx context.Context, tx *op.Tx, offeringID string, values map[string]any) ([]form.FileAnswer, error) {
	c, err := formOf(ctx, tx, offeringID)
	if err != nil || c == nil || c.form == nil {
		return nil, err
	}
	return c.form.Files(values), nil
}

// LookupsOf returns which users and teams the caller of a transaction sees, and what files there are, for answers to forms.
func LookupsOf(tx *op.Tx, files form.FileLookup) form.Lookups {
	return form.Lookups{
		Files: files,
		Users: func(ctx context.Context, ids []string) (map[string]bool, error) {
			return set(tx.User.Query().Where(user.IDIn(ids...)).IDs(ctx))
		},
		Teams: func(ctx context.Context, ids []string) (map[string]bool, error) {
			return set(tx.Team.Query().Where(team.IDIn(ids...)).IDs(ctx))
		},
	}
}

func set(ids []string, err error) (map[string]bool, error) {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}
